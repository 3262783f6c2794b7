"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import raxis
from raxis.ops.update import Update
from raxis.optim.optimizer import Optimizer
from raxis.optim.options import (
    directed,
    execution_options,
    learning_rate,
    real_views,
    require_at_least_zero,
    require_one_element,
)
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.optim.groups import Group, Parameters

__all__ = ["SGD"]


class SGD(Optimizer):
    """Stochastic gradient descent, optionally with momentum.

    Source: I. Sutskever et al., "On the importance of initialization and momentum in deep learning", 2013 (Nesterov).

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate.
        momentum: how much of the previous step is kept.
        dampening: part of the gradient that does not enter the momentum.
        weight_decay: multiple of the parameter that is added to its gradient.
        nesterov: whether to look ahead along the momentum.
        maximize: whether to go up instead of down.
        foreach: accepted for compatibility, has no effect.
        differentiable: must be false.
        fused: accepted for compatibility, has no effect.

    Raises:
        ValueError: `lr`, `momentum` or `weight_decay` is negative, or `nesterov` is combined with no momentum or with
            dampening.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.tensor(1.0))
        >>> optimizer = raxis.optim.SGD([weight], lr=0.25)
        >>> (weight * 2.0).backward()
        >>> optimizer.step()
        >>> weight.item()
        0.5
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_one_element(lr)
        require_at_least_zero(lr, "learning rate")
        require_at_least_zero(momentum, "momentum value")
        require_at_least_zero(weight_decay, "weight_decay value")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            **execution_options(differentiable, foreach=foreach, fused=fused),
        }
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """One step of one parameter."""
        written, begins = [param], False
        if group["momentum"]:
            state = self.state[param]
            begins = state.get("momentum_buffer") is None
            if begins:
                state["momentum_buffer"] = raxis.empty_like(param)
            written.append(state["momentum_buffer"])
        options = _options(group["maximize"], bool(group["weight_decay"]), begins, group["nesterov"])
        numbers = [learning_rate(group), group["weight_decay"], group["momentum"], 1.0 - group["dampening"]]
        _sgd(*real_views(written, [grad]), numbers, options=options)


class _Options(NamedTuple):
    """What distinguishes the formulas; `begins` if there is no momentum yet."""

    maximize: bool
    decays: bool
    begins: bool
    nesterov: bool


_options = cache(_Options)
"""Making a tuple takes longer than finding it."""


def _formula(
    written: Sequence[Tensor], read: Sequence[Tensor], numbers: Sequence[Tensor], options: _Options
) -> list[Tensor]:
    param, *buffers = written
    lr, decay, momentum, undamped = numbers
    grad = directed(read[0], options.maximize)
    if options.decays:
        grad = grad + param * decay
    buffers = [grad if options.begins else buffer * momentum + grad * undamped for buffer in buffers]
    for buffer in buffers:
        grad = grad + buffer * momentum if options.nesterov else buffer
    return [param - grad * lr, *buffers]


_sgd = Update("sgd", _formula)
