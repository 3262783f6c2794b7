"""Views with the dimensions in another order: permute, transpose, movedim and relatives."""

from __future__ import annotations

import warnings
from typing import Any

from raxis.frames import user_stacklevel
from raxis.layout import Layout, Shape, wrap_dim
from raxis.ops.definitions.views import Geometry, alias
from raxis.ops.table import composed, viewed
from raxis.ops.trace import emit
from raxis.tensor import Tensor


def _permutation(layout: Layout, dims: Shape) -> Shape:
    if len(dims) != layout.ndim:
        raise RuntimeError(
            "permute(): number of dimensions in the tensor input does not match the length of the desired ordering of "
            f"dimensions i.e. input.dim() = {layout.ndim} is not equal to len(dims) = {len(dims)}"
        )
    wrapped = tuple(wrap_dim(dim, layout.ndim) for dim in dims)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"permute(): duplicate dims are not allowed, but got {list(dims)}.")
    return wrapped


def _transposed(input: Tensor, permutation: Shape) -> Any:
    return (
        input
        if permutation == tuple(range(len(permutation)))
        else emit("transpose", input, permutation=permutation)
    )


def _inverse(grad: Tensor, dims: Shape) -> Tensor:
    order = [dim % len(dims) for dim in dims]
    return grad.permute(tuple(order.index(axis) for axis in range(len(dims))))


def _permuted(layout: Layout, permutation: Shape) -> Geometry:
    shape, strides = layout.shape, layout.strides
    return tuple(shape[axis] for axis in permutation), tuple(strides[axis] for axis in permutation), 0


@viewed(
    "permute(Tensor input, int... dims) -> Tensor",
    lower=lambda input, dims: _transposed(input, _permutation(input._layout, dims)),
    vjp={"input": _inverse},
)
def permute(layout: Layout, dims: Shape) -> Geometry:
    """`input` with its dimensions in the order `dims`.

    Raises:
        RuntimeError: if `dims` is not a permutation of the dimensions.
        IndexError: if a dimension is out of range.

    Example:
        >>> import raxis
        >>> raxis.zeros(2, 3, 4).permute(2, 0, 1).shape
        raxis.Size([4, 2, 3])
    """
    return _permuted(layout, _permutation(layout, dims))


def _swap(layout: Layout, dim0: int, dim1: int) -> Shape:
    order = list(range(layout.ndim))
    first, second = wrap_dim(dim0, layout.ndim), wrap_dim(dim1, layout.ndim)
    if order:
        order[first], order[second] = order[second], order[first]
    return tuple(order)


@viewed(
    "transpose(Tensor input, int dim0, int dim1) -> Tensor",
    lower=lambda input, dim0, dim1: _transposed(input, _swap(input._layout, dim0, dim1)),
    vjp={"input": lambda grad, dim0, dim1: grad.transpose(dim0, dim1)},
)
def transpose(layout: Layout, dim0: int, dim1: int) -> Geometry:
    """`input` with two dimensions exchanged.

    Raises:
        IndexError: if a dimension is out of range.

    Example:
        >>> import raxis
        >>> raxis.zeros(2, 3).transpose(0, 1).shape
        raxis.Size([3, 2])
    """
    return _permuted(layout, _swap(layout, dim0, dim1))


@composed("swapaxes(Tensor input, int axis0, int axis1) -> Tensor", out=False)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Alias of `transpose`."""
    return transpose(input, axis0, axis1)


@composed("swapdims(Tensor input, int dim0, int dim1) -> Tensor", out=False)
def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Alias of `transpose`."""
    return transpose(input, dim0, dim1)


@viewed(
    "t(Tensor input) -> Tensor",
    lower=lambda input: _transposed(input, tuple(range(input._layout.ndim))[::-1]),
    vjp={"input": lambda grad: grad.t()},
)
def t(layout: Layout) -> Geometry:
    """The transpose of a matrix; tensors of fewer dimensions themselves.

    Raises:
        RuntimeError: if `input` has more than two dimensions.
    """
    if layout.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {layout.ndim}D")
    return _permuted(layout, tuple(range(layout.ndim))[::-1])


def _moved(layout: Layout, source: Any, destination: Any) -> Shape:
    sources = (source,) if isinstance(source, int) else tuple(source)
    destinations = (destination,) if isinstance(destination, int) else tuple(destination)
    if len(sources) != len(destinations):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(sources)} dims) should contain the same "
            f"number of dims as destination ({list(destinations)} dims)"
        )
    from_ = [wrap_dim(dim, layout.ndim) for dim in sources]
    to = [wrap_dim(dim, layout.ndim) for dim in destinations]
    for name, wrapped, given in (("source", from_, sources), ("destination", to, destinations)):
        if len(set(wrapped)) != len(wrapped):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    rest = iter(axis for axis in range(layout.ndim) if axis not in from_)
    return tuple(from_[to.index(axis)] if axis in to else next(rest) for axis in range(layout.ndim))


@composed(
    "movedim(Tensor input, int[] source, int[] destination) -> Tensor", aliases=("moveaxis",), out=False
)
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """`input` with the dimensions `source` moved to the positions `destination`; the others keep their order.

    Example:
        >>> import raxis
        >>> raxis.zeros(2, 3, 4).movedim(0, -1).shape
        raxis.Size([3, 4, 2])
    """
    if isinstance(source, int) != isinstance(destination, int):
        raise TypeError("movedim(): source and destination must both be an int or both be tuples of ints")
    if input._layout.ndim == 0:
        _moved(input._layout, source, destination)
        return alias(input)
    return permute(input, _moved(input._layout, source, destination))


@composed("T(Tensor input) -> Tensor", attribute=True, function=False, out=False)
def T(input: Tensor) -> Tensor:
    """The tensor with its dimensions in reverse order; meant for matrices."""
    ndim = input._layout.ndim
    if ndim == 2:
        return t(input)
    warnings.warn(
        f"The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated, and this one has "
        f"{ndim}. Consider `x.mT` to transpose batches of matrices or `x.permute(*range(x.ndim)[::-1])` to reverse "
        "the dimensions of a tensor.",
        UserWarning,
        stacklevel=user_stacklevel(),
    )
    return permute(input, tuple(range(ndim))[::-1])


@composed("mT(Tensor input) -> Tensor", attribute=True, function=False, out=False)
def mT(input: Tensor) -> Tensor:
    """The last two dimensions exchanged.

    Raises:
        RuntimeError: if there are fewer than two.
    """
    _require_matrices("mT", input)
    return transpose(input, -2, -1)


@composed("mH(Tensor input) -> Tensor", attribute=True, function=False, out=False)
def mH(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, conjugated."""
    _require_matrices("mH", input)
    return _conjugated(transpose(input, -2, -1))


@composed("H(Tensor input) -> Tensor", attribute=True, function=False, out=False)
def H(input: Tensor) -> Tensor:
    """The conjugate transpose of a matrix.

    Raises:
        RuntimeError: if `input` is not a matrix.
    """
    ndim = input._layout.ndim
    if ndim not in (0, 2):
        hint = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{hint}"
        )
    return _conjugated(t(input))


@composed("adjoint(Tensor input) -> Tensor", out=False)
def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, conjugated."""
    return mH(input)


def _require_matrices(name: str, input: Tensor) -> None:
    if input._layout.ndim < 2:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {input._layout.ndim}-D tensor."
        )


def _conjugated(input: Tensor) -> Tensor:
    return input.conj() if input._layout.dtype.is_complex else input
