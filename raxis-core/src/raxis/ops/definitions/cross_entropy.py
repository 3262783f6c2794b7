"""Negative log likelihood and cross entropy."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import int64, uint8
from raxis.layout import Layout
from raxis.ops.definitions.loss_reduction import chosen_reduction, reduced
from raxis.ops.definitions.softmax import log_softmax
from raxis.ops.formulas import wide
from raxis.ops.functional import functional
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.tensor import Tensor

_OPTIONS: dict[str, Any] = {"composite": True, "method": False, "function": False, "out": False}


def _chosen(target: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """Which targets count, and their classes (0 for those that do not)."""
    classes = cast(target, int64)
    shape = classes._layout.shape
    counted = emit("ne", classes, constant(ignore_index, int64, shape))
    return counted, emit("select", counted, classes, constant(0, int64, shape))


def _coefficients(counted: Tensor, classes: Tensor, weight: Tensor | None, dtype: Any) -> Tensor:
    """The weight of every target; 0 for those that do not count."""
    shape = classes._layout.shape
    if weight is None:
        return cast(counted, dtype)
    return emit("select", counted, emit("take", wide(weight), classes, dim=0), constant(0, dtype, shape))


def _with_class_dim(target: Tensor) -> Tensor:
    batch, *rest = target._layout.shape
    return emit("reshape", target, shape=(batch, 1, *rest))


@lowered(
    "_nll_loss(Tensor input, Tensor target, Tensor? weight, int ignore_index, str reduction) "
    "-> (Tensor output, Tensor total_weight)",
    vjp={
        "input": lambda grad, target, weight, results, input_layout, ignore_index, reduction: (
            _nll_loss_gradient(grad, target, weight, results[1], input_layout.shape, ignore_index, reduction)
        )
    },
    **_OPTIONS,
)
def _nll_loss(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Any:
    """Weighted negative elements of `input` [N, C, ...] at the classes `target` [N, ...], and the sum of weights."""
    counted, classes = _chosen(target, ignore_index)
    picked = emit("gather", wide(input), _with_class_dim(classes), dim=1)
    dtype, shape = picked.dtype, classes._layout.shape
    weights = _coefficients(counted, classes, weight, dtype)
    product = emit("mul", emit("neg", emit("reshape", picked, shape=shape)), weights)
    losses = emit("select", counted, product, constant(0, dtype, shape))
    dims = tuple(range(len(shape)))
    total = emit("reduce_sum", weights, dims=dims)
    if reduction != "none":
        losses = emit("reduce_sum", losses, dims=dims)
    if reduction == "mean":
        losses = emit("div", losses, total)
    return cast(losses, input.dtype), total


@lowered(
    "_nll_loss_gradient(Tensor grad, Tensor target, Tensor? weight, Tensor total_weight, int[] size, int ignore_index, "
    "str reduction) -> Tensor",
    vjp={
        "grad": lambda grad, target, weight, ignore_index, reduction: _nll_loss(
            grad, target, weight, ignore_index, reduction
        )[0]
    },
    **_OPTIONS,
)
def _nll_loss_gradient(
    grad: Tensor, target: Tensor, weight: Tensor | None, total_weight: Tensor, size: tuple[int, ...], ignore_index: int,
    reduction: str,
) -> Any:  # fmt: skip
    """Minus the weighted gradient at every target's class, 0 elsewhere."""
    counted, classes = _chosen(target, ignore_index)
    share, shape = wide(grad), classes._layout.shape
    if reduction == "mean":
        share = emit("div", share, total_weight)
    dtype = share.dtype
    product = emit(
        "mul", emit("neg", broadcast(share, shape)), _coefficients(counted, classes, weight, dtype)
    )
    updates = emit("select", counted, product, constant(0, dtype, shape))
    others = tuple(axis for axis in range(len(size)) if axis != 1)
    spread, values = (emit("broadcast", part, shape=size, dims=others) for part in (classes, updates))
    at_class = emit("eq", emit("iota", shape=size, dtype=int64, dim=1), spread)
    return cast(emit("select", at_class, values, constant(0, dtype, size)), grad.dtype)


def _check_targets(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    shape, own = input._layout.shape, target._layout.shape
    if not shape:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(shape) > 1 and shape[:1] != own[:1]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({own[0] if own else 'none'})."
        )
    if target.dtype not in (int64, uint8):
        raise RuntimeError(f"expected scalar type Long for class indices but found {target.dtype}.")
    expected = own == shape[:1] + shape[2:] if len(shape) > 1 else own in ((), (1,))
    if not expected:
        raise RuntimeError(
            f"Expected target size {list(shape[:1] + shape[2:])}, got {list(own)}: one class per element."
        )
    classes = shape[1] if len(shape) > 1 else shape[0]
    if weight is not None and weight._layout.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(
            f"expected weight of dtype {input.dtype}, like the input, but found {weight.dtype}."
        )


def _likelihood(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    _check_targets(input, target, weight)
    if input.ndim > 1:
        return _nll_loss(input, target, weight, ignore_index, reduction)[0]
    loss: Tensor = _nll_loss(input.unsqueeze(0), target.reshape(1), weight, ignore_index, reduction)[0]
    return loss.reshape(target.shape) if reduction == "none" else loss


@functional(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, "
    "bool? reduce=None, str reduction='mean') -> Tensor"
)
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood of class indices under log-probabilities.

    Args:
        input: log-probabilities, [N, C], [C] or [N, C, ...].
        target: classes, int64, [N], [] or [N, ...].
        weight: weight of each class, [C], in the input's dtype.
        ignore_index: targets of this value do not count.
        reduction: "mean" (weighted, over the targets that count), "sum" or "none".

    Raises:
        ValueError: if batch sizes differ.
        RuntimeError: if other sizes or dtypes do not fit.
        IndexError: if a target is not a class.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.nll_loss(raxis.tensor([[-1.0, -2.0]]), raxis.tensor([1]))
        tensor(2.)
    """
    return _likelihood(input, target, weight, ignore_index, chosen_reduction(size_average, reduce, reduction))


@functional(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, "
    "bool? reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor"
)
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Cross entropy between logits and classes or class probabilities.

    Args:
        input: unnormalised log-probabilities, [N, C], [C] or [N, C, ...].
        target: classes, int64, without the class dimension; or probabilities in the input's shape.
        weight: weight of each class, [C].
        ignore_index: targets of this value do not count; class indices only.
        reduction: "mean" (weighted, over the targets that count), "sum" or "none".
        label_smoothing: share of the probability that goes to all classes alike, in [0, 1].

    Raises:
        ValueError: if batch sizes differ.
        RuntimeError: if other sizes, dtypes or numbers do not fit.
        IndexError: if a target is not a class.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.cross_entropy(raxis.tensor([[0.0, 0.0]]), raxis.tensor([1]))
        tensor(0.6931)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if input.ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if target._layout.shape == input._layout.shape:
        return _of_probabilities(input, target, weight, ignore_index, reduction, label_smoothing)
    logs = log_softmax(input, 1 if input.ndim > 1 else 0)
    loss = _likelihood(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return loss
    smooth = _uniform_part(logs, target, weight, ignore_index, reduction)
    return (1 - label_smoothing) * loss + label_smoothing / _classes(input._layout) * smooth


@functional(
    "linear_cross_entropy(Tensor input, Tensor linear_weight, Tensor target, *, Tensor? linear_bias=None, "
    "Tensor? weight=None, str reduction='mean', int? ignore_index=None, float label_smoothing=0.0, any options=None) "
    "-> Tensor"
)
def linear_cross_entropy(
    input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
    weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
    label_smoothing: float = 0.0, options: Any = None,
) -> Tensor:  # fmt: skip
    """`cross_entropy` of a linear layer's outputs.

    Args:
        input: [..., F].
        linear_weight: [C, F] or, for several predictions each, [C, ..., F].
        target: as for `cross_entropy`, as the other arguments.
        linear_bias: `linear_weight`'s shape without F.
        options: how PyTorch divides the work, on which the result does not depend; not looked at.

    Raises:
        RuntimeError: if shapes do not fit, or `ignore_index` is given for probabilities.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.linear_cross_entropy(raxis.zeros(1, 2), raxis.zeros(3, 2), raxis.tensor([0]))
        tensor(1.0986)
    """
    _check_linear(input, linear_weight, linear_bias)
    if ignore_index is not None and target.dtype.is_floating_point:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    outputs = input @ linear_weight.flatten(0, -2).mT
    logits = outputs.reshape(*input.shape[:-1], *linear_weight.shape[:-1])
    if linear_bias is not None:
        logits = logits + linear_bias
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


def _check_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.ndim}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    if input.ndim == 1 and weight.ndim > 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {list(weight.shape)} requires batched input, "
            f"[N, {weight.shape[-1]}], got unbatched input with shape {list(input.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {list(weight.shape[:-1])}, got {list(bias.shape)}")


def _classes(layout: Layout) -> int:
    return layout.shape[1] if layout.ndim > 1 else layout.shape[0]


def _weighted(logs: Tensor, weight: Tensor | None) -> Tensor:
    if weight is None:
        return logs
    return logs * (weight.reshape(1, -1, *(1,) * (logs.ndim - 2)) if logs.ndim > 1 else weight)


def _of_probabilities(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Tensor:
    if not target.dtype.is_floating_point:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target.dtype}: targets of the "
            "input's shape are probabilities."
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if weight is not None and weight._layout.shape != (_classes(input._layout),):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {_classes(input._layout)} classes or no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )
    axis = 1 if input.ndim > 1 else 0
    if label_smoothing:
        target = target * (1 - label_smoothing) + label_smoothing / _classes(input._layout)
    products = _weighted(log_softmax(input, axis) * target, weight)
    if reduction == "mean":
        elements = input._layout.numel // max(_classes(input._layout), 1)
        total = -products.sum()
        return total / elements if elements else total * float("nan")
    return -products.sum(axis) if reduction == "none" else -products.sum()


def _uniform_part(
    logs: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    """The loss under the uniform distribution over classes, not yet divided by their number."""
    ignored = target == ignore_index
    losses = -_weighted(logs, weight).sum(1 if logs.ndim > 1 else 0)
    losses = losses.masked_fill(ignored, 0.0)
    if reduction != "mean":
        return reduced(losses, reduction)
    if weight is None:
        return losses.sum() / (~ignored).sum()
    used = weight.detach()[target.masked_fill(ignored, 0)].masked_fill(ignored, 0.0)
    return losses.sum() / used.sum()
