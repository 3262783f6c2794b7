"""Distributions of transformed normal variables: log-normal and logistic-normal."""

from __future__ import annotations

from typing import Any, ClassVar

from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints
from raxis.distributions.normal import Normal
from raxis.distributions.transformed_distribution import TransformedDistribution
from raxis.distributions.transforms import ExpTransform, StickBreakingTransform
from raxis.tensor import Tensor

__all__ = ["LogNormal", "LogisticNormal"]


class _OfNormal(TransformedDistribution):
    """A transformed normal distribution, with that one's parameters."""

    arg_constraints: ClassVar[Constraints] = {"loc": constraints.real, "scale": constraints.positive}

    @property
    def _normal(self) -> Any:
        """The distribution before the transform."""
        return self.base_dist

    @property
    def loc(self) -> Tensor:
        """The mean before the transform."""
        return self._normal.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation before the transform."""
        return self._normal.scale


class LogNormal(_OfNormal):
    """The distribution of ``exp(x)`` for normal x.

    Args:
        loc: mean of the logarithm.
        scale: standard deviation of the logarithm.

    Example:
        >>> import raxis
        >>> raxis.distributions.LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    support = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale**2).exp()

    @property
    def variance(self) -> Tensor:
        squared = self.scale**2
        return squared.expm1() * (2 * self.loc + squared).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(_OfNormal):
    """Vectors of probabilities made of normal vectors, one number shorter, by breaking a stick.

    Args:
        loc: mean before the transform, shape ``(..., n)``.
        scale: standard deviation before the transform.

    Example:
        >>> import raxis
        >>> raxis.distributions.LogisticNormal(raxis.zeros(2), raxis.ones(2)).event_shape
        raxis.Size([3])
    """

    support = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        normal = Normal(loc, scale, validate_args)
        if not normal.batch_shape:
            normal = normal.expand((1,))
        super().__init__(normal, StickBreakingTransform(), validate_args=validate_args)

    @property
    def _normal(self) -> Any:
        return self.base_dist.base_dist  # type: ignore[attr-defined]
