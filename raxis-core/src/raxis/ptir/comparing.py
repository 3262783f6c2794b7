"""Compares arrays of one type: which elements differ by more than rounding explains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from raxis.dtypes import Category, DType, bfloat16, complex64, complex128, float16, float32, float64

RTOL = {bfloat16: 5e-2, float16: 1e-2, float32: 5e-5, complex64: 5e-5, float64: 1e-9, complex128: 1e-9}
"""The default relative tolerance: sums of many elements in another order stay below it."""


@dataclass(frozen=True)
class Mismatch:
    """Where two arrays differ.

    Attributes:
        error: the largest difference; infinite where one of the two is NaN or another infinity.
        index: where it is.
        expected: the element there that was expected.
        given: the element there that was given.
        count: how many elements differ.
        size: how many elements there are.
    """

    error: float
    index: tuple[int, ...]
    expected: Any
    given: Any
    count: int
    size: int

    def __str__(self) -> str:
        return (
            f"largest error {self.error:.6g} at {list(self.index)}: expected {self.expected}, got {self.given}; "
            f"{self.count} of {self.size} elements differ"
        )


SPREADS = 8
"""How many times further than inputs with other roundings move a value another computation may move it."""


class Tolerance(NamedTuple):
    """How far elements may be apart: ``atol + rtol * abs(expected)``; integers and booleans must be equal.

    Attributes:
        rtol: None for what `RTOL` says.
        atol: None for `rtol` times the greatest magnitude among result and operands, which cancellation may leave.
    """

    rtol: float | None = None
    atol: float | None = None

    def mismatch(
        self,
        dtype: DType,
        expected: np.ndarray,
        given: np.ndarray,
        operands: Iterable[np.ndarray] = (),
        spread: float = 0.0,
    ) -> Mismatch | None:
        """Where `given` differs from `expected`; None if it does not. NaN equals NaN.

        Args:
            dtype: of both.
            expected: what is right.
            given: what is examined.
            operands: what it was computed from.
            spread: how far roundings of what came before move elements; see `spread_of`.

        Example:
            >>> import raxis
            >>> one, two = np.array([1.0, 2.0]), np.array([1.0, 2.5])
            >>> Tolerance().mismatch(raxis.float64, one, two).index
            (1,)
        """
        if dtype.category < Category.FLOAT:
            return _worst(expected, given, (expected != given) & (spread == 0))
        kind = np.complex128 if dtype.is_complex else np.float64
        left, right = expected.astype(kind), given.astype(kind)
        rtol = RTOL[dtype] if self.rtol is None else self.rtol
        atol = rtol * _scale([left, *operands]) if self.atol is None else self.atol
        with np.errstate(all="ignore"):
            near = np.abs(left - right) <= np.maximum(atol + rtol * np.abs(left), SPREADS * spread)
        close = near & np.isfinite(left) & np.isfinite(right)
        return _worst(left, right, ~(close | (left == right) | (np.isnan(left) & np.isnan(right))))


def spread_of(dtype: DType, first: np.ndarray, second: np.ndarray) -> float:
    """How far apart elements are at most; infinite if integers or booleans differ, or one of two is NaN or infinite."""
    if dtype.category < Category.FLOAT:
        return 0.0 if np.array_equal(first, second) else np.inf
    mismatch = Tolerance(0.0, 0.0).mismatch(dtype, first, second)
    return 0.0 if mismatch is None else mismatch.error


def _scale(arrays: Iterable[np.ndarray]) -> float:
    """The greatest finite magnitude."""
    greatest = 0.0
    for array in arrays:
        if array.dtype.kind not in "biu":
            magnitudes = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
            greatest = max(greatest, float(np.max(magnitudes, initial=0.0, where=np.isfinite(magnitudes))))
    return greatest


def _worst(expected: np.ndarray, given: np.ndarray, differs: np.ndarray) -> Mismatch | None:
    if not differs.any():
        return None
    kind = np.complex128 if expected.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        errors = np.abs(expected.astype(kind) - given.astype(kind))
    errors = np.where(differs, np.where(np.isnan(errors), np.inf, errors), -1.0)
    index = tuple(int(at) for at in np.unravel_index(int(np.argmax(errors)), errors.shape))
    count = int(np.count_nonzero(differs))
    return Mismatch(
        float(errors[index]), index, expected[index].item(), given[index].item(), count, differs.size
    )
