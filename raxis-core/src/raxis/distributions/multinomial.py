"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import raxis
from raxis.distributions import constraints
from raxis.distributions.binomial import Binomial
from raxis.distributions.categorical import OfCategories
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Shape
from raxis.tensor import Tensor

__all__ = ["Multinomial"]


class Multinomial(OfCategories):
    """How often each category comes up in `total_count` draws.

    Args:
        total_count: number of draws.
        probs: shape ``(..., categories)``, not negative; normalised to sum to 1.
        logits: logarithms of such, up to a constant.

    Raises:
        ValueError: unless exactly one of `probs` and `logits` is given.
        NotImplementedError: if `total_count` is no int.

    Example:
        >>> import raxis
        >>> raxis.distributions.Multinomial(8, raxis.tensor([1.0, 3.0])).mean
        tensor([2., 6.])
    """

    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported: pass an int.")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        """Counts that sum to at most `total_count`."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = self._drawn((self.total_count, *sample_shape)).movedim(0, -1)
        counts = raxis.zeros(
            self._extended_shape(sample_shape), dtype=self._chances.dtype, device=drawn.device
        )
        return counts.scatter_add_(-1, drawn, raxis.ones_like(drawn, dtype=counts.dtype))

    def _log_prob(self, value: Tensor) -> Tensor:
        logits, value = raxis.broadcast_tensors(self.logits, value)
        # A category that cannot come up does not, at probability 1.
        logits = raxis.where((value == 0) & (logits == -raxis.inf), 0.0, logits)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        counts = raxis.arange(1, self.total_count + 1, dtype=self._chances.dtype, device=self._chances.device)
        counts = counts.reshape(-1, *[1] * self.probs.ndim)
        chances = Binomial(self.total_count, self.probs, validate_args=False).log_prob(counts).exp()
        repeats = (chances * (counts + 1).lgamma()).sum((0, -1))
        fixed = raxis.tensor(self.total_count + 1.0, dtype=repeats.dtype, device=repeats.device).lgamma()
        return self.total_count * self._category_entropy() - fixed + repeats
