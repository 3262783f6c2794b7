"""Options that several optimizers share: their checks, and the count of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import raxis
from raxis.compiler.numbers import fresh_number
from raxis.interception import active
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.optim.groups import Group


def number(value: Any) -> Any:
    """The Python number of an option that may be given as a tensor with one element."""
    return value.item() if isinstance(value, Tensor) else value


def learning_rate(group: Group) -> Any:
    """The learning rate of this step; a compiled function reads it anew at each call."""
    lr = group["lr"]
    if isinstance(lr, Tensor):
        return lr if group.get("capturable") or active.recording is not None else lr.item()
    return fresh_number((id(group), "lr"), lambda: group["lr"])


def require_one_element(lr: Any) -> None:
    """Refuse a learning rate that is a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, but got shape {tuple(lr.shape)}")


def require_at_least_zero(value: Any, text: str) -> None:
    """Refuse numbers below zero and NaN."""
    if not number(value) >= 0.0:
        raise ValueError(f"Invalid {text}: {value}")


def execution_options(differentiable: bool, **hints: bool | None) -> dict[str, Any]:
    """PyTorch's options for how a step is executed, kept in the groups so that checkpoints have its layout.

    The hints `foreach` and `fused` never change the result of a step and need no action here.

    Raises:
        RuntimeError: `foreach` and `fused` are both true.
        NotImplementedError: `differentiable` is true.
    """
    if hints.get("foreach") and hints.get("fused"):
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if differentiable:
        raise NotImplementedError(
            "differentiable=True would record the step itself; steps run without recording, use differentiable=False."
        )
    return {**hints, "differentiable": differentiable}


def step_counter(param: Tensor, group: Group) -> Tensor:
    """A count of steps that starts at zero: on the host, unless the group is capturable."""
    device = param.device if group.get("capturable") else "cpu"
    return raxis.zeros((), dtype=raxis.float32, device=device)


def counted(step: Tensor, group: Group) -> Any:
    """The number of steps, this one included: a Python number unless the group is capturable."""
    step.add_(1.0)
    if active.recording is not None:
        return step.double()  # a number of the program, as exact as the host's
    return step if group.get("capturable") else step.item()


def directed(grad: Tensor, maximize: bool) -> Tensor:
    """The gradient to descend along: the other way round to go up."""
    return -grad if maximize else grad


def real_views(written: list[Tensor], read: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Complex tensors as real ones, their parts along one more dimension: each part is a parameter of its own."""
    if not written[0].dtype.is_complex:
        return written, read
    return [raxis.view_as_real(tensor) for tensor in written], [raxis.view_as_real(tensor) for tensor in read]
