"""Transforms of single numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import raxis
from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.transform import Transform
from raxis.distributions.utils import sum_rightmost
from raxis.layout import broadcast_shapes
from raxis.nn.functional import softplus
from raxis.size import Size
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.distributions.distribution import Distribution

__all__ = [
    "AbsTransform", "AffineTransform", "CumulativeDistributionTransform", "ExpTransform", "PowerTransform",
    "SigmoidTransform", "SoftplusTransform", "TanhTransform",
]  # fmt: skip


class ExpTransform(Transform):
    """``exp(x)``."""

    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """``x ** exponent`` of positive numbers.

    Args:
        exponent: not 0.
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _parameters = ("exponent",)

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = raxis.as_tensor(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x**self.exponent

    def _inverse(self, y: Tensor) -> Tensor:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return Size(broadcast_shapes(tuple(shape), tuple(self.exponent.shape)))

    inverse_shape = forward_shape


class SigmoidTransform(Transform):
    """The logistic function; values are kept away from 0 and 1."""

    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        limits = raxis.finfo(x.dtype)
        return x.sigmoid().clamp(limits.tiny, 1 - limits.eps)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = raxis.finfo(y.dtype)
        y = y.clamp(limits.tiny, 1 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """``log(1 + exp(x))``."""

    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(Transform):
    """The hyperbolic tangent."""

    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2 * (math.log(2) - x - softplus(-2 * x))


class AbsTransform(Transform):
    """``|x|``; its inverse is the positive one."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """``loc + scale * x``.

    Args:
        loc: number or tensor.
        scale: number or tensor, not 0.
        event_dim: how many dimensions an event has.
    """

    bijective = True
    _parameters = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale = loc, scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Constraint:
        count = self._event_dim
        return constraints.independent(constraints.real, count) if count else constraints.real

    @property
    def codomain(self) -> Constraint:
        return self.domain

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        scale = self.scale
        logarithm = scale.abs().log() if isinstance(scale, Tensor) else math.log(abs(scale))
        return sum_rightmost(raxis.zeros_like(x) + logarithm, self._event_dim)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        own = [value.shape for value in (self.loc, self.scale) if isinstance(value, Tensor)]
        return Size(broadcast_shapes(tuple(shape), *own))

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """The distribution function of a distribution of single numbers.

    Args:
        distribution: has `cdf`, `icdf` and `log_prob`.
    """

    codomain = constraints.unit_interval
    bijective = True
    sign = 1
    _parameters = ("distribution",)

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Constraint:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
