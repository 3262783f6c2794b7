"""Distributions of transformed variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import raxis
from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Distribution, Shape
from raxis.distributions.independent import Independent
from raxis.distributions.transforms import ComposeTransform, Transform
from raxis.distributions.utils import sum_rightmost
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of ``transforms[-1](...transforms[0](x))`` where x follows the base.

    Args:
        base_distribution: of x.
        transforms: a transform or several, the first applied first.

    Raises:
        ValueError: if `transforms` are none, or the base has too few dimensions for them.

    Example:
        >>> import raxis
        >>> from raxis.distributions import Normal, TransformedDistribution
        >>> from raxis.distributions.transforms import ExpTransform
        >>> TransformedDistribution(Normal(0.0, 1.0), ExpTransform()).log_prob(raxis.tensor(1.0))
        tensor(-0.9189)
    """

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = _listed(transforms)
        whole = ComposeTransform(self.transforms)
        base_shape = Size((*base_distribution.batch_shape, *base_distribution.event_shape))
        needed = int(whole.domain.event_dim)
        if len(base_shape) < needed:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {needed}, but got {tuple(base_shape)}."
            )
        shape = whole.forward_shape(base_shape)
        self.base_dist = _fitted(base_distribution, whole.inverse_shape(shape), needed)
        events = int(whole.codomain.event_dim) + max(len(self.base_dist.event_shape) - needed, 0)
        cut = len(shape) - events
        super().__init__(Size(shape[:cut]), Size(shape[cut:]), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = object.__new__(type(self)) if _instance is None else _instance
        shape = ComposeTransform(self.transforms).inverse_shape((*batch_shape, *self._event_shape))
        base = self.base_dist.expand(Size(shape[: len(shape) - len(self.base_dist.event_shape)]))
        TransformedDistribution.__init__(new, base, self.transforms, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> Constraint:
        """The codomain of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        codomain: Constraint = self.transforms[-1].codomain
        more = len(self._event_shape) - codomain.event_dim
        return constraints.independent(codomain, more) if more > 0 else codomain

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with raxis.no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, value: Tensor) -> Tensor:
        for transform in self.transforms:
            value = transform(value)
        return value

    def _log_prob(self, value: Tensor) -> Tensor:
        event_dim = len(self._event_shape)
        total: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.inv(value)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            change = transform.log_abs_det_jacobian(before, value)
            total = total - sum_rightmost(change, event_dim - transform.domain.event_dim)
            value = before
        base = self.base_dist.log_prob(value)
        return total + sum_rightmost(base, event_dim - len(self.base_dist.event_shape))

    def _cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._ascending(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._ascending(value)))

    def _ascending(self, probability: Tensor) -> Tensor:
        """The probability, from the other side where the transforms turn the order around."""
        sign = ComposeTransform(self.transforms).sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.transforms})"


def _listed(transforms: Any) -> list[Transform]:
    listed = [transforms] if isinstance(transforms, Transform) else transforms
    if not isinstance(listed, (list, tuple)) or not all(isinstance(part, Transform) for part in listed):
        raise ValueError(f"transforms must be a Transform or list of Transforms, but was {transforms}")
    return list(listed)


def _fitted(base: Distribution, shape: Size, events: int) -> Distribution:
    """The base, expanded to `shape` and with events of at least so many dimensions."""
    if shape != (*base.batch_shape, *base.event_shape):
        base = base.expand(Size(shape[: len(shape) - len(base.event_shape)]))
    more = events - len(base.event_shape)
    return Independent(base, more) if more > 0 else base
