"""Derives raxis_cpu.llvm.math.pieces: float32 functions as polynomials on sixteen pieces, by `minimax.remez`.

Usage: ``python pieces.py`` prints the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath as mp
import numpy as np
from minimax import F, remez

mp.mp.dps = 30
Function = Callable[[mp.mpf], mp.mpf]


def _single(x: object) -> float:
    return float(np.float32(float(x)))  # type: ignore[arg-type]


def _centre(function: Function, low: mp.mpf, high: mp.mpf) -> mp.mpf:
    """A float32 number near the middle whose value lies very near to a float32 number (Gal, 1986)."""
    rng = np.random.default_rng(1)
    tried = float(low + high) / 2 + float(high - low) * 0.03 * rng.uniform(-1, 1, 4000)
    floats = [F(_single(x)) for x in tried]
    return min(floats, key=lambda x: abs(function(x) - _single(function(x))))


def _around_zero(function: Function, slope: mp.mpf, high: mp.mpf, degree: int) -> list[mp.mpf]:
    """Centre and coefficients of function(x) - x."""
    quotient, _ = remez(lambda x: function(x) / x - 1 if x > F("1e-9") else slope - 1, 0, high, degree - 1)
    return [F(0), F(0), *quotient]


def _piece(function: Function, low: mp.mpf, high: mp.mpf, degree: int) -> list[mp.mpf]:
    """Centre and coefficients."""
    centre = _centre(function, low, high)
    value = function(centre)

    def slope(t: mp.mpf) -> mp.mpf:
        return (function(centre + t) - value) / t if abs(t) > F("1e-9") else mp.diff(function, centre)

    quotient, _ = remez(slope, low - centre, high - centre, degree - 1)
    return [centre, F(_single(value)), *quotient]


def table(
    function: Function, slope: mp.mpf, edges: Sequence[float], degree: int, first: int, near: int
) -> list[list[float]]:
    """Centres, then coefficients, of pieces that begin at entry `first` and wrap around.

    The first `near` ones are of function(x) - x.
    """
    pairs = list(zip(map(F, edges), map(F, edges[1:]), strict=False))
    pieces = [_around_zero(function, slope, pairs[0][1], degree)]
    pieces += [_piece(lambda x: function(x) - x, *pair, degree) for pair in pairs[1:near]]
    pieces += [_piece(function, *pair, degree) for pair in pairs[near:]]
    rows = [[0.0] * 16 for _ in pieces[0]]
    for number, piece in enumerate(pieces):
        for row, coefficient in zip(rows, piece, strict=True):
            row[(first + number) % 16] = _single(coefficient)
    return rows


def main() -> None:
    """Print the tables."""
    widths = [0.0, *(0.2625 * (k + 0.5) for k in range(16))]
    powers = [0, 0.375, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 9.1]
    print("ERF =", table(mp.erf, 2 / mp.sqrt(mp.pi), widths, 6, 0, 2))
    print("TANH =", table(mp.tanh, F(1), powers, 7, 250, 1))


if __name__ == "__main__":
    main()
