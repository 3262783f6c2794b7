"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

import raxis
from raxis.distributions import constraints
from raxis.distributions.categorical import Categorical
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Distribution, Shape
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component drawn from a categorical distribution, then a value of that component.

    Args:
        mixture_distribution: weights of the components.
        component_distribution: its last batch dimension runs over the components.

    Raises:
        ValueError: if the two do not fit together.

    Example:
        >>> import raxis
        >>> from raxis.distributions import Categorical, MixtureSameFamily, Normal
        >>> weights = Categorical(raxis.tensor([0.25, 0.75]))
        >>> MixtureSameFamily(weights, Normal(raxis.tensor([0.0, 4.0]), 1.0)).mean
        tensor(3.)
    """

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        _check_components(mixture_distribution, component_distribution)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        batch = Size(component_distribution.batch_shape[:-1])
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        """The weights."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    def expand(self, batch_shape: Shape, _instance: Any = None) -> MixtureSameFamily:
        count = self._component_distribution.batch_shape[-1]
        new = type(self).__new__(type(self)) if _instance is None else _instance
        components = self._component_distribution.expand(Size((*batch_shape, count)))
        weights = self._mixture_distribution.expand(Size(batch_shape))
        MixtureSameFamily.__init__(new, weights, components, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Constraint:
        """Where any component can be."""
        return _OfAnyComponent(self._component_distribution.support)

    def _weights(self) -> Tensor:
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * len(self._event_shape))

    @property
    def _component_dim(self) -> int:
        return -1 - len(self._event_shape)

    @property
    def mean(self) -> Tensor:
        return (self._weights() * self._component_distribution.mean).sum(self._component_dim)

    @property
    def variance(self) -> Tensor:
        dim, weights = self._component_dim, self._weights()
        within = (weights * self._component_distribution.variance).sum(dim)
        between = (self._component_distribution.mean - self.mean.unsqueeze(dim)) ** 2
        return within + (weights * between).sum(dim)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with raxis.no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            events = self._event_shape
            index = chosen.reshape(chosen.shape + (1,) * (1 + len(events)))
            index = index.expand((*chosen.shape, 1, *events))
            return drawn.gather(self._component_dim, index).squeeze(self._component_dim)

    def _log_prob(self, value: Tensor) -> Tensor:
        each = self._component_distribution.log_prob(value.unsqueeze(self._component_dim))
        return (each + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def _cdf(self, value: Tensor) -> Tensor:
        each = self._component_distribution.cdf(value.unsqueeze(self._component_dim))
        return (each * self._mixture_distribution.probs).sum(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"


class _OfAnyComponent(Constraint):
    """What the constraint of the components allows for any of them."""

    _shown = ("base_constraint",)

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).any(-1)


def _check_components(mixture: Any, components: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError(
            "The Mixture distribution needs to be an instance of Categorical, but got "
            f"{type(mixture).__name__}."
        )
    if not isinstance(components, Distribution):
        raise ValueError(
            f"The Component distribution need to be an instance of Distribution, but got {type(components).__name__}."
        )
    batch = components.batch_shape
    for own, other in zip(reversed(mixture.batch_shape), reversed(batch[:-1]), strict=False):
        if 1 not in (own, other) and own != other:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({mixture.batch_shape}) is not compatible with "
                f"`component_distribution.batch_shape` ({batch})"
            )
    count = mixture.param_shape[-1]
    if not batch or batch[-1] != count:
        raise ValueError(
            f"`mixture_distribution` has {count} components, but the last batch dimension of "
            f"`component_distribution` is of shape {tuple(batch)}"
        )
