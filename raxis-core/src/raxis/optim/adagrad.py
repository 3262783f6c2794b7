"""Adagrad."""

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

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Divides gradients by the root of the sum of their squares so far.

    Source: J. Duchi et al., "Adaptive subgradient methods for online learning and stochastic optimization", 2011.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate.
        lr_decay: the learning rate is divided by 1 + `lr_decay` · (steps so far).
        weight_decay: multiple of the parameter that is added to its gradient.
        initial_accumulator_value: what sums start with.
        eps: added to the denominator.
        foreach: accepted for compatibility, has no effect.
        maximize: whether to go up instead of down.
        differentiable: must be false.
        fused: accepted for compatibility, has no effect.

    Raises:
        ValueError: a number is negative.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.tensor(1.0))
        >>> optimizer = raxis.optim.Adagrad([weight], lr=0.25)
        >>> (weight * 8.0).backward()
        >>> optimizer.step()
        >>> round(weight.item(), 4)
        0.75
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_one_element(lr)
        require_at_least_zero(lr, "learning rate")
        require_at_least_zero(lr_decay, "lr_decay value")
        require_at_least_zero(weight_decay, "weight_decay value")
        require_at_least_zero(initial_accumulator_value, "initial_accumulator_value value")
        require_at_least_zero(eps, "epsilon value")
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "maximize": maximize,
            **execution_options(differentiable, foreach=foreach, fused=fused),
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters; their sums start now, so that they can be shared before the first step."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for param in group["params"]:
            start = group["initial_accumulator_value"]
            sums = raxis.full_like(param, complex(start, start) if param.is_complex() else start)
            self.state[param].update(step=step_counter(param, group), sum=sums)

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """One step of one parameter."""
        state = self.state[param]
        step = counted(state["step"], group)
        lr = learning_rate(group) / (1.0 + (step - 1.0) * group["lr_decay"])
        options = _options(group["maximize"], bool(group["weight_decay"]))
        numbers = [lr, group["weight_decay"], group["eps"]]
        _adagrad(*real_views([param, state["sum"]], [grad]), numbers, options=options)


class _Options(NamedTuple):
    """What distinguishes the formulas."""

    maximize: bool
    decays: bool


_options = cache(_Options)
"""Making a tuple takes longer than finding it."""


def _formula(
    written: Sequence[Tensor], read: Sequence[Tensor], numbers: Sequence[Tensor], options: _Options
) -> list[Tensor]:
    param, total = written
    lr, decay, eps = numbers
    grad = directed(read[0], options.maximize)
    if options.decays:
        grad = grad + param * decay
    total = total + grad * grad
    return [param - lr * (grad / (total.sqrt() + eps)), total]


_adagrad = Update("adagrad", _formula)
