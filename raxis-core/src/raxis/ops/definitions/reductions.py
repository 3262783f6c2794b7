"""Sums, products and truth over dimensions."""

from __future__ import annotations

from math import prod as product
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.layout import Layout, wrap_dim, wrap_dims
from raxis.ops.definitions.joining import cat
from raxis.ops.formulas import conj, wide
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

Dims = int | tuple[int, ...] | None


# ---- shared by all modules that reduce -------------------------------------------------------------------------------


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with size 1 in `axes`."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def keep_dims(reduced: Tensor, layout: Layout, dim: Dims, keepdim: bool) -> Tensor:
    """A reduced tensor viewed with size 1 in the reduced dimensions."""
    if keepdim or reduced._layout.ndim == layout.ndim:
        return reduced
    return reduced.reshape(kept_shape(layout.shape, wrap_dims(dim, layout.ndim)))


def restore_dims(reduced: Tensor, layout: Layout, dim: Dims, keepdim: bool) -> Tensor:
    """A reduced tensor expanded to the operand's shape."""
    if reduced._layout.ndim:
        reduced = keep_dims(reduced, layout, dim, keepdim)
    return reduced.expand(layout.shape)


def check_reducible(layout: Layout) -> None:
    """Raise RuntimeError for more dimensions than PyTorch reduces."""
    if layout.ndim > 64:
        raise RuntimeError(f"only tensors with up to 64 dims are supported, but got one with {layout.ndim}.")


def reduce(primitive: str, operand: Tensor, dim: Dims, keepdim: bool) -> Any:
    """Emit a reduction; with `keepdim` the reduced dimensions stay with size 1."""
    layout = operand._layout
    check_reducible(layout)
    axes = wrap_dims(dim, layout.ndim)
    if not axes:
        return operand
    result = emit(primitive, operand, dims=axes)
    return emit("reshape", result, shape=kept_shape(layout.shape, axes)) if keepdim else result


def reduced_count(layout: Layout, dim: Dims) -> int:
    """How many elements are reduced to one."""
    return product(layout.shape[axis] for axis in wrap_dims(dim, layout.ndim))


def sum_dtype(dtype: DType) -> DType:
    """The dtype integer and bool sums are made in."""
    return dtypes.int64 if dtype.category <= Category.INTEGER else dtype


def constant_like(operand: Tensor, value: complex) -> Tensor:
    """While tracing: a constant of `operand`'s dtype and shape."""
    return constant(value, operand._layout.dtype, operand._layout.shape)


def is_nan(operand: Tensor) -> Any:
    """While tracing: where `operand` is NaN."""
    return emit("ne", operand, operand)


def as_bool(operand: Tensor) -> Tensor:
    """While tracing: where `operand` is not zero."""
    return (
        emit("ne", operand, constant_like(operand, 0))
        if operand._layout.dtype is not dtypes.bool_
        else operand
    )


def _is_given(dtype: DType | None) -> bool:
    return dtype is not None


# ---- sums ------------------------------------------------------------------------------------------------------------


def _sum_vjp(grad: Tensor, input_layout: Layout, dim: Dims, keepdim: bool) -> Tensor:
    return restore_dims(grad, input_layout, dim, keepdim)


@lowered(
    "sum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    vjp={"input": _sum_vjp},
    adopts=True,
)
def sum(input: Tensor, dim: Dims, keepdim: bool, dtype: DType | None) -> Any:
    """The sum over `dim`, or over all elements.

    Args:
        input: any shape.
        dim: dimension or dimensions to sum over; None: all.
        keepdim: keep the summed dimensions with size 1.
        dtype: cast to it before summing; default: int64 for bool and integers, else the input's.

    Raises:
        IndexError: if a dimension is out of range.

    Example:
        >>> import raxis
        >>> raxis.sum(raxis.tensor([[1, 2], [3, 4]]), dim=0)
        tensor([4, 6])
    """
    target = dtype or sum_dtype(input.dtype)
    primitive = "reduce_or" if target is dtypes.bool_ else "reduce_sum"
    return reduce(primitive, cast(input, target), dim, keepdim)


@lowered(
    "_sum_broadcast(Tensor input, int[] size) -> Tensor",
    vjp={"input": lambda grad, input_layout: grad.expand(input_layout.shape)},
    method=False,
    function=False,
    out=False,
)
def _sum_broadcast(input: Tensor, size: tuple[int, ...]) -> Any:
    """The sum over the dimensions along which `size` would have to be broadcast to `input`'s shape."""
    shape = input._layout.shape
    lead = len(shape) - len(size)
    if lead < 0 or [full for own, full in zip(size, shape[lead:], strict=True) if own not in (1, full)]:
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(shape)}}}.")
    inner = [axis for axis, own in enumerate(size, lead) if own == 1 and shape[axis] != 1]
    axes = (*range(lead), *inner)
    operand = cast(input, sum_dtype(input.dtype))
    reduced = emit("reduce_sum", operand, dims=axes) if axes else operand
    return emit("reshape", reduced, shape=size) if inner else reduced


@composed("sum_to_size(Tensor input, int... size) -> Tensor", function=False, out=False)
def sum_to_size(input: Tensor, *size: Any) -> Any:
    """The sum over the dimensions along which `size` would have to be broadcast to `input`'s shape.

    Args:
        input: any shape.
        size: a shape that broadcasts to `input`'s; its own shape gives a view.

    Raises:
        RuntimeError: if `size` does not broadcast to `input`'s shape.

    Example:
        >>> import raxis
        >>> raxis.ones(2, 3).sum_to_size(1, 3)
        tensor([[2., 2., 2.]])
    """
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    if shape and tuple(shape) == input._layout.shape:
        return input.view(shape)
    return _sum_broadcast(input, tuple(shape))


def _nansum_vjp(grad: Tensor, input: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    return restore_dims(grad, input._layout, dim, keepdim) * (input == input).to(grad.dtype)  # noqa: PLR0124


@lowered(
    "nansum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    vjp={"input": _nansum_vjp},
    exact=_is_given,
)
def nansum(input: Tensor, dim: Dims, keepdim: bool, dtype: DType | None) -> Any:
    """The sum over `dim`, or over all elements, with NaN counted as zero.

    Args: as `sum`.

    Raises:
        RuntimeError: if `input` is complex.

    Example:
        >>> import raxis
        >>> raxis.nansum(raxis.tensor([1.0, float("nan"), 2.0]))
        tensor(3.)
    """
    if input.dtype.is_complex:
        raise RuntimeError(f"nansum does not support complex inputs, but got {input.dtype.name}.")
    target = dtype or sum_dtype(input.dtype)
    if input.dtype.is_floating_point:
        input = emit("select", is_nan(input), constant_like(input, 0), input)
    return reduce("reduce_sum", cast(input, target), dim, keepdim)


def _mean_vjp(grad: Tensor, input_layout: Layout, dim: Dims, keepdim: bool) -> Tensor:
    return restore_dims(grad, input_layout, dim, keepdim) / reduced_count(input_layout, dim)


_SCALAR_TYPES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def scalar_type(dtype: DType) -> str:
    """PyTorch's name of a dtype in error messages."""
    return _SCALAR_TYPES[dtype.name]


@lowered(
    "mean(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    vjp={"input": _mean_vjp},
    exact=_is_given,
)
def mean(input: Tensor, dim: Dims, keepdim: bool, dtype: DType | None) -> Any:
    """The mean over `dim`, or over all elements; NaN over no elements.

    Args:
        input: any shape, floating point or complex unless `dtype` is given.
        dim: dimension or dimensions to average over; None: all.
        keepdim: keep these dimensions with size 1.
        dtype: cast to it first.

    Raises:
        RuntimeError: if the dtype is neither floating point nor complex.

    Example:
        >>> import raxis
        >>> raxis.mean(raxis.tensor([1.0, 2.0, 6.0]))
        tensor(3.)
    """
    target = dtype or input.dtype
    if target.category < Category.FLOAT:
        which = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_type(target)}"
        )
    total = reduce("reduce_sum", wide(cast(input, target)), dim, keepdim)
    return cast(emit("div", total, constant_like(total, reduced_count(input._layout, dim))), target)


@composed(
    "nanmean(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    exact=_is_given,
)
def nanmean(input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None) -> Any:
    """The mean over `dim`, or over all elements, of those that are not NaN.

    Args: as `mean`.

    Raises:
        RuntimeError: if `input` is neither floating point nor complex.

    Example:
        >>> import raxis
        >>> raxis.nanmean(raxis.tensor([1.0, float("nan"), 3.0]))
        tensor(2.)
    """
    if input.dtype.category < Category.FLOAT:
        raise RuntimeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype.name}"
        )
    count = (input == input).sum(dim, keepdim)  # noqa: PLR0124  NaN differs from itself
    return input.nansum(dim, keepdim, dtype=dtype) / count


@lowered("count_nonzero(Tensor input, int[]? dim=None) -> Tensor", out=False)
def count_nonzero(input: Tensor, dim: Dims) -> Any:
    """How many elements are not zero, over `dim` or all; int64.

    Args:
        input: any shape and dtype.
        dim: dimension or dimensions to count over; None: all.

    Example:
        >>> import raxis
        >>> raxis.count_nonzero(raxis.tensor([[0, 1], [2, 3]]), dim=1)
        tensor([1, 2])
    """
    return reduce("reduce_sum", cast(as_bool(input), dtypes.int64), dim, False)


# ---- products --------------------------------------------------------------------------------------------------------


def _product_of_others(operand: Tensor, dim: int) -> Any:
    """For each element, the product of all others along `dim`; exact where elements are zero."""
    before = exclusive_cumprod(operand, dim)
    return before * exclusive_cumprod(operand.flip(dim), dim).flip(dim)


def exclusive_cumprod(operand: Tensor, dim: int) -> Any:
    """Products of the elements before each."""
    size = operand._layout.shape[dim]
    if size == 0:
        return operand
    one = operand.new_ones(kept_shape(operand._layout.shape, (dim,)))
    return cat([one, operand.narrow(dim, 0, size - 1)], dim).cumprod(dim)


def _prod_vjp(grad: Tensor, input: Tensor, dim: int | None, keepdim: bool, dtype: DType | None) -> Any:
    operand = input if dtype is None else input.to(dtype)
    layout = operand._layout
    if layout.ndim == 0:
        return grad
    if dim is None:
        return grad * conj(_product_of_others(operand.reshape(-1), 0)).reshape(layout.shape)
    axis = wrap_dim(dim, layout.ndim)
    return restore_dims(grad, layout, axis, keepdim) * conj(_product_of_others(operand, axis))


@lowered(
    "prod(Tensor input, int? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    vjp={"input": _prod_vjp},
    adopts=True,
)
def prod(input: Tensor, dim: int | None, keepdim: bool, dtype: DType | None) -> Any:
    """The product over `dim`, or over all elements.

    Args:
        input: any shape.
        dim: dimension to multiply over; None: all.
        keepdim: keep the dimension with size 1.
        dtype: cast to it first; default: int64 for bool and integers, else the input's.

    Example:
        >>> import raxis
        >>> raxis.prod(raxis.tensor([2, 3, 4]))
        tensor(24)
    """
    target = dtype or sum_dtype(input.dtype)
    primitive = "reduce_and" if target is dtypes.bool_ else "reduce_prod"
    return reduce(primitive, cast(input, target), dim, keepdim)


# ---- logsumexp -------------------------------------------------------------------------------------------------------


def _logsumexp_vjp(grad: Tensor, input: Tensor, result: Tensor, dim: Dims, keepdim: bool) -> Any:
    layout = input._layout
    weights = (input - restore_dims(result, layout, dim, keepdim)).exp()
    return restore_dims(grad, layout, dim, keepdim) * conj(weights)


@lowered(
    "logsumexp(Tensor input, int[] dim, bool keepdim=False) -> Tensor",
    vjp={"input": _logsumexp_vjp},
    exact=False,
    composite=True,
)
def logsumexp(input: Tensor, dim: tuple[int, ...], keepdim: bool) -> Any:
    """``log(sum(exp(input)))`` over `dim`, without overflow.

    Args:
        input: any shape; integers are cast to the default float dtype.
        dim: dimension or dimensions.
        keepdim: keep these dimensions with size 1.

    Example:
        >>> import raxis
        >>> raxis.logsumexp(raxis.tensor([1000.0, 1000.0]), dim=0)
        tensor(1000.6932)
    """
    target = input.dtype if input.dtype.category >= Category.FLOAT else get_default_dtype()
    operand = wide(cast(input, target))
    shape = operand._layout.shape
    greatest = finite(
        reduce("reduce_max", emit("real", operand) if target.is_complex else operand, dim, True)
    )
    shift = cast(greatest, operand.dtype)
    shifted = emit("sub", operand, emit("broadcast", shift, shape=shape, dims=tuple(range(len(shape)))))
    logarithm = emit("log", reduce("reduce_sum", emit("exp", shifted), dim, keepdim))
    return cast(emit("add", logarithm, emit("reshape", shift, shape=logarithm._layout.shape)), target)


def finite(operand: Tensor) -> Any:
    """While tracing: `operand` with infinities replaced by zero."""
    infinite = emit("eq", emit("abs", operand), constant_like(operand, float("inf")))
    return emit("select", infinite, constant_like(operand, 0), operand)


# ---- truth -----------------------------------------------------------------------------------------------------------


def _is_no_truth(out: Tensor) -> bool:
    return out.dtype not in (dtypes.bool_, dtypes.uint8)


def _truth(primitive: str, input: Tensor, dim: Dims, keepdim: bool) -> Any:
    result = as_bool(input)
    if dim != ():
        result = reduce(primitive, result, dim, keepdim)
    return cast(result, dtypes.uint8) if input.dtype is dtypes.uint8 else result


@lowered("all(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor", exact=_is_no_truth)
def all(input: Tensor, dim: Dims, keepdim: bool) -> Any:
    """Whether all elements, over `dim` or at all, are nonzero; bool (uint8 for uint8).

    Args:
        input: any shape and dtype; NaN counts as nonzero.
        dim: dimension or dimensions; None: all.
        keepdim: keep these dimensions with size 1.

    Example:
        >>> import raxis
        >>> raxis.all(raxis.tensor([[1, 0], [1, 1]]), dim=1)
        tensor([False,  True])
    """
    return _truth("reduce_and", input, dim, keepdim)


@lowered("any(Tensor input, int[]? dim=None, bool keepdim=False) -> Tensor", exact=_is_no_truth)
def any(input: Tensor, dim: Dims, keepdim: bool) -> Any:
    """Whether any element, over `dim` or at all, is nonzero; bool (uint8 for uint8).

    Args: as `all`.

    Example:
        >>> import raxis
        >>> raxis.any(raxis.tensor([[0, 0], [0, 1]]), dim=1)
        tensor([False,  True])
    """
    return _truth("reduce_or", input, dim, keepdim)
