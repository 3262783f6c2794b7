"""Greatest and smallest elements, and where they are."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import DType
from raxis.layout import Layout, wrap_dim, wrap_dims
from raxis.ops.definitions.comparison import maximum, minimum
from raxis.ops.definitions.reductions import (
    Dims,
    check_reducible,
    keep_dims,
    kept_shape,
    reduce,
    restore_dims,
    scalar_type,
)
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor


def require_ordered(name: str, dtype: DType, *refused: DType) -> None:
    """Raise NotImplementedError for complex dtypes and those in `refused`."""
    if dtype.is_complex or dtype in refused:
        raise NotImplementedError(f'"{name}" not implemented for {scalar_type(dtype)!r}')


def require_elements(name: str, layout: Layout, dim: Dims, error: type[Exception] = RuntimeError) -> None:
    """Raise if the reduction would be over no elements."""
    if dim is None or dim == ():
        if layout.numel == 0:
            raise error(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the reduction dim with the 'dim' argument."
            )
        return
    for axis in wrap_dims(dim, layout.ndim):
        if layout.shape[axis] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")


def spread(grad: Tensor, indices: Tensor, layout: Layout, dim: int, keepdim: bool) -> Any:
    """The gradient of selecting one element along `dim`: `grad` at `indices`, zero elsewhere."""
    if layout.ndim == 0:
        return grad
    grad, indices = keep_dims(grad, layout, dim, keepdim), keep_dims(indices, layout, dim, keepdim)
    return scatter_along(grad, indices, wrap_dim(dim, layout.ndim), layout.shape[wrap_dim(dim, layout.ndim)])


@lowered(
    "_scatter_along(Tensor input, Tensor index, int dim, int size, bool repeated=False) -> Tensor",
    vjp={"input": lambda grad, index, dim: grad.gather(dim, index)},
    method=False,
    function=False,
    out=False,
)
def scatter_along(input: Tensor, index: Tensor, dim: int, size: int, repeated: bool) -> Any:
    """Zeros of `size` along `dim`, with `input` at `index`; `repeated` indices add up."""
    shape = (*input.shape[:dim], size, *input.shape[dim + 1 :])
    zeros = constant(0, input.dtype, shape)
    return emit("scatter", zeros, index, input, dim=dim, reduce="add" if repeated else "set")


def shared_evenly(grad: Tensor, input: Tensor, result: Tensor, dim: Dims, keepdim: bool) -> Any:
    """The gradient of an extremum over several elements: equal shares for all that attain it."""
    layout = input._layout
    extremum = restore_dims(result, layout, dim, keepdim)
    attains = (input == extremum) | ((input != input) & (extremum != extremum))  # noqa: PLR0124  NaN
    shares = attains.to(grad.dtype)
    return restore_dims(grad, layout, dim, keepdim) * (shares / shares.sum(dim, True))


# ---- over several dimensions -----------------------------------------------------------------------------------------


@lowered("amax(Tensor input, int[] dim=(), bool keepdim=False) -> Tensor", vjp={"input": shared_evenly})
def amax(input: Tensor, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The greatest element over `dim`, or of all; NaN if any is NaN.

    The gradient is shared evenly between the elements that attain it.

    Args:
        input: any shape, real or bool.
        dim: dimension or dimensions; empty: all.
        keepdim: keep these dimensions with size 1.

    Raises:
        RuntimeError: if there are no elements.
        IndexError: if a reduced dimension has size 0.

    Example:
        >>> import raxis
        >>> raxis.amax(raxis.tensor([[1, 5], [4, 2]]), dim=1)
        tensor([5, 4])
    """
    require_ordered("amax", input.dtype)
    require_elements("amax", input._layout, dim)
    return reduce("reduce_max", input, dim, keepdim)


@lowered("amin(Tensor input, int[] dim=(), bool keepdim=False) -> Tensor", vjp={"input": shared_evenly})
def amin(input: Tensor, dim: tuple[int, ...], keepdim: bool) -> Any:
    """The smallest element over `dim`, or of all; NaN if any is NaN.

    The gradient is shared evenly between the elements that attain it.

    Args: as `amax`.

    Raises: as `amax`.

    Example:
        >>> import raxis
        >>> raxis.amin(raxis.tensor([[1, 5], [4, 2]]), dim=1)
        tensor([1, 2])
    """
    require_ordered("amin", input.dtype)
    require_elements("amin", input._layout, dim)
    return reduce("reduce_min", input, dim, keepdim)


def _aminmax_vjp(grads: Any, input: Tensor, results: Any, dim: int | None, keepdim: bool) -> Any:
    dims = () if dim is None else dim
    parts = [
        shared_evenly(grad, input, result, dims, keepdim)
        for grad, result in zip(grads, results, strict=True)
        if grad is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@lowered(
    "aminmax(Tensor input, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    vjp={"input": _aminmax_vjp},
)
def aminmax(input: Tensor, dim: int | None, keepdim: bool) -> Any:
    """The smallest and the greatest element along `dim`, or of all: `amin` and `amax` as a named tuple.

    Args:
        input: any shape, real or bool.
        dim: dimension; None: all.
        keepdim: keep the dimension with size 1.

    Raises:
        RuntimeError: if there are no elements.
        IndexError: if the dimension has size 0.

    Example:
        >>> import raxis
        >>> raxis.aminmax(raxis.tensor([3, 1, 2])).max
        tensor(3)
    """
    require_ordered("aminmax", input.dtype)
    if dim is None and input._layout.numel == 0:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    require_elements("aminmax", input._layout, dim)
    return reduce("reduce_min", input, dim, keepdim), reduce("reduce_max", input, dim, keepdim)


# ---- along one dimension ---------------------------------------------------------------------------------------------


def _along(kind: str, input: Tensor, dim: int, keepdim: bool) -> tuple[Any, Any]:
    require_ordered(kind, input.dtype)
    require_elements(kind, input._layout, dim)
    if input.ndim == 0:
        return input, constant(0, dtypes.int64)
    return reduce(f"reduce_{kind}", input, dim, keepdim), _position(f"arg{kind}", input, dim, keepdim)


def _position(primitive: str, input: Tensor, dim: int, keepdim: bool) -> Any:
    check_reducible(input._layout)
    axis = wrap_dim(dim, input.ndim)
    operand = cast(input, dtypes.uint8) if input.dtype is dtypes.bool_ else input
    found = emit(primitive, operand, dim=axis)
    return emit("reshape", found, shape=kept_shape(input._layout.shape, (axis,))) if keepdim else found


def selection_vjp(grad: Tensor, results: Any, input_layout: Layout, dim: int, keepdim: bool) -> Any:
    """The gradient of ops that give one element along `dim` and its index."""
    return spread(grad, results[1], input_layout, dim, keepdim)


@lowered(
    "_max_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    vjp={"input": selection_vjp},
    method=False,
    function=False,
)
def _max_dim(input: Tensor, dim: int, keepdim: bool) -> Any:
    """Greatest elements along `dim` and where they first are."""
    return _along("max", input, dim, keepdim)


@lowered(
    "_min_dim(Tensor input, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    vjp={"input": selection_vjp},
    method=False,
    function=False,
)
def _min_dim(input: Tensor, dim: int, keepdim: bool) -> Any:
    """Smallest elements along `dim` and where they first are."""
    return _along("min", input, dim, keepdim)


def _stored(name: str, result: Tensor, out: Tensor | None) -> Tensor:
    """The one extremum of all elements, which ``out=`` may have in another dtype."""
    if out is None:
        return result
    from raxis.ops.destination import store_results

    stored: Tensor = store_results(name, result, out)
    return stored


@composed("max(Tensor input, any dim=None, bool keepdim=False, *, Tensor? other=None) -> Tensor", out=False)
def max(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None, out: Any = None
) -> Any:
    """The greatest element: of all, along `dim` with its index, or of two tensors element by element.

    ``max(input)`` gives a 0-d tensor, ``max(input, dim, keepdim)`` the named tuple (values, indices) with the
    first index of the greatest element (of NaN if there is one), ``max(input, other)`` is `maximum`.

    Args:
        input: any shape, real or bool.
        dim: dimension, or the other tensor.
        keepdim: keep the dimension with size 1.
        other: tensor to compare with.

    Raises:
        RuntimeError: if there are no elements.
        IndexError: if `dim` is out of range or has size 0.

    Example:
        >>> import raxis
        >>> raxis.max(raxis.tensor([[1, 5], [4, 2]]), dim=1).indices
        tensor([1, 0])
    """
    if isinstance(dim, int):
        return _max_dim(input, dim, keepdim, out=out)
    second = _second_operand("max", input, dim, other)
    if second is not None:
        return maximum(input, second, out=out)
    require_elements("max", input._layout, None)
    return _stored("max", amax(input), out)


@composed("min(Tensor input, any dim=None, bool keepdim=False, *, Tensor? other=None) -> Tensor", out=False)
def min(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Tensor | None = None, out: Any = None
) -> Any:
    """The smallest element: of all, along `dim` with its index, or of two tensors element by element.

    ``min(input)`` gives a 0-d tensor, ``min(input, dim, keepdim)`` the named tuple (values, indices) with the
    first index of the smallest element (of NaN if there is one), ``min(input, other)`` is `minimum`.

    Args: as `max`.

    Raises: as `max`.

    Example:
        >>> import raxis
        >>> raxis.min(raxis.tensor([[1, 5], [4, 2]]), dim=1).values
        tensor([1, 2])
    """
    if isinstance(dim, int):
        return _min_dim(input, dim, keepdim, out=out)
    second = _second_operand("min", input, dim, other)
    if second is not None:
        return minimum(input, second, out=out)
    require_elements("min", input._layout, None)
    return _stored("min", amin(input), out)


def _second_operand(name: str, input: Tensor, dim: Any, other: Tensor | None) -> Tensor | None:
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if dim is None:
        return other
    if isinstance(dim, Tensor):
        return dim
    raise TypeError(f"{name}(): argument 'dim' (position 2) must be int or Tensor, not {type(dim).__name__}")


def _arg(primitive: str, input: Tensor, dim: int | None, keepdim: bool) -> Any:
    if input.dtype.is_complex or input.dtype is dtypes.bool_:
        raise RuntimeError(
            f"{primitive}(): does not support {'complex' if input.dtype.is_complex else 'bool'} input"
        )
    require_elements(primitive, input._layout, dim, IndexError)
    if input.ndim == 0:
        return constant(0, dtypes.int64)
    if dim is not None:
        return _position(primitive, input, dim, keepdim)
    found = emit(primitive, emit("reshape", input, shape=(input._layout.numel,)), dim=0)
    return emit("reshape", found, shape=(1,) * input.ndim) if keepdim else found


@lowered("argmax(Tensor input, int? dim=None, bool keepdim=False) -> Tensor")
def argmax(input: Tensor, dim: int | None, keepdim: bool) -> Any:
    """The int64 index of the first greatest element along `dim`, or in row-major order; of the first NaN if any.

    Args:
        input: any shape, real.
        dim: dimension; None: the index into the flattened tensor.
        keepdim: keep the dimension with size 1.

    Raises:
        IndexError: if there are no elements, or `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.argmax(raxis.tensor([[1, 5], [4, 2]]))
        tensor(1)
    """
    return _arg("argmax", input, dim, keepdim)


@lowered("argmin(Tensor input, int? dim=None, bool keepdim=False) -> Tensor")
def argmin(input: Tensor, dim: int | None, keepdim: bool) -> Any:
    """The int64 index of the first smallest element along `dim`, or in row-major order; of the first NaN if any.

    Args: as `argmax`.

    Raises: as `argmax`.

    Example:
        >>> import raxis
        >>> raxis.argmin(raxis.tensor([[1, 5], [4, 2]]), dim=0)
        tensor([0, 1])
    """
    return _arg("argmin", input, dim, keepdim)
