"""Losses between an input and a target of the same shape."""

from __future__ import annotations

import math
import warnings
from typing import Any

from raxis.frames import user_stacklevel
from raxis.ops.definitions.activation import logsigmoid
from raxis.ops.definitions.loss_kernels import logit_cross_entropy, squared_error
from raxis.ops.definitions.loss_reduction import LOSS_TAIL, chosen_reduction, reduced, warn_if_sizes_differ
from raxis.ops.definitions.verdicts import require_fractions, require_none, saying
from raxis.ops.formulas import wide
from raxis.ops.functional import functional
from raxis.ops.promotion import Promotion
from raxis.ops.table import lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

_PAIR = "(Tensor input, Tensor target, "


def _weighted(loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """Weighted losses reduced; their mean is over the weights."""
    if weight is None:
        return reduced(loss, reduction)
    weighted = loss * weight
    if reduction != "mean":
        return reduced(weighted, reduction)
    return weighted.sum() / weight.expand(loss.shape).sum()


def _are_alike(input: Tensor, target: Tensor) -> bool:
    """Whether both have the same shape and floating-point dtype, as a loss that is one loop needs."""
    own, other = input._layout, target._layout
    return own.shape == other.shape and own.dtype is other.dtype and own.dtype.is_floating_point


def _check_weight(input: Tensor, weight: Tensor | None) -> None:
    if weight is not None and weight._layout.shape != input._layout.shape:
        raise ValueError(
            f"Inputs and weights must have the same size, but got {list(input.shape)} and {list(weight.shape)}."
        )


@functional(f"mse_loss{_PAIR}{LOSS_TAIL}, Tensor? weight=None) -> Tensor")
def mse_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Squared difference.

    Args:
        input: any shape.
        target: shape of `input` (others broadcast, with a warning).
        reduction: "mean", "sum" or "none".
        weight: factor of each element, shape of `input`; the mean is then weighted.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.mse_loss(raxis.tensor([1.0, 2.0]), raxis.tensor([1.0, 4.0]))
        tensor(2.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    warn_if_sizes_differ(input, target)
    _check_weight(input, weight)
    if weight is None and _are_alike(input, target):
        return squared_error(input, target, reduction)
    difference = input - target
    return _weighted(difference * difference, weight, reduction)


@functional(f"l1_loss{_PAIR}{LOSS_TAIL}, Tensor? weight=None) -> Tensor")
def l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Absolute difference.

    Args:
        input: any shape.
        target: shape of `input` (others broadcast, with a warning).
        reduction: "mean", "sum" or "none".
        weight: factor of each element, shape of `input`; the mean is then weighted.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.l1_loss(raxis.tensor([1.0, 2.0]), raxis.tensor([1.0, 4.0]))
        tensor(1.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    warn_if_sizes_differ(input, target)
    _check_weight(input, weight)
    return _weighted((input - target).abs(), weight, reduction)


@functional(f"smooth_l1_loss{_PAIR}{LOSS_TAIL}, float beta=1.0) -> Tensor")
def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """Squared below a difference of `beta`, absolute above, smooth between.

    Args:
        input: any shape.
        target: shape of `input` (others broadcast, with a warning).
        reduction: "mean", "sum" or "none".
        beta: where the loss becomes linear; 0 gives `l1_loss`.

    Raises:
        RuntimeError: if `beta` is negative.

    Source: Girshick, "Fast R-CNN", ICCV 2015.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.smooth_l1_loss(raxis.tensor([0.0, 3.0]), raxis.tensor([1.0, 0.0]), reduction="none")
        tensor([0.5000, 2.5000])
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    warn_if_sizes_differ(input, target)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, but got {beta}.")
    distance = (input - target).abs()
    if beta == 0:
        return reduced(distance, reduction)
    near = distance * distance * (0.5 / beta)
    return reduced(near.where(distance < beta, distance - 0.5 * beta), reduction)


@functional(
    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor"
)
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the squared difference up to `delta`, linear above.

    Args:
        input: any shape.
        target: shape of `input` (others broadcast, with a warning).
        reduction: "mean", "sum" or "none".
        delta: where the loss becomes linear.
        weight: factor of each element, shape of `input`; the mean is then weighted.

    Raises:
        RuntimeError: if `delta` is not positive.

    Source: Huber, "Robust Estimation of a Location Parameter", 1964.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.huber_loss(raxis.tensor([0.0, 3.0]), raxis.tensor([1.0, 0.0]), reduction="none")
        tensor([0.5000, 2.5000])
    """
    reduction = chosen_reduction(None, None, reduction)
    warn_if_sizes_differ(input, target)
    _check_weight(input, weight)
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, but got {delta}.")
    distance = (input - target).abs()
    loss = (0.5 * distance * distance).where(distance <= delta, delta * (distance - 0.5 * delta))
    return _weighted(loss, weight, reduction)


def _log_loss_gradient(grad: Tensor, input: Tensor, target: Tensor) -> Tensor:
    return grad * (input - target) / (input * (1 - input)).clamp(min=1e-12)


@lowered(
    "_binary_cross_entropy(Tensor input, Tensor target) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    vjp={
        "input": _log_loss_gradient,
        "target": lambda grad, input: grad * ((1 - input).log().clamp(min=-100) - input.log().clamp(min=-100)),
    },
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def _binary_cross_entropy(input: Tensor, target: Tensor) -> Any:
    """``-(target * log(input) + (1 - target) * log(1 - input))`` with logarithms of at least -100."""
    probability, truth = wide(input), wide(target)
    shape, dtype = probability._layout.shape, probability.dtype
    floor = constant(-100, dtype, shape)
    yes = emit("maximum", emit("log", probability), floor)
    no = emit("maximum", emit("log1p", emit("neg", probability)), floor)
    against = emit("mul", emit("sub", truth, constant(1, dtype, shape)), no)
    return cast(emit("sub", against, emit("mul", truth, yes)), input.dtype)


def _require_same_size(input: Tensor, target: Tensor) -> None:
    if input._layout.shape != target._layout.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )


@functional(f"binary_cross_entropy{_PAIR}Tensor? weight=None, {LOSS_TAIL}) -> Tensor")
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Cross entropy between probabilities and truth, both in [0, 1].

    Args:
        input: probabilities, any shape.
        target: shape of `input`.
        weight: factor of each element; must broadcast.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: if the shapes differ.
        RuntimeError: if an element is not between 0 and 1.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.binary_cross_entropy(raxis.tensor([0.5]), raxis.tensor([1.0]))
        tensor(0.6931)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    _require_same_size(input, target)
    for name, value in (("input", input), ("target", target)):
        require_fractions(value, f"all elements of {name} should be between 0 and 1")
    loss = _binary_cross_entropy(input, target)
    return reduced(loss if weight is None else loss * weight, reduction)


@functional(
    f"binary_cross_entropy_with_logits{_PAIR}Tensor? weight=None, {LOSS_TAIL}, Tensor? pos_weight=None) -> Tensor"
)
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Cross entropy between ``sigmoid(input)`` and truth in [0, 1], without overflow.

    Args:
        input: logits, any shape.
        target: shape of `input`.
        weight: factor of each element; must broadcast.
        reduction: "mean", "sum" or "none".
        pos_weight: factor of the positive part; must broadcast.

    Raises:
        ValueError: if the shapes differ.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.binary_cross_entropy_with_logits(raxis.tensor([0.0]), raxis.tensor([1.0]))
        tensor(0.6931)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    _require_same_size(input, target)
    if weight is None and pos_weight is None and _are_alike(input, target):
        return logit_cross_entropy(input, target, reduction)
    logs = logsigmoid(input)
    if pos_weight is not None:
        logs = ((pos_weight - 1) * target + 1) * logs
    loss = (1 - target) * input - logs
    return reduced(loss if weight is None else loss * weight, reduction)


@functional(f"kl_div{_PAIR}{LOSS_TAIL}, bool log_target=False) -> Tensor")
def kl_div(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", log_target: bool = False,
) -> Tensor:  # fmt: skip
    """Terms of the Kullback-Leibler divergence of the target from the input.

    Args:
        input: log-probabilities, any shape.
        target: probabilities (log-probabilities with `log_target`), shape of `input`.
        reduction: "batchmean" (the divergence per row), "mean" (per element), "sum" or "none".
        log_target: whether the target is given as logarithms.

    Example:
        >>> import raxis
        >>> p = raxis.tensor([[0.5, 0.5]])
        >>> raxis.nn.functional.kl_div(p.log(), p, reduction="batchmean")
        tensor(0.)
    """
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    per_row = reduction == "batchmean"
    chosen = "sum" if per_row else chosen_reduction(size_average, reduce, reduction)
    terms = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    loss = reduced(terms, chosen)
    return loss / input.shape[0] if per_row and input.ndim else loss


@functional(
    f"poisson_nll_loss{_PAIR}bool log_input=True, bool full=False, bool? size_average=None, float eps=1e-8, "
    "bool? reduce=None, str reduction='mean') -> Tensor"
)
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood of counts under Poisson distributions.

    Args:
        input: expected counts, or their logarithms with `log_input`.
        target: counts, shape of `input`.
        log_input: whether `input` is a logarithm.
        full: add Stirling's approximation of ``log(target!)`` where the target is above 1.
        eps: added before a logarithm is taken.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: if `reduction` is unknown.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.poisson_nll_loss(raxis.tensor([0.0]), raxis.tensor([1.0]))
        tensor(1.)
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


@functional(
    "gaussian_nll_loss(Tensor input, Tensor target, Tensor|Scalar var, bool full=False, float eps=1e-6, "
    "str reduction='mean') -> Tensor"
)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of values under normal distributions.

    Args:
        input: expected values.
        target: values; must broadcast with `input`.
        var: variances; shape of `input`, or with size 1 in one dimension, or without its last; or one number.
        full: add the constant ``log(2 * pi) / 2``.
        eps: least variance.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: if shapes do not fit or a variance is negative.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.gaussian_nll_loss(raxis.zeros(2), raxis.ones(2), raxis.ones(2))
        tensor(0.5000)
    """
    reduction = chosen_reduction(None, None, reduction)
    variance = _variances(input, var)
    require_none(variance < 0, saying(ValueError, "var has negative entry/entries"))
    # The clamp is invisible to derivatives, as in PyTorch.
    least = variance + (variance.detach().clamp(min=eps) - variance.detach())
    loss = 0.5 * (least.log() + (input - target) ** 2 / least)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variances(input: Tensor, var: Tensor | float) -> Tensor:
    if not isinstance(var, Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return var * input.new_ones(input.shape)
    own, shape = var._layout.shape, input._layout.shape
    if own == shape:
        return var
    if own == shape[:-1]:
        return var.unsqueeze(-1)
    if len(own) == len(shape) and [size for size, whole in zip(own, shape, strict=True) if size != whole] == [
        1
    ]:
        return var
    raise ValueError(
        f"var is of incorrect size: expected {list(shape)}, the same with one dimension of size 1, or "
        f"{list(shape[:-1])}, but got {list(own)}."
    )
