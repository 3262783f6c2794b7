"""Limiting the size of gradients."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import raxis
from raxis.ops.definitions.norms import norm_of_all
from raxis.ops.definitions.verdicts import require_none, saying
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

Tensors: TypeAlias = "Tensor | Iterable[Tensor]"


def _gradients(parameters: Tensors) -> list[Tensor]:
    members = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in members if parameter.grad is not None]


def get_total_norm(tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The norm of all tensors together, as if they were one vector; a tensor without dimensions.

    Args:
        tensors: one or several floating tensors.
        norm_type: order of the norm; infinity means the largest absolute value.
        error_if_nonfinite: whether a norm that is NaN or infinite is an error.

    Raises:
        RuntimeError: the norm is not finite and `error_if_nonfinite` is set.

    Example:
        >>> import raxis
        >>> raxis.nn.utils.get_total_norm([raxis.tensor([3.0]), raxis.tensor([4.0])]).item()
        5.0
    """
    members = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not members:
        return raxis.tensor(0.0)
    total = _norm_of_norms(members, float(norm_type))
    if error_if_nonfinite:
        sentence = (
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it "
            "cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
        require_none(~total.detach().isfinite(), saying(RuntimeError, sentence))
    return total


def _norm_of_norms(tensors: Sequence[Tensor], order: float) -> Tensor:
    """One program for all tensors of a device, and another for the devices' results where there are several."""
    norms: list[Tensor] = [
        norm_of_all(tuple(group), order) for _, group in groupby(tensors, lambda tensor: tensor.device)
    ]
    if len(norms) == 1:
        return norms[0]
    total: Tensor = norm_of_all(tuple(norm.to(norms[0].device) for norm in norms), order)
    return total


def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Tensor) -> None:
    """Scale gradients in place by `max_norm` / `total_norm`, but never up.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.zeros(1))
        >>> weight.grad = raxis.tensor([8.0])
        >>> raxis.nn.utils.clip_grads_with_norm_(weight, 2.0, raxis.tensor(4.0))
        >>> round(weight.grad.item(), 4)
        4.0
    """
    with raxis.no_grad():
        # The small number keeps an all-zero gradient from being divided by zero.
        scale = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for gradient in _gradients(parameters):
            gradient.mul_(scale.to(gradient.device))


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,  # noqa: ARG001  PyTorch's argument
) -> Tensor:
    """Scale gradients in place so that their norm, taken together, is at most `max_norm`.

    Args:
        parameters: one or several parameters; those without a gradient are left out.
        max_norm: the limit.
        norm_type: order of the norm; infinity means the largest absolute value.
        error_if_nonfinite: whether a norm that is NaN or infinite is an error.
        foreach: accepted for compatibility; how tensors are grouped does not change the result.

    Returns:
        the norm before clipping.

    Raises:
        RuntimeError: the norm is not finite and `error_if_nonfinite` is set; gradients are unchanged.

    Source: R. Pascanu et al., "On the difficulty of training recurrent neural networks", 2013.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.zeros(2))
        >>> weight.grad = raxis.tensor([3.0, 4.0])
        >>> raxis.nn.utils.clip_grad_norm_(weight, max_norm=1.0).item()
        5.0
    """
    members = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    with raxis.no_grad():
        total_norm = get_total_norm(_gradients(members), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(members, max_norm, total_norm)
    return total_norm


def clip_grad_value_(
    parameters: Tensors,
    clip_value: float,
    foreach: bool | None = None,  # noqa: ARG001  PyTorch's argument
) -> None:
    """Limit every element of the gradients in place to ±`clip_value`.

    `foreach` is accepted for compatibility; how tensors are grouped does not change the result.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.zeros(2))
        >>> weight.grad = raxis.tensor([-3.0, 0.5])
        >>> raxis.nn.utils.clip_grad_value_(weight, 1.0)
        >>> weight.grad.tolist()
        [-1.0, 0.5]
    """
    with raxis.no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-float(clip_value), float(clip_value))
