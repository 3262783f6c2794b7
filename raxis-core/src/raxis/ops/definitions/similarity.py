"""Similarity and distance of vectors, and scaling them to unit length."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import HALF, int64
from raxis.layout import broadcast_shapes
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.norms import vector_norm_vjp
from raxis.ops.definitions.sequences import triu_indices
from raxis.ops.functional import functional, shared
from raxis.ops.promotion import result_type
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import emit
from raxis.tensor import Tensor


@shared("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-8) -> Tensor")
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`.

    Args:
        x1: any shape, floating point.
        x2: must broadcast with `x1`.
        dim: the dimension of the vectors, which the result does not have.
        eps: least length a vector is divided by.

    Raises:
        RuntimeError: if the shapes do not broadcast or a dtype is not floating point.

    Example:
        >>> import raxis
        >>> raxis.cosine_similarity(raxis.tensor([1.0, 0.0]), raxis.tensor([1.0, 1.0]), dim=0)
        tensor(0.7071)
    """
    dtype = result_type(x1, x2)
    if not dtype.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {dtype}")
    shape = broadcast_shapes(x1._layout.shape, x2._layout.shape)
    first, second = x1.to(dtype).expand(shape), x2.to(dtype).expand(shape)
    return (_unit(first, dim, eps) * _unit(second, dim, eps)).sum(dim)


def _unit(operand: Tensor, dim: int, eps: float) -> Tensor:
    length = operand.norm(2, dim, keepdim=True)
    return operand / length.clamp(min=eps)


@shared("pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-6, bool keepdim=False) -> Tensor")
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension.

    Args:
        x1: [N, D] or [D].
        x2: must broadcast with `x1`.
        p: the norm's order.
        eps: added to the differences.
        keepdim: keep the last dimension with size 1.

    Example:
        >>> import raxis
        >>> raxis.pairwise_distance(raxis.tensor([0.0, 3.0]), raxis.tensor([4.0, 0.0]), eps=0.0)
        tensor(5.)
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


@functional("normalize(Tensor input, float p=2.0, int dim=1, float eps=1e-12, Tensor? out=None) -> Tensor")
def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """`input` divided by its p-norm along `dim`.

    Args:
        input: any shape.
        p: the norm's order.
        dim: dimension of the vectors.
        eps: least norm a vector is divided by.
        out: where to store the result.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.normalize(raxis.tensor([3.0, 4.0]), dim=0)
        tensor([0.6000, 0.8000])
    """
    length = input.norm(p, dim, keepdim=True).clamp(min=eps)
    if out is None:
        return input / length
    from raxis import div

    return div(input, length, out=out)


def _check_power(name: str, p: float) -> None:
    if p < 0:
        raise RuntimeError(f"{name} only supports non-negative p values, but got {p}.")


def _euclidean_vjp(grad: Tensor, x1: Tensor, x2: Tensor, result: Tensor) -> Any:
    """Of a distance of 0 the gradient is 0."""
    apart = result != 0
    ratio = where(apart, grad / where(apart, result, 1.0), 0.0)
    turned = ratio.transpose(-2, -1)
    return (
        x1 * ratio.sum(-1, keepdim=True) - ratio @ x2,
        x2 * turned.sum(-1, keepdim=True) - turned @ x1,
    )


@lowered(
    "_euclidean_distances(Tensor x1, Tensor x2) -> Tensor", vjp={("x1", "x2"): _euclidean_vjp}, **INTERNAL
)
def _euclidean_distances(x1: Tensor, x2: Tensor) -> Any:
    """The root of ``|x|^2 + |y|^2 - 2 x y``, which is one product of matrices, inexact for rows close together."""
    squares = (x1 * x1).sum(-1, keepdim=True) + (x2 * x2).sum(-1).unsqueeze(-2)
    return (squares - 2 * (x1 @ x2.transpose(-2, -1))).clamp(min=0).sqrt()


def _row_distances_vjp(grad: Tensor, x1: Tensor, x2: Tensor, result: Tensor, p: float) -> Any:
    change = vector_norm_vjp(grad, x1.unsqueeze(-2) - x2.unsqueeze(-3), result, p, (-1,), False)
    return change.sum(-2), -change.sum(-3)


@lowered(
    "_row_distances(Tensor x1, Tensor x2, float p) -> Tensor",
    composite=True,
    vjp={("x1", "x2"): _row_distances_vjp},
    **INTERNAL,
)
def _row_distances(x1: Tensor, x2: Tensor, p: float) -> Any:
    """The p-norm distances between all rows, by their differences."""
    return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, -1)


def _pair_distances_vjp(grad: Tensor, input: Tensor, result: Tensor, p: float) -> Any:
    count = input.shape[0]
    first, second = triu_indices(count, count, 1, device=input.device).unbind(0)
    difference = input.index_select(0, first) - input.index_select(0, second)
    change = vector_norm_vjp(grad, difference, result, p, (-1,), False)
    return zeros_like(input).index_add(0, first, change).index_add(0, second, -change)


@lowered(
    "_pair_distances(Tensor input, float p) -> Tensor",
    composite=True,
    vjp={"input": _pair_distances_vjp},
    **INTERNAL,
)
def _pair_distances(input: Tensor, p: float) -> Any:
    """The p-norm distances of pairs of rows (i, j) with i < j; those of a row i lie together."""
    count = input.shape[0]
    rows, places = (
        emit("iota", shape=(size,), dtype=int64, dim=0) for size in (count, count * (count - 1) // 2)
    )
    begins = rows * (2 * count - 1 - rows) // 2
    first = emit("searchsorted", begins, places, right=True) - 1
    second = places - emit("take", begins, first, dim=0) + first + 1
    return (emit("take", input, first, dim=0) - emit("take", input, second, dim=0)).norm(p, -1)


_MODES = {
    "use_mm_for_euclid_dist_if_necessary": True,
    "use_mm_for_euclid_dist": True,
    "donot_use_mm_for_euclid_dist": False,
}
"""By mode of computation, whether Euclidean distances may come from a product of matrices."""
_FEW_ROWS = 25
"""So many rows are as fast by their differences, which are exact."""


def _wants_product(x1: Tensor, x2: Tensor, compute_mode: str) -> bool:
    same = x1.dtype is x2.dtype and x1.dtype not in HALF
    return same and _MODES[compute_mode] and max(x1.shape[-2], x2.shape[-2]) > _FEW_ROWS


@composed(
    "cdist(Tensor x1, Tensor x2, float p=2.0, str compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor",
    method=False,
    out=False,
)
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The p-norm distances between all rows of `x1` and all rows of `x2`.

    Args:
        x1: [..., P, M].
        x2: [..., R, M].
        p: the norm's order.
        compute_mode: how distances with ``p=2`` of float32 and float64 are made. A product of matrices is much faster
            than differences, and less exact where distances are small beside the vectors. Of more than 25 rows one is
            made, unless the mode is ``'donot_use_mm_for_euclid_dist'``; few rows are exact in every mode.

    Returns:
        [..., P, R].

    Raises:
        RuntimeError: if shapes or dtypes do not fit, or `p` is negative.
        ValueError: if there is no such `compute_mode`.

    Example:
        >>> import raxis
        >>> raxis.cdist(raxis.tensor([[0.0, 0.0]]), raxis.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[5., 1.]])
    """
    for name, operand in (("X1", x1), ("X2", x2)):
        if not operand.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {operand.dtype}")
        if operand.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {operand.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    _check_power("cdist", p)
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if p == 2 and _wants_product(x1, x2, compute_mode):
        return _euclidean_distances(x1, x2)
    return _row_distances(x1, x2, p)


@shared("pdist(Tensor input, float p=2.0) -> Tensor")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all pairs of rows, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Args:
        input: [N, M].
        p: the norm's order.

    Returns:
        [N * (N - 1) / 2].

    Raises:
        RuntimeError: if the input is not a matrix, or `p` is negative.

    Example:
        >>> import raxis
        >>> raxis.pdist(raxis.tensor([[0.0], [1.0], [3.0]]))
        tensor([1., 3., 2.])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    _check_power("pdist", p)
    return _pair_distances(input, p)
