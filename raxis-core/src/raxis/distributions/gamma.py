"""The gamma distribution, those of chi-squared and F variables, and the inverse gamma distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.tensor import Tensor

__all__ = ["Chi2", "FisherSnedecor", "Gamma", "InverseGamma"]


def drawn_gamma(concentration: Tensor, shape: Shape) -> Tensor:
    """Gamma variables of rate 1, differentiable in `concentration`, which broadcasts to `shape`."""
    return concentration.expand(shape)._standard_gamma()


class _OfRate(Distribution):
    """What has a shape and the inverse of a scale."""

    arg_constraints: ClassVar[Constraints] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    has_rsample = True
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast_parameters(concentration=concentration, rate=rate)
        super().__init__(shape, validate_args=validate_args)


class Gamma(_OfRate):
    """The gamma distribution.

    Draws are by Marsaglia & Tsang (2000), their gradients implicit (Figurnov, Mohamed & Mnih, 2018).

    Args:
        concentration: shape.
        rate: inverse of the scale.

    Example:
        >>> import raxis
        >>> raxis.distributions.Gamma(3.0, 2.0).mean
        tensor(1.5000)
    """

    support = constraints.nonnegative

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate**2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return drawn_gamma(self.concentration, self._extended_shape(sample_shape)) / self.rate

    def _log_prob(self, value: Tensor) -> Tensor:
        k, rate = self.concentration, self.rate
        return k.xlogy(rate) + (k - 1).xlogy(value) - rate * value - k.lgamma()

    def _cdf(self, value: Tensor) -> Tensor:
        return raxis.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        k = self.concentration
        return k - self.rate.log() + k.lgamma() + (1 - k) * k.digamma()


class Chi2(Gamma):
    """The distribution of a sum of `df` squared standard normal variables.

    Args:
        df: degrees of freedom.

    Example:
        >>> import raxis
        >>> raxis.distributions.Chi2(3.0).mean
        tensor(3.)
    """

    arg_constraints: ClassVar[Constraints] = {"df": constraints.positive}
    df: Tensor

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        Distribution.__init__(self, self._broadcast_parameters(df=df), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:  # type: ignore[override]
        """Half of `df`."""
        return 0.5 * self.df

    @property
    def rate(self) -> Tensor:  # type: ignore[override]
        """One half."""
        return raxis.full_like(self.df, 0.5)


class FisherSnedecor(Distribution):
    """The F distribution: the ratio of two chi-squared variables, each divided by its degrees of freedom.

    Args:
        df1: degrees of freedom of the numerator.
        df2: degrees of freedom of the denominator.

    Example:
        >>> import raxis
        >>> raxis.distributions.FisherSnedecor(2.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints: ClassVar[Constraints] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(df1=df1, df2=df2), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        df = raxis.where(self.df2 > 2, self.df2, raxis.nan)
        return df / (df - 2)

    @property
    def mode(self) -> Tensor:
        peak = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return raxis.where(self.df1 > 2, peak, raxis.nan)

    @property
    def variance(self) -> Tensor:
        df = raxis.where(self.df2 > 4, self.df2, raxis.nan)
        return 2 * df**2 * (self.df1 + df - 2) / (self.df1 * (df - 2) ** 2 * (df - 4))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        above, below = (drawn_gamma(0.5 * df, shape) / df for df in (self.df1, self.df2))
        tiny = raxis.finfo(above.dtype).tiny
        return above / below.clamp(min=tiny)

    def _log_prob(self, value: Tensor) -> Tensor:
        half1, half2 = 0.5 * self.df1, 0.5 * self.df2
        ratio = self.df1 / self.df2
        constant = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma() + half1 * ratio.log()
        return constant + (half1 - 1) * value.log() - (half1 + half2) * (ratio * value).log1p()


class InverseGamma(_OfRate):
    """The distribution of the reciprocal of a gamma variable.

    Args:
        concentration: shape.
        rate: scale of the reciprocals' inverse.

    Example:
        >>> import raxis
        >>> raxis.distributions.InverseGamma(3.0, 4.0).mean
        tensor(2.)
    """

    support = constraints.positive

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return raxis.where(k > 1, self.rate / (k - 1), raxis.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return raxis.where(k > 2, self.rate**2 / ((k - 1) ** 2 * (k - 2)), raxis.inf)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.rate / drawn_gamma(self.concentration, self._extended_shape(sample_shape))

    def _log_prob(self, value: Tensor) -> Tensor:
        k, rate = self.concentration, self.rate
        return k * rate.log() - (k + 1) * value.log() - rate / value - k.lgamma()

    def _cdf(self, value: Tensor) -> Tensor:
        return raxis.special.gammaincc(self.concentration, self.rate / value)

    def entropy(self) -> Tensor:
        k = self.concentration
        return k + self.rate.log() + k.lgamma() - (1 + k) * k.digamma()
