"""Checks of the options that several optimizers share."""

from __future__ import annotations

from typing import Any

from raxis.tensor import Tensor


def number(value: Any) -> Any:
    """The Python number of an option that may be given as a tensor with one element."""
    return value.item() if isinstance(value, Tensor) else value


def require_one_element(lr: Any) -> None:
    """Refuse a learning rate that is a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element, but got shape {tuple(lr.shape)}")


def require_at_least_zero(value: Any, text: str) -> None:
    """Refuse numbers below zero and NaN."""
    if not number(value) >= 0.0:
        raise ValueError(f"Invalid {text}: {value}")


def execution_options(foreach: bool | None, fused: bool | None, differentiable: bool) -> dict[str, Any]:
    """PyTorch's options for how a step is executed, kept in the groups so that checkpoints have its layout.

    `foreach` and `fused` never change the result of a step and need no action here.

    Raises:
        RuntimeError: `foreach` and `fused` are both true.
        NotImplementedError: `differentiable` is true.
    """
    if foreach and fused:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if differentiable:
        raise NotImplementedError(
            "differentiable=True would record the step itself; steps run without recording, use differentiable=False."
        )
    return {"foreach": foreach, "differentiable": differentiable, "fused": fused}
