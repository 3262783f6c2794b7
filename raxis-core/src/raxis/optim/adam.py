"""Adam."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

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

__all__ = ["Adam"]


class Adam(Optimizer):
    """Steps along running means of the gradient, divided by the root of running means of its square.

    Source: D. Kingma, J. Ba, "Adam: a method for stochastic optimization", 2014; AMSGrad: S. Reddi et al., "On the
    convergence of Adam and beyond", 2018.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: learning rate.
        betas: how much of the two running means is kept in a step.
        eps: added to the denominator.
        weight_decay: multiple of the parameter that is added to its gradient.
        amsgrad: whether to divide by the largest running mean so far.
        foreach: accepted for compatibility, has no effect.
        maximize: whether to go up instead of down.
        capturable: keep the number of steps on the parameter's device and never read it on the host.
        differentiable: must be false.
        fused: accepted for compatibility, has no effect.
        decoupled_weight_decay: shrink the parameter itself instead of changing its gradient, see `AdamW`.

    Raises:
        ValueError: `lr`, `eps` or `weight_decay` is negative, or one of `betas` is not in [0, 1).

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.tensor(1.0))
        >>> optimizer = raxis.optim.Adam([weight], lr=0.25)
        >>> (weight * 8.0).backward()
        >>> optimizer.step()
        >>> round(weight.item(), 4)
        0.75
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        require_one_element(lr)
        require_at_least_zero(lr, "learning rate")
        require_at_least_zero(eps, "epsilon value")
        require_at_least_zero(weight_decay, "weight_decay value")
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            **execution_options(differentiable, foreach=foreach, fused=fused),
        }
        super().__init__(params, defaults)

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """One step of one parameter."""
        state = self.state[param]
        if not state:
            state.update(self.initial_state(param, group))
        step = counted(state["step"], group)
        written = [param, *(state[name] for name in _moments(group))]
        options = _options(group["maximize"], bool(group["weight_decay"]), group["decoupled_weight_decay"])
        _adam(*real_views(written, [grad]), _numbers(group, step), options=options)

    def initial_state(self, param: Tensor, group: Group) -> dict[str, Tensor]:
        """What is kept for a parameter that had no step yet."""
        return {
            "step": step_counter(param, group),
            **{name: raxis.zeros_like(param) for name in _moments(group)},
        }


def _moments(group: Group) -> tuple[str, ...]:
    return ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))


class _Options(NamedTuple):
    """What distinguishes the formulas."""

    maximize: bool
    decays: bool
    decoupled: bool


_options = cache(_Options)
"""Making a tuple takes longer than finding it."""


def _numbers(group: Group, step: Any) -> list[Any]:
    """Decay (the part that stays, if it is decoupled), weights of new and old moments, size of the step, epsilon.

    Both corrections of the moments' bias are in the last two: ``sqrt(v) / root + eps`` is a sum over `root`.
    """
    beta1, beta2 = group["betas"]
    lr = learning_rate(group)
    root = (1.0 - beta2**step) ** 0.5
    decay = group["weight_decay"]
    if group["decoupled_weight_decay"]:
        decay = 1.0 - lr * decay
    return [
        decay, 1.0 - beta1, beta2, 1.0 - beta2, lr / (1.0 - beta1**step) * root, group["eps"] * root
    ]  # fmt: skip


def _formula(
    written: Sequence[Tensor], read: Sequence[Tensor], numbers: Sequence[Tensor], options: _Options
) -> list[Tensor]:
    param, mean, square, *largest = written
    decay, mean_weight, kept, square_weight, size, eps = numbers
    grad = directed(read[0], options.maximize)
    if options.decays:
        if options.decoupled:
            param = param * decay
        else:
            grad = grad + param * decay
    mean = mean.lerp(grad, mean_weight)
    square = square * kept + grad * grad * square_weight
    largest = [raxis.maximum(item, square) for item in largest]
    root = (largest[0] if largest else square).sqrt()
    return [param - size * mean / (root + eps), mean, square, *largest]


_adam = Update("adam", _formula)
