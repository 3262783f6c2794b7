"""Complex numbers: parts, conjugate, angle, and building them."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.layout import Layout
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.elementwise import computed, unary
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, lowered, viewed
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor


@lowered(
    "_conj_physical(Tensor input) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    method=False,
    function=False,
    vjp={"input": lambda grad: conj(grad)},
)
def _conj_physical(input: Tensor) -> Any:
    """The conjugate of complex numbers, in new memory."""
    return emit("conj", input)


def _conjugate(input: Tensor) -> Tensor:
    return _conj_physical(input) if input.dtype.is_complex else input


@composed("conj(Tensor input) -> Tensor", out=False)
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; real tensors themselves.

    Example:
        >>> import raxis
        >>> raxis.conj(raxis.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    return _conjugate(input)


@composed("conj_physical(Tensor input) -> Tensor", inplace=True)
def conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate; same as `conj`, which never is lazy here.

    Example:
        >>> import raxis
        >>> raxis.conj_physical(raxis.tensor([1 + 2j]))
        tensor([1.-2.j])
    """
    return _conjugate(input)


@composed("resolve_conj(Tensor input) -> Tensor", out=False)
def resolve_conj(input: Tensor) -> Tensor:
    """`input` itself: conjugates are never lazy here.

    Example:
        >>> import raxis
        >>> raxis.resolve_conj(raxis.tensor([1]))
        tensor([1])
    """
    return input


@composed("resolve_neg(Tensor input) -> Tensor", out=False)
def resolve_neg(input: Tensor) -> Tensor:
    """`input` itself: negation is never lazy here.

    Example:
        >>> import raxis
        >>> raxis.resolve_neg(raxis.tensor([1]))
        tensor([1])
    """
    return input


def _angle(input: Tensor) -> Any:
    if input.dtype.is_complex:
        return emit("atan2", emit("imag", input), emit("real", input))
    half_turn = constant(math.pi, input.dtype, input.shape)
    return where(input.isnan(), input, where(input < 0, half_turn, 0))


def _angle_gradient(grad: Tensor, input: Tensor) -> Tensor:
    if not input.dtype.is_complex:
        return grad * 0
    magnitude = input.abs()
    slope = grad * (input / magnitude / magnitude) * 1j
    return where(magnitude == 0, 0, slope)


angle = computed(
    "angle(Tensor input) -> Tensor",
    unary(
        "angle",
        "The angle of complex numbers in radians; pi for negative reals.",
        "[1.0, -1.0]",
        "[0.0000, 3.1416]",
    ),
    _angle,
    inplace=False,
    vjp={"input": _angle_gradient},
)


def _check_parts(real: Tensor, imag: Tensor) -> None:
    if real.dtype is not imag.dtype:
        raise RuntimeError(f"Expected parts of one dtype, but got {real.dtype} and {imag.dtype}.")
    if not real.dtype.is_floating_point or real.dtype is dtypes.bfloat16:
        raise RuntimeError(f"Expected parts of dtype float32 or float64, but got {real.dtype}.")


@lowered(
    "complex(Tensor real, Tensor imag) -> Tensor",
    exact=True,
    promotion=Promotion.ARITHMETIC,
    method=False,
    check=_check_parts,
    vjp={"real": lambda grad: grad.real, "imag": lambda grad: grad.imag},
)
def complex(real: Tensor, imag: Tensor) -> Any:
    """Complex numbers from their parts.

    Args:
        real: float32 or float64, any shape.
        imag: same dtype; shapes must broadcast.

    Raises:
        RuntimeError: if the dtypes differ or are not float.

    Example:
        >>> import raxis
        >>> raxis.complex(raxis.tensor([1.0]), raxis.tensor([2.0]))
        tensor([1.+2.j])
    """
    return emit("make_complex", real, imag)


@lowered(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    exact=True,
    method=False,
    check=lambda abs, angle: _check_parts(abs, angle),
    vjp={
        "abs": lambda grad, angle: grad.real * angle.cos() + grad.imag * angle.sin(),
        "angle": lambda grad, abs, angle: abs * (grad.imag * angle.cos() - grad.real * angle.sin()),
    },
)
def polar(abs: Tensor, angle: Tensor) -> Any:
    """Complex numbers from magnitude and angle.

    Args:
        abs: float32 or float64, any shape.
        angle: in radians; same dtype, shapes must broadcast.

    Raises:
        RuntimeError: if the dtypes differ or are not float.

    Example:
        >>> import raxis
        >>> raxis.polar(raxis.tensor([2.0]), raxis.tensor([0.0]))
        tensor([2.+0.j])
    """
    return emit("make_complex", abs * angle.cos(), abs * angle.sin())


# ---- views of the parts --------------------------------------------------------------------------------


def _doubled(strides: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(2 * stride for stride in strides)


def _part(name: str, step: int) -> Any:
    def body(layout: Layout) -> Any:
        return layout.shape, _doubled(layout.strides), step, layout.dtype.to_real()

    body.__doc__ = f"The {'real' if step == 0 else 'imaginary'} part of complex numbers, as a view."
    return viewed(
        f"_{name}(Tensor input) -> Tensor",
        lower=lambda input: emit(name, input),
        vjp={"input": _PART_GRADIENTS[name]},
        method=False,
        function=False,
    )(body)


_PART_GRADIENTS = {
    "real": lambda grad: complex(grad, zeros_like(grad)),
    "imag": lambda grad: complex(zeros_like(grad), grad),
}
_real = _part("real", 0)
_imag = _part("imag", 1)


@composed("real(Tensor input) -> Tensor", out=False, attribute=True)
def real(input: Tensor) -> Tensor:
    """The real part, as a view; real tensors themselves.

    Example:
        >>> import raxis
        >>> raxis.real(raxis.tensor([1 + 2j]))
        tensor([1.])
    """
    return _real(input) if input.dtype.is_complex else input


@composed("imag(Tensor input) -> Tensor", out=False, attribute=True)
def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view.

    Raises:
        RuntimeError: if the tensor is real.

    Example:
        >>> import raxis
        >>> raxis.imag(raxis.tensor([1 + 2j]))
        tensor([2.])
    """
    if not input.dtype.is_complex:
        raise RuntimeError(
            f"imag is not implemented for tensors with non-complex dtypes, but got {input.dtype}."
        )
    return _imag(input)


def _lower_view_as_real(input: Tensor) -> Any:
    shape = (*input.shape, 1)
    parts = [emit("reshape", emit(part, input), shape=shape) for part in ("real", "imag")]
    return emit("concatenate", *parts, dim=len(shape) - 1)


@viewed(
    "view_as_real(Tensor input) -> Tensor",
    lower=_lower_view_as_real,
    vjp={"input": lambda grad: view_as_complex(grad.contiguous())},
    method=False,
)
def view_as_real(layout: Layout) -> Any:
    """A real view of a complex tensor, with a last dimension of size 2 for the parts.

    Raises:
        RuntimeError: if the tensor is real.

    Example:
        >>> import raxis
        >>> raxis.view_as_real(raxis.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """
    if not layout.dtype.is_complex:
        raise RuntimeError(f"view_as_real is only supported for complex tensors, but got {layout.dtype}.")
    return (*layout.shape, 2), (*_doubled(layout.strides), 1), 0, layout.dtype.to_real()


def _lower_view_as_complex(input: Tensor) -> Any:
    shape = tuple(input.shape)
    last = len(shape) - 1
    parts = []
    for index in (0, 1):
        start = (0,) * last + (index,)
        stop = (*shape[:-1], index + 1)
        piece = emit("slice", input, start=start, stop=stop, step=(1,) * len(shape))
        parts.append(emit("reshape", piece, shape=shape[:-1]))
    return emit("make_complex", *parts)


@viewed(
    "view_as_complex(Tensor input) -> Tensor",
    lower=_lower_view_as_complex,
    vjp={"input": lambda grad: view_as_real(grad)},
    method=False,
)
def view_as_complex(layout: Layout) -> Any:
    """A complex view of a real tensor whose last dimension has size 2.

    Args:
        input: float32 or float64, shape (..., 2), last stride 1, other strides and offset even.

    Raises:
        RuntimeError: if dtype, shape or strides do not fit.

    Example:
        >>> import raxis
        >>> raxis.view_as_complex(raxis.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """
    if layout.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"view_as_complex takes float32 and float64 tensors, but got {layout.dtype}.")
    if not layout.shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if layout.shape[-1] != 2:
        raise RuntimeError(
            f"Tensor must have a last dimension of size 2, but its shape is {list(layout.shape)}."
        )
    if layout.strides[-1] != 1 or any(stride % 2 for stride in layout.strides[:-1]):
        raise RuntimeError(
            f"Tensor must have last stride 1 and other strides divisible by 2, but got {layout.strides}."
        )
    strides = tuple(stride // 2 for stride in layout.strides[:-1])
    return layout.shape[:-1], strides, 0, layout.dtype.to_complex()
