"""The beta and the Dirichlet distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.distributions.utils import clamp_probs
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["Beta", "Dirichlet"]


def _drawn_logarithm(concentration: Tensor, shape: Shape) -> Tensor:
    """Logarithms of gamma variables: they tell apart values too small for the dtype."""
    return concentration.expand(shape)._log_standard_gamma()


class Beta(Distribution):
    """The beta distribution on [0, 1].

    Args:
        concentration1: alpha, of values near 1.
        concentration0: beta, of values near 0.

    Example:
        >>> import raxis
        >>> raxis.distributions.Beta(1.0, 3.0).mean
        tensor(0.2500)
    """

    arg_constraints: ClassVar[Constraints] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast_parameters(concentration1=concentration1, concentration0=concentration0)
        super().__init__(shape, validate_args=validate_args)

    @property
    def _total(self) -> Tensor:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / self._total

    @property
    def mode(self) -> Tensor:
        return _dirichlet_mode(raxis.stack([self.concentration1, self.concentration0], -1))[..., 0]

    @property
    def variance(self) -> Tensor:
        return self.concentration1 * self.concentration0 / (self._total**2 * (self._total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        log_odds = _drawn_logarithm(self.concentration1, shape) - _drawn_logarithm(self.concentration0, shape)
        return clamp_probs(log_odds.sigmoid())

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return (a - 1).xlogy(value) + (b - 1).xlogy(1 - value) - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        return self.concentration1.lgamma() + self.concentration0.lgamma() - self._total.lgamma()

    def entropy(self) -> Tensor:
        a, b, total = self.concentration1, self.concentration0, self._total
        return (
            self._log_normalizer()
            - (a - 1) * a.digamma()
            - (b - 1) * b.digamma()
            + (total - 2) * total.digamma()
        )


class Dirichlet(Distribution):
    """The Dirichlet distribution of vectors of probabilities.

    Draws are gamma variables divided by their sum, with implicit gradients (Figurnov, Mohamed & Mnih, 2018).

    Args:
        concentration: shape ``(..., categories)``.

    Example:
        >>> import raxis
        >>> raxis.distributions.Dirichlet(raxis.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Constraints] = {
        "concentration": constraints.independent(constraints.positive, 1)
    }
    support = constraints.simplex
    has_rsample = True
    concentration: Tensor

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self._keep(concentration=concentration)
        shape = concentration.shape
        super().__init__(Size(shape[:-1]), Size(shape[-1:]), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        return _dirichlet_mode(self.concentration)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = _drawn_logarithm(self.concentration, self._extended_shape(sample_shape)).softmax(-1)
        return drawn.clamp(min=raxis.finfo(drawn.dtype).tiny)

    def _log_prob(self, value: Tensor) -> Tensor:
        return (self.concentration - 1).xlogy(value).sum(-1) - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        return self.concentration.lgamma().sum(-1) - self.concentration.sum(-1).lgamma()

    def entropy(self) -> Tensor:
        a = self.concentration
        total = a.sum(-1)
        spread = (total - a.shape[-1]) * total.digamma() - ((a - 1) * a.digamma()).sum(-1)
        return self._log_normalizer() + spread


def _dirichlet_mode(concentration: Tensor) -> Tensor:
    """The peak; the corner of the largest concentration where none is above 1."""
    above = (concentration - 1).clamp(min=0)
    total = above.sum(-1, keepdim=True)
    corner = raxis.nn.functional.one_hot(concentration.argmax(-1), concentration.shape[-1])
    return raxis.where((concentration < 1).all(-1, keepdim=True), corner.to(above.dtype), above / total)
