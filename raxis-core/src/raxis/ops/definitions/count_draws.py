"""Draws of counts: the Poisson and the binomial distribution.

Small means are drawn by inversion, others by transformed rejection: Hörmann, The transformed rejection method for
generating Poisson random variables (1993, PTRS) and The generation of binomial random variates (1993, BTRS).
"""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.layout import broadcast_shapes
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.control import region
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.random import check_float, check_real, unit_interval
from raxis.ops.definitions.rejection import rejected
from raxis.ops.definitions.verdicts import require_none, saying
from raxis.ops.table import Effect, composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.random import Generator
from raxis.tensor import Tensor

_BY_REJECTION = 10.0
"""The least mean that is drawn by rejection; below it, the constants of the envelopes are not proven."""
_LAST_COUNT = 128.0
"""No mean below `_BY_REJECTION` reaches this count with a probability that float64 can tell from 0."""
_TOGETHER = 4
"""Counts that are tried before it is asked whether all are found: most of the time goes to memory between them."""

_INTERNAL: dict[str, Any] = {"function": False, "out": False, "effect": Effect.RANDOM}
_PUBLIC: dict[str, Any] = {"out": False, "method": False, "effect": Effect.RANDOM}


def _inverted(first: Tensor, ratio: Tensor, shift: Tensor) -> Tensor:
    """The first count whose distribution function exceeds a uniform number.

    The probability of 0 is `first`, that of k is ``ratio / k + shift`` times that of k - 1.
    """
    drawn = unit_interval(dtypes.float64, tuple(first.shape))
    carried = (drawn - first, first, constant(0.0, dtypes.float64, tuple(first.shape)), ratio, shift)
    regions = (region(carried, _some_beyond), region(carried, _next_counts))
    final: Any = emit("while", *carried, regions=regions)
    return final[2]


def _beyond(left: Tensor, count: Tensor) -> Tensor:
    return (left >= 0) & (count < _LAST_COUNT)


def _some_beyond(left: Tensor, chance: Tensor, count: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
    return (emit("reduce_or", _beyond(left, count), dims=tuple(range(left.ndim))),)


def _next_counts(
    left: Tensor, chance: Tensor, count: Tensor, ratio: Tensor, shift: Tensor
) -> tuple[Tensor, ...]:
    for _ in range(_TOGETHER):
        go_on = _beyond(left, count)
        chance = chance * (ratio / (count + 1) + shift).clamp(min=0)
        left, count = where(go_on, left - chance, left), where(go_on, count + 1, count)
    return left, chance, count, ratio, shift


def _poisson_candidate(first: Tensor, second: Tensor, rate: Tensor) -> tuple[Tensor, Tensor]:
    """PTRS."""
    width = 0.931 + 2.53 * rate.sqrt()
    slope = -0.059 + 0.02483 * width
    u = first - 0.5
    distance = 0.5 - u.abs()
    count = ((2 * slope / distance + width) * u + rate + 0.43).floor()
    inside = (distance >= 0.07) & (second <= 0.9277 - 3.6224 / (width - 2))
    scaled = second * (1.1239 + 1.1328 / (width - 3.4)) / (slope / (distance * distance) + width)
    density = count * rate.log() - rate - (count + 1).lgamma()
    return count, inside | ((count >= 0) & (scaled.log() <= density))


@lowered("_poisson(Tensor input, Generator? generator=None) -> Tensor",
         vjp={"input": lambda grad: zeros_like(grad)}, **_INTERNAL)  # fmt: skip
def _poisson(input: Tensor) -> Any:
    """Counts of events; NaN where the rate is no finite number."""
    rate = cast(input, dtypes.float64)
    served = (rate >= 0) & (rate < math.inf)
    large = served & (rate >= _BY_REJECTION)
    small = where(served & ~large, rate, 0.0)
    by_inversion = _inverted((-small).exp(), small, small * 0)
    by_rejection = rejected(_poisson_candidate, 2, [where(large, rate, _BY_REJECTION)], large)
    return cast(where(large, by_rejection, where(served, by_inversion, math.nan)), input.dtype)


@composed("poisson(Tensor input, Generator? generator=None) -> Tensor", **_PUBLIC)
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Counts of the Poisson distribution, whose rates are `input`'s elements (Hörmann, 1993).

    Args:
        input: floating point, any shape, not negative.
        generator: stream to draw from.

    Returns:
        A tensor of `input`'s shape and dtype.

    Raises:
        NotImplementedError: if `input` is not of a floating point dtype.
        RuntimeError: if an element is negative or NaN.

    Example:
        >>> import raxis
        >>> raxis.poisson(raxis.zeros(3))
        tensor([0., 0., 0.])
    """
    check_real("poisson", input.dtype)
    check_float("poisson", input.dtype)
    sentence = "invalid Poisson rate, expected rate to be non-negative"
    require_none(~(input >= 0), saying(RuntimeError, sentence))
    return input._poisson(generator)


def _binomial_candidate(
    first: Tensor, second: Tensor, trials: Tensor, chance: Tensor, peak: Tensor
) -> tuple[Tensor, Tensor]:
    """BTRS, for chances up to one half; `peak` is the mode's log density."""
    deviation = (trials * chance * (1 - chance)).sqrt()
    width = 1.15 + 2.53 * deviation
    slope = -0.0873 + 0.0248 * width + 0.01 * chance
    u = first - 0.5
    distance = 0.5 - u.abs()
    count = ((2 * slope / distance + width) * u + trials * chance + 0.5).floor()
    inside = (distance >= 0.07) & (second <= 0.92 - 4.2 / width)
    scaled = second * ((2.83 + 5.1 / width) * deviation) / (slope / (distance * distance) + width)
    possible = (count >= 0) & (count <= trials)
    return count, inside | (possible & (scaled.log() <= _log_density(trials, chance, count) - peak))


def _log_density(trials: Tensor, chance: Tensor, count: Tensor) -> Tensor:
    """The logarithm of the probability of `count`, but for what does not depend on it."""
    odds = chance.log() - (-chance).log1p()
    return count * odds - (count + 1).lgamma() - (trials - count + 1).lgamma()


@lowered(
    "_binomial(Tensor input, Tensor prob, Generator? generator=None) -> Tensor",
    vjp={"input": lambda grad: zeros_like(grad), "prob": lambda grad: zeros_like(grad)},
    **_INTERNAL,
)
def _binomial(input: Tensor, prob: Tensor) -> Any:
    """Counts of successes; NaN where there is no such distribution."""
    trials, given = cast(input, dtypes.float64).floor(), cast(prob, dtypes.float64).clamp(0, 1)
    served = (trials >= 0) & (trials < math.inf) & ~given.isnan()
    chance = where(served, where(given > 0.5, 1 - given, given), 0.0)
    large = trials * chance >= _BY_REJECTION
    tried, rare = where(served & ~large, trials, 0.0), where(large, 0.0, chance)
    odds = rare / (1 - rare)
    by_inversion = _inverted((tried * (-rare).log1p()).exp(), (tried + 1) * odds, -odds)
    many, likely = where(large, trials, 4 * _BY_REJECTION), where(large, chance, 0.5)
    peak = _log_density(many, likely, ((many + 1) * likely).floor())
    by_rejection = rejected(_binomial_candidate, 2, [many, likely, peak], large)
    count = where(large, by_rejection, by_inversion.minimum(tried))
    return cast(where(served, where(given > 0.5, trials - count, count), math.nan), input.dtype)


@composed("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", **_PUBLIC)
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of successes among `count` trials that succeed with probability `prob` (Hörmann, 1993).

    Args:
        count: floating point, whole numbers, not negative.
        prob: the same dtype, probabilities (numbers outside [0, 1] count as the nearest inside); its shape must
            broadcast with `count`'s.
        generator: stream to draw from.

    Returns:
        A tensor of the broadcast shape and the operands' dtype.

    Raises:
        ValueError: if `count` is not of a floating point dtype.
        RuntimeError: if the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.binomial(raxis.tensor([3.0, 5.0]), raxis.tensor([0.0, 1.0]))
        tensor([0., 5.])
    """
    if not count.dtype.is_floating_point:
        raise ValueError(
            f"binomial only supports floating-point dtypes for count, got: {count.dtype.name}; convert it."
        )
    if count.dtype is not prob.dtype:
        raise RuntimeError(
            f"binomial expected count and prob of one dtype, but got {count.dtype.name} and {prob.dtype.name}; "
            "convert one of them."
        )
    shape = broadcast_shapes(tuple(count.shape), tuple(prob.shape))
    return count.expand(shape)._binomial(prob.expand(shape), generator)
