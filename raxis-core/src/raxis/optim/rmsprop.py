"""RMSprop."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from raxis.optim.groups import Group, Parameters
    from raxis.tensor import Tensor

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
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"]:
            grad = grad.add(param, alpha=group["weight_decay"])
        param, grad, state = real_views(param, grad, state)
        denominator = _root_mean_square(state, grad, group).add_(group["eps"])
        lr = number(group["lr"])
        if group["momentum"]:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, denominator)
            param.add_(buffer, alpha=-lr)
        else:
            param.addcdiv_(grad, denominator, value=-lr)

    def initial_state(self, param: Tensor, group: Group) -> dict[str, Tensor]:
        """What is kept for a parameter that had no step yet."""
        names = ["square_avg"]
        if group["momentum"]:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return {"step": step_counter(param, group), **{name: raxis.zeros_like(param) for name in names}}


def _root_mean_square(state: dict[str, Tensor], grad: Tensor, group: Group) -> Tensor:
    alpha = group["alpha"]
    square = state["square_avg"].mul_(alpha).addcmul_(grad, grad, value=1.0 - alpha)
    if not group["centered"]:
        return square.sqrt()
    mean = state["grad_avg"].lerp_(grad, 1.0 - alpha)
    return square.addcmul(mean, mean, value=-1.0).sqrt_()
