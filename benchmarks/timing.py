"""Timing two implementations fairly: interleaved rounds, medians, ratios of neighbouring rounds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """Medians in microseconds of one call, and the median of the rounds' ratios."""

    name: str
    raxis: float
    torch: float
    ratio: float


def microseconds(function: Callable[[], object], calls: int) -> float:
    """The mean time of one call, in one round."""
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls * 1e6


def compare(
    name: str, raxis_call: Callable[[], object], torch_call: Callable[[], object], *, calls: int, rounds: int
) -> Comparison:
    """Time both in turn, `rounds` times `calls` calls each, after a warm-up."""
    microseconds(raxis_call, calls)
    microseconds(torch_call, calls)
    pairs = [(microseconds(raxis_call, calls), microseconds(torch_call, calls)) for _ in range(rounds)]
    return Comparison(
        name,
        statistics.median(first for first, _ in pairs),
        statistics.median(second for _, second in pairs),
        statistics.median(first / second for first, second in pairs),
    )
