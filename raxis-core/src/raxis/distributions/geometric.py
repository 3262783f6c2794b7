"""The geometric distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.bernoulli import binary_log_prob
from raxis.distributions.choices import FromChances, one_of
from raxis.distributions.distribution import Constraints, Shape
from raxis.distributions.utils import fails
from raxis.tensor import Tensor

__all__ = ["Geometric"]


class Geometric(FromChances):
    """The number of failures before the first success.

    (`Tensor.geometric_` counts trials, one more.)

    Args:
        probs: probability of success, above 0.
        logits: its log-odds.

    Raises:
        ValueError: unless exactly one of the two is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, chances = one_of(probs=probs, logits=logits)
        super().__init__(self._broadcast_parameters(**{name: chances}), validate_args=validate_args)
        if self._validate_args and fails(self.probs > 0):
            raise ValueError(f"Expected parameter probs of {self!r} to be positive.")

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return raxis.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        probs = self._expanded_probs(sample_shape)
        waiting = raxis.empty(probs.shape, dtype=probs.dtype, device=probs.device).exponential_()
        return (-waiting / (-probs).log1p()).floor()

    def _log_prob(self, value: Tensor) -> Tensor:
        probs = self.probs
        return raxis.where((probs == 1) & (value == 0), 0.0, value * (-probs).log1p()) + probs.log()

    def entropy(self) -> Tensor:
        return -binary_log_prob(self.logits, self.probs) / self.probs
