"""Losses that ask for a margin between scores or distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.dtypes import int64
from raxis.ops.definitions.activation import logsigmoid
from raxis.ops.definitions.loss_reduction import LOSS_TAIL, chosen_reduction, reduced
from raxis.ops.definitions.similarity import pairwise_distance
from raxis.ops.functional import functional
from raxis.tensor import Tensor


def _positive_part(operand: Tensor) -> Tensor:
    return operand.clamp(min=0)


@functional(
    f"margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, {LOSS_TAIL}) -> Tensor"
)
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``max(0, -target * (input1 - input2) + margin)``: a target of 1 (-1) asks for a greater first (second) score.

    Raises:
        RuntimeError: if the numbers of dimensions differ.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.margin_ranking_loss(raxis.tensor([1.0]), raxis.tensor([3.0]), raxis.tensor([1.0]))
        tensor(2.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{list(input1.shape)}, input2: {list(input2.shape)}, target: {list(target.shape)}"
        )
    return reduced(_positive_part(-target * (input1 - input2) + margin), reduction)


@functional(f"hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, {LOSS_TAIL}) -> Tensor")
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The distance `input` where the target is 1, ``max(0, margin - input)`` where it is -1.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.hinge_embedding_loss(raxis.tensor([0.5, 0.5]), raxis.tensor([1.0, -1.0]))
        tensor(0.5000)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    apart = _positive_part(margin - input).masked_fill(target == 1, 0)
    return reduced(apart + input.masked_fill(target == -1, 0), reduction)


@functional(f"soft_margin_loss(Tensor input, Tensor target, {LOSS_TAIL}) -> Tensor")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets of 1 and -1.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.soft_margin_loss(raxis.tensor([0.0]), raxis.tensor([1.0]))
        tensor(0.6931)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    return reduced((-target * input).exp().log1p(), reduction)


@functional(
    f"cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0, {LOSS_TAIL}) -> Tensor"
)
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``1 - cosine`` where the target is 1, ``max(0, cosine - margin)`` where it is -1.

    Args:
        input1: [N, D] or [D].
        input2: shape of `input1` (may broadcast).
        target: [N] or [].
        margin: cosine that dissimilar pairs may have.
        reduction: "mean", "sum" or "none".

    Raises:
        RuntimeError: if the shapes are others.

    Example:
        >>> import raxis
        >>> a, b = raxis.tensor([[1.0, 0.0]]), raxis.tensor([[0.0, 1.0]])
        >>> raxis.nn.functional.cosine_embedding_loss(a, b, raxis.tensor([1]))
        tensor(1.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    if target.ndim not in (0, 1) or (input1.ndim, input2.ndim) != (target.ndim + 1, target.ndim + 1):
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors (0D or 1D targets only), but found "
            f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    squares1, squares2 = ((operand * operand).sum(-1) + 1e-12 for operand in (input1, input2))
    cosine = (input1 * input2).sum(-1) / (squares1 * squares2).sqrt()
    alike = (1 - cosine).masked_fill(target != 1, 0)
    apart = _positive_part(cosine - margin).masked_fill(target != -1, 0)
    return reduced(alike + apart, reduction)


@functional(
    "multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1.0, Tensor? weight=None, "
    f"{LOSS_TAIL}) -> Tensor"
)
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Mean over classes of ``max(0, margin - input[target] + input[other]) ** p``.

    Args:
        input: scores, [N, C] or [C].
        target: classes, int64, [N] or [].
        p: 1 or 2.
        margin: wanted difference.
        weight: factor of each class, [C].
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: if `p` is neither 1 nor 2.
        RuntimeError: if shapes or dtypes do not fit.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.multi_margin_loss(raxis.tensor([[0.0, 1.0]]), raxis.tensor([1]))
        tensor(0.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError(f"only p == 1 and p == 2 supported, but got {p}")
    if weight is not None and weight.ndim != 1:
        raise ValueError(f"weight must be one-dimensional, but got size {list(weight.shape)}")
    rows, classes = _scored(input, target.reshape(-1, 1), weight)
    gaps = _positive_part(margin - rows.gather(1, classes) + rows) ** p
    if weight is not None:
        gaps = gaps * weight[classes]
    others = gaps.scatter(1, classes, 0.0).sum(1) / rows.shape[1]
    return reduced(others.reshape(target.shape) if target.ndim == 0 else others, reduction)


def _scored(input: Tensor, target: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Scores as [N, C] and classes as [N, K]."""
    if input.ndim > 2 or 0 in input._layout.shape[-1:]:
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    rows = input if input.ndim == 2 else input.reshape(1, -1)
    if target.dtype is not int64:
        raise RuntimeError(f"expected scalar type Long for targets but found {target.dtype}.")
    if target._layout.shape[0] != rows._layout.shape[0]:
        raise RuntimeError(
            f"inconsistent target size: expected {rows.shape[0]} rows, but got {list(target.shape)}."
        )
    if weight is not None and weight._layout.shape != rows._layout.shape[1:]:
        raise RuntimeError(
            f"inconsistent weight size: expected {list(rows.shape[1:])}, but got {list(weight.shape)}."
        )
    return rows, target


@functional(f"multilabel_margin_loss(Tensor input, Tensor target, {LOSS_TAIL}) -> Tensor")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over classes of ``max(0, 1 - (input[wanted] - input[other]))`` for all wanted and other classes.

    Args:
        input: scores, [N, C] or [C].
        target: wanted classes, int64, shape of `input`; those after the first -1 do not count.
        reduction: "mean", "sum" or "none".

    Raises:
        RuntimeError: if shapes or dtypes do not fit.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.multilabel_margin_loss(raxis.tensor([[0.0, 1.0]]), raxis.tensor([[1, -1]]))
        tensor(0.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    if target._layout.shape != input._layout.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    rows, labels = _scored(input, target if target.ndim == 2 else target.reshape(1, -1), None)
    counts = (labels < 0).to(int64).cumsum(1) == 0
    classes = labels.masked_fill(~counts, 0)
    wanted = rows.new_zeros(rows.shape).scatter_add(1, classes, counts.to(rows.dtype)) > 0
    gaps = _positive_part(1 - (rows.gather(1, classes).unsqueeze(2) - rows.unsqueeze(1)))
    counted = counts.unsqueeze(2) & ~wanted.unsqueeze(1)
    losses = gaps.masked_fill(~counted, 0).sum((1, 2)) / rows.shape[1]
    return reduced(losses.reshape(input.shape[:-1]), reduction)


@functional(
    f"multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, {LOSS_TAIL}) -> Tensor"
)
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Binary cross entropy with logits, averaged over the last dimension, the classes.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.multilabel_soft_margin_loss(raxis.zeros(1, 2), raxis.ones(1, 2))
        tensor(0.6931)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return reduced(loss.sum(-1) / input.shape[-1], reduction)


_TRIPLET = "Tensor anchor, Tensor positive, Tensor negative"


@functional(
    f"triplet_margin_loss({_TRIPLET}, float margin=1.0, float p=2, float eps=1e-6, bool swap=False, "
    f"{LOSS_TAIL}) -> Tensor"
)
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``max(0, distance(anchor, positive) - distance(anchor, negative) + margin)``.

    Args:
        anchor: [N, D] or [D].
        positive: shape of `anchor`.
        negative: shape of `anchor`.
        margin: wanted difference of the distances; positive.
        p: the norm's order.
        eps: added to differences.
        swap: use the distance of positive and negative where it is smaller than that of anchor and negative.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: if `margin` is not positive.
        RuntimeError: if the numbers of dimensions differ.

    Example:
        >>> import raxis
        >>> a, b = raxis.tensor([[0.0]]), raxis.tensor([[2.0]])
        >>> raxis.nn.functional.triplet_margin_loss(a, a, b)
        tensor(0.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    return _triplet(
        anchor, positive, negative, lambda x, y: pairwise_distance(x, y, p, eps), margin, swap, reduction
    )


def _triplet(
    anchor: Tensor, positive: Tensor, negative: Tensor, distance: Callable[[Tensor, Tensor], Tensor], margin: float,
    swap: bool, reduction: str,
) -> Tensor:  # fmt: skip
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced(_positive_part(margin + near - far), reduction)


@functional(
    f"triplet_margin_with_distance_loss({_TRIPLET}, *, callable? distance_function=None, float margin=1.0, "
    "bool swap=False, str reduction='mean') -> Tensor"
)
def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Any = None, margin: float = 1.0,
    swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """`triplet_margin_loss` with any distance function of two tensors (default: `pairwise_distance`).

    Raises:
        ValueError: if `margin` is not positive.
        RuntimeError: if the numbers of dimensions differ.

    Example:
        >>> import raxis
        >>> a, b = raxis.tensor([[0.0]]), raxis.tensor([[2.0]])
        >>> raxis.nn.functional.triplet_margin_with_distance_loss(a, a, b)
        tensor(0.)
    """
    reduction = chosen_reduction(None, None, reduction)
    return _triplet(
        anchor, positive, negative, distance_function or pairwise_distance, margin, swap, reduction
    )
