"""Batch dimensions made dimensions of one event."""

from __future__ import annotations

from typing import Any

from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Distribution, Shape
from raxis.distributions.utils import sum_rightmost
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution whose rightmost batch dimensions are one event.

    Args:
        base_distribution: the distribution of the elements.
        reinterpreted_batch_ndims: how many batch dimensions become the event's.

    Raises:
        ValueError: if the base has fewer batch dimensions.

    Example:
        >>> import raxis
        >>> from raxis.distributions import Independent, Normal
        >>> Independent(Normal(raxis.zeros(2), 1.0), 1).log_prob(raxis.zeros(2))
        tensor(-1.8379)
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        kept = len(batch) - reinterpreted_batch_ndims
        event = Size((*batch[kept:], *base_distribution.event_shape))
        super().__init__(Size(batch[:kept]), event, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Independent:
        events = self._event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand(Size((*batch_shape, *events)))
        new = type(self).__new__(type(self)) if _instance is None else _instance
        Independent.__init__(new, base, self.reinterpreted_batch_ndims, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Constraint:
        """That of the base, for all elements of an event."""
        inner: Constraint = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(inner, count) if count else inner

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def _log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
