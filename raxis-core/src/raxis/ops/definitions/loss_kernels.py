"""Losses as lowered ops, reduced in the loop that computes them; `losses` gives them their public signatures.

Their gradients are one loop too: the derivative of an element's loss, times what reaches the reduced loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis.ops.definitions.exponentials import sigmoid
from raxis.ops.formulas import widened
from raxis.ops.promotion import Promotion
from raxis.ops.table import Decorator, lowered
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor

_SIGNATURE = "(Tensor input, Tensor target, str reduction) -> Tensor"
_GRADIENT = "(Tensor upstream, Tensor input, Tensor target, float share) -> Tensor"


def _registered(schema: str, vjp: Any) -> Decorator:
    """Register an op that computes half precision in float32."""
    return lambda body: lowered(
        schema, vjp=vjp, promotion=Promotion.ARITHMETIC, composite=True, method=False, function=False, out=False
    )(widened(body))  # fmt: skip


def _reduced(losses: Tensor, reduction: str) -> Any:
    """The losses themselves, their sum or their mean."""
    if reduction == "none":
        return losses
    layout = losses._layout
    total = emit("reduce_sum", losses, dims=tuple(range(layout.ndim)))
    return total if reduction == "sum" else emit("div", total, constant(layout.numel, total.dtype))


def _share(input: Tensor, reduction: str) -> float:
    """What one element's loss counts in the reduced one."""
    return 1 / max(input._layout.numel, 1) if reduction == "mean" else 1.0


def _factor(number: float, like: Tensor) -> Tensor:
    return constant(number, like.dtype, like._layout.shape)


# ---- the squared error -----------------------------------------------------------------------------


def _squared_error_gradients(
    grad: Tensor, input: Tensor, target: Tensor, reduction: str, needs: Sequence[bool]
) -> tuple[Tensor, Tensor | None]:
    by_input = _scaled_difference(grad, input, target, 2 * _share(input, reduction))
    return by_input, -by_input if needs[1] else None


@_registered(f"_squared_error{_SIGNATURE}", vjp={("input", "target"): _squared_error_gradients})
def squared_error(input: Tensor, target: Tensor, reduction: str) -> Any:
    """Squares of ``input - target`` for operands of equal shape, reduced."""
    difference = emit("sub", input, target)
    return _reduced(emit("mul", difference, difference), reduction)


@_registered(
    f"_scaled_difference{_GRADIENT}",
    vjp={
        "upstream": lambda grad, input, target, share: grad * (input - target) * share,
        "input": lambda grad, upstream, share: grad * upstream * share,
        "target": lambda grad, upstream, share: -grad * upstream * share,
    },
)
def _scaled_difference(upstream: Tensor, input: Tensor, target: Tensor, share: float) -> Any:
    """``(input - target) * upstream * share``."""
    return emit("mul", emit("mul", emit("sub", input, target), _factor(share, input)), upstream)


# ---- binary cross entropy with logits --------------------------------------------------------------


@_registered(
    f"_logit_cross_entropy{_SIGNATURE}",
    vjp={
        "input": lambda grad, input, target, reduction: _logit_cross_entropy_gradient(
            grad, input, target, _share(input, reduction)
        ),
        "target": lambda grad, input, reduction: -grad * input * _share(input, reduction),
    },
)
def logit_cross_entropy(input: Tensor, target: Tensor, reduction: str) -> Any:
    """``(1 - target) * input - log(sigmoid(input))`` for operands of equal shape, reduced."""
    against = emit("mul", emit("sub", _factor(1, input), target), input)
    # -log(sigmoid(x)) = log1p(exp(-|x|)) - min(x, 0)
    tail = emit("log1p", emit("exp", emit("neg", emit("abs", input))))
    loss = emit("add", emit("sub", against, emit("minimum", input, _factor(0, input))), tail)
    return _reduced(loss, reduction)


@_registered(
    f"_logit_cross_entropy_gradient{_GRADIENT}",
    vjp={
        "upstream": lambda grad, input, target, share: grad * (input.sigmoid() - target) * share,
        "input": lambda grad, upstream, input, share: (
            grad * upstream * input.sigmoid() * (1 - input.sigmoid()) * share
        ),
        "target": lambda grad, upstream, share: -grad * upstream * share,
    },
)
def _logit_cross_entropy_gradient(upstream: Tensor, input: Tensor, target: Tensor, share: float) -> Any:
    """``(sigmoid(input) - target) * upstream * share``."""
    return emit("mul", emit("mul", emit("sub", sigmoid(input), target), _factor(share, input)), upstream)
