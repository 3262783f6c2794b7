"""What distributions share: broadcasting of parameters, probabilities and logits, properties computed once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Number
from typing import Any, TypeVar

import raxis
from raxis.interception import active, anyone
from raxis.tensor import Tensor

__all__ = [
    "broadcast_all", "clamp_probs", "fails", "lazy_property", "logits_to_probs", "probs_to_logits", "sum_rightmost",
    "visible",
]  # fmt: skip

T = TypeVar("T")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape; numbers get the dtype and device of the first tensor.

    Raises:
        ValueError: if a value is neither number nor tensor.

    Example:
        >>> import raxis
        >>> raxis.distributions.utils.broadcast_all(1.0, raxis.zeros(2))
        (tensor([1., 1.]), tensor([0., 0.]))
    """
    for value in values:
        if not isinstance(value, (Tensor, Number)):
            raise ValueError(
                f"Input arguments must all be instances of Number or Tensor, but got {type(value).__name__}."
            )
    first = next((value for value in values if isinstance(value, Tensor)), None)
    options: dict[str, Any] = {"dtype": raxis.get_default_dtype()}
    if first is not None:
        options = {"dtype": first.dtype, "device": first.device}
    tensors = [value if isinstance(value, Tensor) else raxis.tensor(value, **options) for value in values]
    return tuple(raxis.broadcast_tensors(*tensors))


class lazy_property(functools.cached_property[T]):
    """A property computed when first asked for, with gradients recorded, and kept.

    An instance that has an attribute of this name from the start keeps that.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        @functools.wraps(function)
        def computed(instance: Any) -> T:
            with raxis.enable_grad():
                return function(instance)

        super().__init__(computed)


def fails(holds: Tensor) -> bool:
    """Whether a check is known to fail somewhere; on meta, and while a function is recorded, nothing is known."""
    if holds.device.type == "meta" or (anyone.records and active.recording is not None):
        return False
    return not bool(visible(holds).all())


def visible(value: Tensor) -> Tensor:
    """The elements that can be looked at: under vmap, those of all examples."""
    return value.device.all_examples(value)


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """`value` summed over its `count` rightmost dimensions."""
    return value if count == 0 else value.sum(tuple(range(-count, 0)))


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept away from 0 and 1 by the dtype's eps."""
    eps = raxis.finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds of Bernoulli probabilities (`is_binary`), or logarithms of those of categories."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """The inverse of `probs_to_logits`, normalised over the last dimension for categories."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)
