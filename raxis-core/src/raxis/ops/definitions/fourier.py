"""Discrete Fourier transforms, ``raxis.fft``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from math import prod as product_of
from math import sqrt
from typing import Any

from raxis.dtypes import HALF, Category, DType
from raxis.layout import wrap_dim
from raxis.ops.definitions.factory import CREATION_OPTIONS
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.reductions import scalar_type
from raxis.ops.definitions.sequences import arange
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import INTERNAL, Decorator, composed, created, lowered
from raxis.ops.trace import constant, emit
from raxis.placement import DeviceLike
from raxis.tensor import Tensor

FFT = "raxis.fft"
Norm = str | None
Dims = int | Sequence[int] | None


# ---- transforms with a factor ----------------------------------------------------------------------------------------


def _scaled(result: Any, scale: float) -> Any:
    if scale == 1:
        return result
    layout = result._layout
    return emit("mul", result, constant(scale, layout.dtype, layout.shape))


@lowered(
    "_fft(Tensor input, int[] dim, bool inverse, float scale) -> Tensor",
    composite=True,
    vjp={"input": lambda grad, dim, inverse, scale: transform(grad, dim, not inverse, scale)},
    **INTERNAL,
)
def transform(input: Tensor, dim: tuple[int, ...], inverse: bool, scale: float) -> Any:
    """`scale` times the transform of complex numbers along every dimension of `dim`."""
    result = input
    for axis in dim:
        result = emit("fft", result, dim=axis, inverse=inverse)
    return _scaled(result, scale)


def _half_vjp(grad: Tensor, input_layout: Any, dim: int, scale: float) -> Any:
    whole = _resized(grad, dim, input_layout.shape[dim])
    return transform(whole, (dim,), True, scale).real


@lowered(
    "_rfft(Tensor input, int dim, float scale) -> Tensor",
    composite=True,
    vjp={"input": _half_vjp},
    **INTERNAL,
)
def _half_transform(input: Tensor, dim: int, scale: float) -> Any:
    """`scale` times the first half of the transform of real numbers."""
    return _scaled(emit("rfft", input, dim=dim), scale)


def _mirrored_vjp(grad: Tensor, dim: int, size: int, scale: float) -> Any:
    half = _half_transform(grad, dim, scale)
    ends = arange(half.shape[dim], device=half.device)
    single = (ends == 0) | (2 * ends == size)
    twice = (2 - single.to(half.dtype.to_real())).reshape(-1, *[1] * (half.ndim - 1 - dim))
    return half * twice


@lowered(
    "_irfft(Tensor input, int dim, int size, float scale) -> Tensor",
    composite=True,
    vjp={"input": _mirrored_vjp},
    **INTERNAL,
)
def _mirrored_transform(input: Tensor, dim: int, size: int, scale: float) -> Any:
    """`scale` times the real inverse transform of what is half of a spectrum of `size` elements."""
    return _scaled(emit("irfft", input, dim=dim, size=size), scale)


# ---- arguments -------------------------------------------------------------------------------------------------------


def _ready(name: str, input: Tensor, wants_real: bool = False) -> Any:
    """The operand in the dtype of the transform."""
    dtype = input.dtype
    if wants_real and dtype.is_complex:
        raise RuntimeError(f"{name} expects a real input tensor, but got {scalar_type(dtype)}")
    if dtype in HALF:
        raise RuntimeError(f"Unsupported dtype {scalar_type(dtype)}")
    if dtype.category < Category.FLOAT:
        dtype = get_default_dtype()
    return input.to(dtype if wants_real else dtype.to_complex())


def _resized(input: Tensor, axis: int, size: int) -> Any:
    """The operand cut off, or filled up with zeros, to `size` elements along a dimension."""
    own = input.shape[axis]
    if size <= own:
        return input if size == own else input.narrow(axis, 0, size)
    return cat([input, input.new_zeros((*input.shape[:axis], size - own, *input.shape[axis + 1 :]))], axis)


def _require_points(size: int) -> int:
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return size


def _scale(norm: Norm, count: int, inverse: bool) -> float:
    if norm == "ortho":
        return 1 / sqrt(count)
    if norm not in (None, "forward", "backward"):
        raise RuntimeError(
            f"Invalid normalization mode: '{norm}'; expected 'forward', 'backward' or 'ortho'."
        )
    return 1 / count if (norm == "forward") != inverse else 1.0


def _axes_and_sizes(input: Tensor, s: Dims, dim: Dims) -> tuple[list[int], list[int]]:
    """The dimensions of a transform of several and their sizes, of which -1 means as they are."""
    sizes = [s] if isinstance(s, int) else s
    if dim is None:
        count = input.ndim if sizes is None else len(sizes)
        if count > input.ndim:
            raise RuntimeError(
                f"Got shape with {count} values but input tensor only has {input.ndim} dimensions."
            )
        axes = list(range(input.ndim - count, input.ndim))
    else:
        axes = [wrap_dim(axis, input.ndim) for axis in ([dim] if isinstance(dim, int) else dim)]
    if len(set(axes)) != len(axes):
        raise RuntimeError("FFT dims must be unique")
    if sizes is None:
        return axes, [input.shape[axis] for axis in axes]
    if len(sizes) != len(axes):
        raise RuntimeError(
            f"When given, dim and shape arguments must have the same length, but got {len(axes)} and {len(sizes)}."
        )
    own = [input.shape[axis] if size == -1 else size for axis, size in zip(axes, sizes, strict=True)]
    return axes, own


def _one(input: Tensor, n: int | None, dim: int) -> tuple[int, int]:
    axis = wrap_dim(dim, input.ndim)
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return axis, _require_points(input.shape[axis] if n is None else n)


# ---- what all transforms are made of ---------------------------------------------------------------------------------


def _complex_transform(
    input: Tensor, axes: Sequence[int], sizes: Sequence[int], norm: Norm, inverse: bool
) -> Any:
    for axis, size in zip(axes, sizes, strict=True):
        input = _resized(input, axis, _require_points(size))
    scale = _scale(norm, product_of(sizes), inverse)
    return transform(input, tuple(axes), inverse, scale) if axes else input


def _from_real(input: Tensor, axis: int, size: int, norm: Norm, inverse: bool) -> Any:
    """Half of a spectrum; of the inverse transform, if asked."""
    half = _half_transform(_resized(input, axis, size), axis, _scale(norm, size, inverse))
    return half.conj() if inverse else half


def _to_real(input: Tensor, axis: int, size: int, norm: Norm, inverse: bool) -> Any:
    """Real numbers from half of their spectrum; or, not `inverse`, the real spectrum of half a signal."""
    half = _resized(input, axis, size // 2 + 1)
    return _mirrored_transform(half if inverse else half.conj(), axis, size, _scale(norm, size, inverse))


def _doubled(input: Tensor, axis: int) -> int:
    return _require_points(2 * (input.shape[axis] - 1))


_REAL = ("irfft", "hfft")
"""Transforms to real numbers."""


def _is_complex(out: Tensor) -> bool:
    return out.dtype.is_complex


# ---- one dimension ---------------------------------------------------------------------------------------------------


def _along(name: str) -> Decorator:
    return composed(
        f"{name}(Tensor input, int? n=None, int dim=-1, str? norm=None) -> Tensor",
        exact=_is_complex if name.startswith(_REAL) else False,
        namespace=FFT,
        method=False,
    )


@_along("fft")
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Any:
    """The discrete Fourier transform along `dim`.

    Args:
        input: any shape; integers become floating point, real numbers complex.
        n: `input` is cut off or filled up with zeros to this size.
        dim: dimension.
        norm: ``'backward'`` (default: no factor), ``'ortho'`` (1/sqrt(n)) or ``'forward'`` (1/n).

    Raises:
        RuntimeError: for half precision, fewer than one element or another norm.
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.fft.fft(raxis.tensor([1.0, 0.0]))
        tensor([1.+0.j, 1.+0.j])
    """
    axis, size = _one(input, n, dim)
    return _complex_transform(_ready("fft", input), [axis], [size], norm, False)


@_along("ifft")
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Any:
    """The inverse discrete Fourier transform along `dim`.

    Args: as `fft`; the factor is 1/n for norm ``'backward'`` and 1 for ``'forward'``.

    Raises: as `fft`.

    Example:
        >>> import raxis
        >>> raxis.fft.ifft(raxis.tensor([2.0, 0.0]))
        tensor([1.+0.j, 1.+0.j])
    """
    axis, size = _one(input, n, dim)
    return _complex_transform(_ready("ifft", input), [axis], [size], norm, True)


@_along("rfft")
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Any:
    """The first n // 2 + 1 elements of the transform of real numbers, which the others mirror.

    Args: as `fft`, but `input` is real.

    Raises: as `fft`; RuntimeError: if `input` is complex.

    Example:
        >>> import raxis
        >>> raxis.fft.rfft(raxis.tensor([1.0, 0.0, 0.0])).shape
        raxis.Size([2])
    """
    axis, size = _one(input, n, dim)
    return _from_real(_ready("rfft", input, wants_real=True), axis, size, norm, False)


@_along("irfft")
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Any:
    """The real numbers whose `rfft` is `input`.

    Args:
        input: half of a spectrum.
        n: the size of the result; default 2 (m - 1) for m elements.
        dim: dimension.
        norm: as for `ifft`.

    Raises: as `fft`.

    Example:
        >>> import raxis
        >>> raxis.fft.irfft(raxis.tensor([2.0, 0.0]))
        tensor([1., 1.])
    """
    return _real_result("irfft", input, n, dim, norm, True)


def _real_result(name: str, input: Tensor, n: int | None, dim: int, norm: Norm, inverse: bool) -> Any:
    axis, _ = _one(input, 1, dim)
    size = _doubled(input, axis) if n is None else _require_points(n)
    return _to_real(_ready(name, input), axis, size, norm, inverse)


@_along("hfft")
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Any:
    """The real transform of a Hermitian signal of which `input` is one half.

    Args: as `irfft`; `norm` as for `fft`.

    Raises: as `fft`.

    Example:
        >>> import raxis
        >>> raxis.fft.hfft(raxis.tensor([1.0, 0.0]))
        tensor([1., 1.])
    """
    return _real_result("hfft", input, n, dim, norm, False)


@_along("ihfft")
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: Norm = None) -> Any:
    """The inverse of `hfft`: half of the inverse transform of real numbers.

    Args: as `rfft`; `norm` as for `ifft`.

    Raises: as `rfft`.

    Example:
        >>> import raxis
        >>> raxis.fft.ihfft(raxis.tensor([1.0, 1.0])).real
        tensor([1., 0.])
    """
    axis, size = _one(input, n, dim)
    return _from_real(_ready("ihfft", input, wants_real=True), axis, size, norm, True)


# ---- several dimensions ----------------------------------------------------------------------------------------------


def _fftn(name: str, input: Tensor, s: Dims, dim: Dims, norm: Norm, inverse: bool) -> Any:
    axes, sizes = _axes_and_sizes(input, s, dim)
    return _complex_transform(_ready(name, input), axes, sizes, norm, inverse)


def _rfftn(name: str, input: Tensor, s: Dims, dim: Dims, norm: Norm, inverse: bool) -> Any:
    axes, sizes = _axes_and_sizes(input, s, dim)
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")
    real = _ready(name, input, wants_real=True)
    half = _from_real(real, axes[-1], _require_points(sizes[-1]), norm, inverse)
    return _complex_transform(half, axes[:-1], sizes[:-1], norm, inverse)


def _irfftn(name: str, input: Tensor, s: Dims, dim: Dims, norm: Norm, inverse: bool) -> Any:
    axes, sizes = _axes_and_sizes(input, s, dim)
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")
    last = [s] if isinstance(s, int) else s
    size = _doubled(input, axes[-1]) if last is None or last[-1] == -1 else _require_points(sizes[-1])
    others = _complex_transform(_ready(name, input), axes[:-1], sizes[:-1], norm, inverse)
    return _to_real(others, axes[-1], size, norm, inverse)


_MANY = {"fftn": (_fftn, False), "ifftn": (_fftn, True), "rfftn": (_rfftn, False), "irfftn": (_irfftn, True),
         "hfftn": (_irfftn, False), "ihfftn": (_rfftn, True)}  # fmt: skip

_DOCS = {
    "fft": "The discrete Fourier transform",
    "ifft": "The inverse discrete Fourier transform",
    "rfft": "The discrete Fourier transform of real numbers, half of the last dimension,",
    "irfft": "The real numbers whose `rfftn` is `input`, transformed",
    "hfft": "The real transform of a Hermitian signal, of which `input` has half of the last dimension,",
    "ihfft": "The inverse of `hfftn`, half of the last dimension,",
}


def _publish(base: str, suffix: str) -> None:
    run, inverse = _MANY[f"{base}n"]
    name = base + suffix
    default: Dims = (-2, -1) if suffix == "2" else None

    def body(input: Tensor, s: Dims = None, dim: Dims = default, norm: Norm = None) -> Any:
        return run(name, input, s, dim, norm, inverse)

    body.__doc__ = _doc(base, suffix)
    declared = "int[] dim=(-2,-1)" if suffix == "2" else "int[]? dim=None"
    composed(
        f"{name}(Tensor input, int[]? s=None, {declared}, str? norm=None) -> Tensor",
        exact=_is_complex if name.startswith(_REAL) else False,
        namespace=FFT,
        method=False,
    )(body)


def _doc(base: str, suffix: str) -> str:
    where = "along two dimensions" if suffix == "2" else "along several dimensions"
    which = "the last two" if suffix == "2" else "all, or as many of the last as `s` has entries"
    return f"""{_DOCS[base]} {where}.

    Args:
        input: as for `{base}`.
        s: sizes to which the dimensions are cut off or filled up with zeros; -1 keeps one.
        dim: dimensions; default: {which}.
        norm: as for `{base}`, the factor being that of all dimensions together.

    Raises:
        RuntimeError: for half precision, repeated dimensions, or sizes that do not fit.

    Example:
        >>> import raxis
        >>> raxis.fft.{base}{suffix}(raxis.ones(4, 4)).ndim
        2
    """


for _base in _DOCS:
    for _suffix in ("2", "n"):
        _publish(_base, _suffix)


# ---- order and frequencies -------------------------------------------------------------------------------------------


def _rolled(input: Tensor, dim: Dims, inverse: bool) -> Any:
    axes = list(range(input.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    shifts = [
        -(input.shape[axis] // 2) if inverse else input.shape[axis] // 2
        for axis in (wrap_dim(axis, input.ndim) for axis in axes)
    ]
    return input.roll(tuple(shifts), tuple(axes)) if axes else input.clone()


@composed("fftshift(Tensor input, int[]? dim=None) -> Tensor", namespace=FFT, method=False, out=False)
def fftshift(input: Tensor, dim: Dims = None) -> Any:
    """Reorders so that frequency 0 is in the middle.

    Args:
        input: any shape.
        dim: dimensions; default all.

    Example:
        >>> import raxis
        >>> raxis.fft.fftshift(raxis.tensor([0, 1, -2, -1]))
        tensor([-2, -1,  0,  1])
    """
    return _rolled(input, dim, False)


@composed("ifftshift(Tensor input, int[]? dim=None) -> Tensor", namespace=FFT, method=False, out=False)
def ifftshift(input: Tensor, dim: Dims = None) -> Any:
    """The inverse of `fftshift`.

    Args:
        input: any shape.
        dim: dimensions; default all.

    Example:
        >>> import raxis
        >>> raxis.fft.ifftshift(raxis.tensor([-2, -1, 0, 1]))
        tensor([ 0,  1, -2, -1])
    """
    return _rolled(input, dim, True)


_FREQUENCIES = f"(int n, float d=1.0, *, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor"


def _frequencies(first: int, end: int, unit: float, dtype: DType | None, device: DeviceLike | None) -> Tensor:
    """The integers from `first` to before `end`, those before 0 last, times `unit`."""
    numbers = arange(first, end, dtype=dtype or get_default_dtype(), device=device)
    return (numbers.roll(first, 0) if first else numbers) * unit


@created("fftfreq" + _FREQUENCIES, namespace=FFT, method=False)
def fftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """The frequencies of the elements of `fft`'s result: 0, 1, ..., -2, -1 over ``n * d``.

    Args:
        n: number of elements.
        d: distance of samples.
        dtype: default: the default float dtype.

    Example:
        >>> import raxis
        >>> raxis.fft.fftfreq(4)
        tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return partial(_frequencies, -(n // 2), (n + 1) // 2, _step(n, d), dtype, device)


def _step(n: int, d: float) -> float:
    return 1 / (n * d) if n * d else math.inf


@created("rfftfreq" + _FREQUENCIES, namespace=FFT, method=False)
def rfftfreq(
    n: int, d: float = 1.0, *, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """The frequencies of the elements of `rfft`'s result: 0, 1, ..., n // 2 over ``n * d``.

    Args: as `fftfreq`.

    Example:
        >>> import raxis
        >>> raxis.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """
    return partial(_frequencies, 0, n // 2 + 1, _step(n, d), dtype, device)
