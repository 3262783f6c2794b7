"""Sums of products over named or listed dimensions: tensordot, inner, kron, cross, trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis.layout import wrap_dim
from raxis.ops.definitions.matmul import matmul, mm
from raxis.ops.definitions.reductions import scalar_type
from raxis.ops.formulas import conj
from raxis.ops.table import composed, lowered
from raxis.ops.trace import emit
from raxis.tensor import Tensor

LABELS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@lowered(
    "_contract(Tensor input, Tensor other, str left, str right, str result) -> Tensor",
    vjp={
        "input": lambda grad, other, left, right, result: contract(grad, conj(other), result, right, left),
        "other": lambda grad, input, left, right, result: contract(conj(input), grad, left, result, right),
    },
    method=False,
    function=False,
    out=False,
)
def contract(input: Tensor, other: Tensor, left: str, right: str, result: str) -> Any:
    """Products summed over the labels that are not in `result`; each of those labels both dimensions.

    `left`, `right` and `result` name the dimensions, one character each. A label occurs in at least two of them
    and at most once in each.
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_type(input.dtype)} but found {scalar_type(other.dtype)}"
        )
    shared = [label for label in left if label in right]
    batch = [label for label in shared if label in result]
    summed = [label for label in shared if label not in result]
    if not summed:
        sizes = dict(zip(left + right, (*input.shape, *other.shape), strict=True))
        shape = tuple(sizes[label] for label in result)
        return emit("mul", _arranged(input, left, result, shape), _arranged(other, right, result, shape))
    product = emit(
        "dot_general",
        input,
        other,
        lhs_batch=_places(left, batch),
        rhs_batch=_places(right, batch),
        lhs_contract=_places(left, summed),
        rhs_contract=_places(right, summed),
    )
    own = [*batch, *(label for label in left + right if label not in shared)]
    permutation = _places("".join(own), result)
    return (
        product
        if permutation == tuple(range(len(own)))
        else emit("transpose", product, permutation=permutation)
    )


def _places(labels: str, wanted: Sequence[str]) -> tuple[int, ...]:
    return tuple(labels.index(label) for label in wanted)


def _arranged(operand: Tensor, labels: str, result: str, shape: tuple[int, ...]) -> Any:
    """While tracing: `operand` with its dimensions where `result` has them, broadcast to `shape`."""
    own = [label for label in result if label in labels]
    ordered = emit("transpose", operand, permutation=_places(labels, own))
    return emit("broadcast", ordered, shape=shape, dims=_places(result, own))


@composed("tensordot(Tensor a, Tensor b, any dims=2) -> Tensor", method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Any:
    """Products summed over pairs of dimensions.

    Args:
        a: any shape.
        b: of the same dtype.
        dims: a number n for the last n dimensions of `a` and the first n of `b`, or two lists of dimensions.

    Returns:
        The other dimensions of `a`, then those of `b`.

    Raises:
        RuntimeError: if the lists or the sizes of paired dimensions differ.

    Example:
        >>> import raxis
        >>> raxis.tensordot(raxis.ones(2, 3), raxis.ones(3, 4), dims=1).shape
        raxis.Size([2, 4])
    """
    first, second = _paired_dims(a, b, dims)
    right = list(LABELS[a.ndim : a.ndim + b.ndim])
    for mine, other in zip(first, second, strict=True):
        right[other] = LABELS[mine]
    squeezed, joined = [], "".join(right)
    for mine, other in zip(first, second, strict=True):
        if a.shape[mine] != b.shape[other]:
            if 1 not in (a.shape[mine], b.shape[other]):
                raise RuntimeError(
                    f"contracted dimensions need to match, but first has size {a.shape[mine]} in dim {mine} and second "
                    f"has size {b.shape[other]} in dim {other}"
                )
            squeezed.append((mine, other))
    # A size of 1 broadcasts: the sum over the other operand's dimension is all that remains of it.
    left = LABELS[: a.ndim]
    if squeezed:
        kept = [label for label in left if label not in {LABELS[mine] for mine, _ in squeezed}]
        a = a.sum([mine for mine, _ in squeezed], dtype=a.dtype)
        b = b.sum([other for _, other in squeezed], dtype=b.dtype)
        joined = "".join(
            label for position, label in enumerate(joined) if position not in {o for _, o in squeezed}
        )
        left = "".join(kept)
    result = "".join(label for label in left if label not in joined) + "".join(
        label for label in joined if label not in left
    )
    return contract(a, b, left, joined, result)


def _paired_dims(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if not isinstance(dims, (int, Sequence)):
        raise RuntimeError(
            "tensordot expects dims to be int or two lists of dimensions, one of each tensor, but got "
            f"{type(dims).__name__}"
        )
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    first, second = ([item] if isinstance(item, int) else list(item) for item in dims)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    return [wrap_dim(dim, a.ndim) for dim in first], [wrap_dim(dim, b.ndim) for dim in second]


@composed(
    "inner(Tensor input, Tensor other) -> Tensor",
    exact=lambda input, other: 0 not in (input.ndim, other.ndim),
)
def inner(input: Tensor, other: Tensor) -> Any:
    """Products summed over the last dimensions; of a 0-d operand, the products.

    Args:
        input: any shape.
        other: with the same last size and dtype.

    Returns:
        The other dimensions of `input`, then those of `other`.

    Raises:
        RuntimeError: if the last sizes differ.

    Example:
        >>> import raxis
        >>> raxis.inner(raxis.tensor([1, 2]), raxis.tensor([3, 4]))
        tensor(11)
    """
    if input.ndim == 0 or other.ndim == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@composed("kron(Tensor input, Tensor other) -> Tensor", exact=False)
def kron(input: Tensor, other: Tensor) -> Any:
    """The Kronecker product: every element of `input` times all of `other`, as blocks.

    Args:
        input: any shape.
        other: any shape; the one with fewer dimensions gets leading ones.

    Returns:
        Sizes are the products of the operands' sizes.

    Example:
        >>> import raxis
        >>> raxis.kron(raxis.tensor([1, 2]), raxis.tensor([1, 10]))
        tensor([ 1, 10,  2, 20])
    """
    ndim = max(input.ndim, other.ndim)
    first = (1,) * (ndim - input.ndim) + tuple(input.shape)
    second = (1,) * (ndim - other.ndim) + tuple(other.shape)
    blocks = input.reshape([size for own in first for size in (own, 1)])
    within = other.reshape([size for own in second for size in (1, own)])
    return (blocks * within).reshape([mine * theirs for mine, theirs in zip(first, second, strict=True)])


@composed("trace(Tensor input) -> Tensor", out=False)
def trace(input: Tensor) -> Any:
    """The sum of the diagonal of a matrix; int64 for integers.

    Args:
        input: 2-D.

    Raises:
        RuntimeError: if `input` is not 2-D.

    Example:
        >>> import raxis
        >>> raxis.trace(raxis.tensor([[1, 2], [3, 4]]))
        tensor(5)
    """
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return input.diagonal().sum()


@composed(
    "cross(Tensor input, Tensor other, *, int dim=-1) -> Tensor", namespace="raxis.linalg", method=False
)
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Any:
    """The cross product of vectors of size 3 along `dim`.

    Args:
        input: size 3 along `dim`.
        other: of as many dimensions; the other sizes broadcast.
        dim: dimension.

    Raises:
        RuntimeError: if the sizes along `dim` are not 3 or the numbers of dimensions differ.

    Example:
        >>> import raxis
        >>> raxis.linalg.cross(raxis.tensor([1, 0, 0]), raxis.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """
    if input.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = wrap_dim(dim, input.ndim)
    if input.shape[axis] != 3 or other.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.shape[axis]} and {other.shape[axis]}"
        )
    ahead, behind = (input.roll(-1, axis), other.roll(-1, axis)), (input.roll(-2, axis), other.roll(-2, axis))
    return ahead[0] * behind[1] - behind[0] * ahead[1]


@composed("cross(Tensor input, Tensor other, int? dim=None) -> Tensor")
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Any:
    """The cross product of vectors of size 3 along `dim`, by default the first dimension of that size.

    Args: as `raxis.linalg.cross`.

    Raises:
        RuntimeError: if no dimension has size 3, or as `raxis.linalg.cross`.

    Example:
        >>> import raxis
        >>> raxis.cross(raxis.tensor([1, 0, 0]), raxis.tensor([0, 1, 0]), dim=0)
        tensor([0, 0, 1])
    """
    if dim is None:
        found = [axis for axis, size in enumerate(input.shape) if size == 3]
        if not found:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found[0]
    return linalg_cross(input, other, dim=dim)


@composed("vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", namespace="raxis.linalg", method=False)
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Any:
    """The dot products of vectors along `dim`, the first conjugated.

    Args:
        x: any shape with dimensions.
        y: its shape must broadcast with `x`'s.
        dim: dimension of the vectors.

    Raises:
        RuntimeError: if the sizes along `dim` differ.

    Example:
        >>> import raxis
        >>> raxis.linalg.vecdot(raxis.tensor([[1, 2], [3, 4]]), raxis.tensor([1, 1]))
        tensor([3, 7])
    """
    if x.shape[dim] != y.shape[dim]:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same size along dim {dim}, but got {x.shape[dim]} and "
            f"{y.shape[dim]}."
        )
    return (conj(x) * y).sum(dim, dtype=x.dtype)


@composed("matmul(Tensor input, Tensor other) -> Tensor", namespace="raxis.linalg", method=False)
def linalg_matmul(input: Tensor, other: Tensor) -> Any:
    """Another name of `raxis.matmul`.

    Example:
        >>> import raxis
        >>> raxis.linalg.matmul(raxis.ones(1, 2), raxis.ones(2, 1))
        tensor([[2.]])
    """
    return matmul(input, other)


# ---- chains of matrices ----------------------------------------------------------------------------------------------


@composed("multi_dot(Tensor[] tensors) -> Tensor", namespace="raxis.linalg", method=False)
def multi_dot(tensors: Sequence[Tensor]) -> Any:
    """The product of several matrices, multiplied in the cheapest order.

    Args:
        tensors: at least two matrices; the first and the last may be vectors.

    Raises:
        RuntimeError: if there are fewer than two, one has other dimensions, or sizes do not fit.

    Example:
        >>> import raxis
        >>> raxis.linalg.multi_dot([raxis.ones(2, 3), raxis.ones(3, 1), raxis.ones(1, 2)]).shape
        raxis.Size([2, 2])
    """
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    matrices = list(tensors)
    squeezed = []
    for end, axis in ((0, 0), (-1, 1)):
        if matrices[end].ndim == 1:
            matrices[end] = matrices[end].unsqueeze(axis)
            squeezed.append(axis)
    for position, matrix in enumerate(matrices):
        if matrix.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {position} must be 2D but got {tensors[position].ndim}D")
    product = _cheapest_product(matrices)
    return product.squeeze(tuple(squeezed)) if squeezed else product


@composed("chain_matmul(Tensor[] matrices) -> Tensor", method=False)
def chain_matmul(*matrices: Tensor) -> Any:
    """The product of several matrices, multiplied in the cheapest order.

    Args:
        matrices: 2-D.

    Raises:
        RuntimeError: if there is none, one is not 2-D, or sizes do not fit.

    Example:
        >>> import raxis
        >>> raxis.chain_matmul(raxis.ones(2, 3), raxis.ones(3, 1)).shape
        raxis.Size([2, 1])
    """
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix.ndim != 2:
            raise RuntimeError(f"chain_matmul(): expected matrices, but got a {matrix.ndim}D tensor")
    return _cheapest_product(list(matrices))


def _cheapest_product(matrices: list[Tensor]) -> Any:
    """Dynamic programming over where to split (Cormen et al., Introduction to Algorithms, 15.2)."""
    sizes = [matrices[0].shape[0], *(matrix.shape[1] for matrix in matrices)]
    count = len(matrices)
    cost: dict[tuple[int, int], int] = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            cost[first, last], split[first, last] = min(
                (cost[first, k] + cost[k + 1, last] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
                for k in range(first, last)
            )

    def product(first: int, last: int) -> Any:
        if first == last:
            return matrices[first]
        k = split[first, last]
        return mm(product(first, k), product(k + 1, last))

    return product(0, count - 1)
