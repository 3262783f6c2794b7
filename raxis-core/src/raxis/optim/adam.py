"""Adam."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import raxis
from raxis.optim.optimizer import Optimizer
from raxis.optim.options import (
    counted,
    execution_options,
    number,
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
        if group["maximize"]:
            grad = -grad
        param, grad, state = real_views(param, _decayed(param, grad, group), state)
        step = counted(state["step"], group)
        beta1, beta2 = group["betas"]
        state["exp_avg"].lerp_(grad, 1.0 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1.0 - beta2)
        denominator = _second_moment(state, group).sqrt().div_((1.0 - beta2**step) ** 0.5).add_(group["eps"])
        _move(param, state["exp_avg"], denominator, _learning_rate(group) / (1.0 - beta1**step))

    def initial_state(self, param: Tensor, group: Group) -> dict[str, Tensor]:
        """What is kept for a parameter that had no step yet."""
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        return {
            "step": step_counter(param, group),
            **{name: raxis.zeros_like(param) for name in names},
        }


def _decayed(param: Tensor, grad: Tensor, group: Group) -> Tensor:
    """Apply weight decay, to the parameter itself or to the gradient that is returned."""
    decay = group["weight_decay"]
    if not decay:
        return grad
    if group["decoupled_weight_decay"]:
        param.mul_(1.0 - _learning_rate(group) * decay)
        return grad
    return grad.add(param, alpha=decay)


def _learning_rate(group: Group) -> Any:
    return group["lr"] if group["capturable"] else number(group["lr"])


def _second_moment(state: dict[str, Tensor], group: Group) -> Tensor:
    if not group["amsgrad"]:
        return state["exp_avg_sq"]
    largest = state["max_exp_avg_sq"]
    return largest.copy_(raxis.maximum(largest, state["exp_avg_sq"]))


def _move(param: Tensor, direction: Tensor, denominator: Tensor, size: Any) -> None:
    """Subtract `size` · `direction` / `denominator`."""
    if isinstance(size, Tensor):
        param.addcdiv_(direction * -size, denominator)
    else:
        param.addcdiv_(direction, denominator, value=-size)
