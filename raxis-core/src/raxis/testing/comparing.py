"""Whether what a device computed is right."""

from __future__ import annotations

import numpy as np

from raxis.dtypes import DType
from raxis.testing.case import Nonconformity, require

TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float32": 1e-5,
    "float64": 1e-10,
    "complex64": 2e-5,
    "complex128": 1e-10,
}
"""Relative; the absolute tolerance is a tenth of it. A dtype that is not here must be exact."""


def check_close(
    found: np.ndarray, expected: np.ndarray, dtype: DType, what: str, factor: float = 1.0
) -> None:
    """Equal shape and dtype, equal numbers up to rounding, NaN and infinities where they are due.

    Args:
        found: what the device gave.
        expected: the right answer, in any precision.
        dtype: what the device was to give.
        what: names the result in the message.
        factor: makes the tolerance wider.
    """
    require(
        found.dtype == dtype.numpy and found.shape == expected.shape,
        f"{what}: got {found.dtype} of shape {found.shape}, expected {dtype.name} of shape {expected.shape}.",
    )
    with np.errstate(all="ignore"):
        expected = expected.astype(dtype.numpy)
    tolerance = factor * TOLERANCE.get(dtype.name, 0.0)
    try:
        np.testing.assert_allclose(_wide(found), _wide(expected), rtol=tolerance, atol=tolerance / 10)
    except AssertionError as error:
        raise Nonconformity(f"{what} is wrong.{error}") from None


def check_identical(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Equal numbers, zeros of the same sign, NaN where NaN is due."""
    require(
        found.dtype == expected.dtype and found.shape == expected.shape,
        f"{what}: got {found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}.",
    )
    one, other = _wide(found), _wide(expected)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    if one.dtype == np.float64:
        same &= (np.signbit(one) == np.signbit(other)) | np.isnan(one)
    require(same.all(), f"{what} is wrong: got\n{found}\nexpected\n{expected}")


def _wide(array: np.ndarray) -> np.ndarray:
    """Exact in a dtype that NumPy compares well; integers and booleans as they are."""
    if array.dtype.kind in "biu":
        return array
    return np.asarray(array, np.complex128 if array.dtype.kind == "c" else np.float64)
