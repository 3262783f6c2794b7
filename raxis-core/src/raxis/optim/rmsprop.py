"""RMSprop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import raxis
from raxis.ops.update import Update
from raxis.optim.optimizer import Optimizer
from raxis.optim.options import (
    counted,
    directed,
    execution_options,
    learning_rate,
    real_views,
    require_at_least_zero,
    require_one_element,
    step_counter,
)
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.optim.groups import Group, Parameters

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Divides gradients by the root of a running mean of their squares.

    Source: T. Tieleman, G. Hinton, "Lecture 6.5: rmsprop", Coursera, 2012; centred: A. Graves, "Generating sequences
    with recurrent neural networks", 2013.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate.
        alpha: how much of the running means is kept in a step.
        eps: added to the denominator.
        weight_decay: multiple of the parameter that is added to its gradient.
        momentum: how much of the previous step is kept.
        centered: whether to subtract the square of the running mean of the gradient.
        capturable: keep the number of steps on the parameter's device.
        foreach: accepted for compatibility, has no effect.
        maximize: whether to go up instead of down.
        differentiable: must be false.

    Raises:
        ValueError: a number is negative.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.tensor(1.0))
        >>> optimizer = raxis.optim.RMSprop([weight], lr=0.25, alpha=0.75)
        >>> (weight * 8.0).backward()
        >>> optimizer.step()
        >>> round(weight.item(), 4)
        0.5
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_one_element(lr)
        require_at_least_zero(lr, "learning rate")
        require_at_least_zero(eps, "epsilon value")
        require_at_least_zero(momentum, "momentum value")
        require_at_least_zero(weight_decay, "weight_decay value")
        require_at_least_zero(alpha, "alpha value")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "maximize": maximize,
            **execution_options(differentiable, foreach=foreach),
        }
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """One step of one parameter."""
        state = self.state[param]
        if not state:
            state.update(self.initial_state(param, group))
        counted(state["step"], group)
        written = [param, *(state[name] for name in _means(group))]
        options = _options(
            group["maximize"], bool(group["weight_decay"]), bool(group["momentum"]), group["centered"]
        )
        alpha = group["alpha"]
        numbers = [
            learning_rate(group), group["weight_decay"], group["momentum"], alpha, 1.0 - alpha, group["eps"]
        ]  # fmt: skip
        _rmsprop(*real_views(written, [grad]), numbers, options=options)

    def initial_state(self, param: Tensor, group: Group) -> dict[str, Tensor]:
        """What is kept for a parameter that had no step yet."""
        return {
            "step": step_counter(param, group),
            **{name: raxis.zeros_like(param) for name in _means(group)},
        }


def _means(group: Group) -> list[str]:
    optional = {"momentum_buffer": group["momentum"], "grad_avg": group["centered"]}
    return ["square_avg", *(name for name, used in optional.items() if used)]


class _Options(NamedTuple):
    """What distinguishes the formulas."""

    maximize: bool
    decays: bool
    moves: bool
    centered: bool


_options = cache(_Options)
"""Making a tuple takes longer than finding it."""


def _formula(
    written: Sequence[Tensor], read: Sequence[Tensor], numbers: Sequence[Tensor], options: _Options
) -> list[Tensor]:
    param, square, *others = written
    lr, decay, momentum, kept, weight, eps = numbers
    grad = directed(read[0], options.maximize)
    if options.decays:
        grad = grad + param * decay
    square = square * kept + grad * grad * weight
    variance, means = square, []
    if options.centered:
        means = [others[-1].lerp(grad, weight)]
        variance = square - means[0] * means[0]
    grad = grad / (variance.sqrt() + eps)
    buffers = [others[0] * momentum + grad] if options.moves else []
    return [param - (buffers[0] if buffers else grad) * lr, square, *buffers, *means]


_rmsprop = Update("rmsprop", _formula)
