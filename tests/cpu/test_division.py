"""Division of 64-bit integers, which is computed in double, against Python's exact integers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from tests.cpu.kernels import elementwise, run

SEED = 20261201
_EDGE = 1 << 63


def _truncated(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


EXACT: dict[str, Callable[[int, int], int]] = {
    "div": _truncated,
    "fmod": lambda x, y: x - _truncated(x, y) * y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
}


def _pairs() -> list[tuple[int, int]]:
    """Divisors of every magnitude; dividends at, and next to, their multiples and the ends of the range."""
    source = Random(SEED)
    pairs = []
    for bits in range(64):
        for _ in range(40):
            y = source.choice([-1, 1]) * source.randint(max(1, (1 << bits) // 2), 1 << bits)
            y = min(y, _EDGE - 1)
            multiple = y * source.randint(-(_EDGE // abs(y)), _EDGE // abs(y))
            pairs += [(multiple + step, y) for step in (-2, -1, 0, 1, 2)]
            pairs += [(end, y) for end in (-_EDGE, -_EDGE + 1, -1, 0, 1, _EDGE - 2, _EDGE - 1)]
    return [(x, y) for x, y in pairs if -_EDGE <= x < _EDGE]


@pytest.mark.parametrize("op", EXACT)
def test_division_of_long_integers_is_exact(op: str) -> None:
    print("seed", SEED)
    pairs = _pairs()
    x, y = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    result = np.empty_like(x)
    run(elementwise(op, [x, y], result), [x, y, result])
    expected = [(EXACT[op](*pair) + _EDGE) % (1 << 64) - _EDGE for pair in pairs]
    wrong = np.flatnonzero(result != np.array(expected, np.int64))
    assert not wrong.size, [(pairs[at], int(result[at]), expected[at]) for at in wrong[:5]]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_division_of_a_few_long_integers(count: int) -> None:
    x, y = np.arange(-3, count - 3) * 10**18, np.full(count, -7)
    result = np.empty_like(x)
    run(elementwise("floor_divide", [x, y], result), [x, y, result])
    assert result.tolist() == [a // -7 for a in x.tolist()]
