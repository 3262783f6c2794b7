"""Transforms of powers of two against NumPy's in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raxis

CASES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((64, 64), (1,)),
    ((64, 64), (0,)),
    ((5, 8), (1,)),
    ((33, 16), (1,)),
    ((1, 512), (1,)),
    ((128,), (0,)),
    ((3, 1024), (1,)),
    ((20, 4096), (1,)),
    ((2, 8, 32), (1,)),
    ((8, 3, 16), (0, 2)),
    ((16, 32, 64), (0, 1, 2)),
    ((32, 2, 16), (2, 1, 0)),
    ((4, 6, 16), (0, 1, 2)),
    ((0, 16), (1,)),
    ((16, 2), (0, 1)),
]


def _operand(shape: tuple[int, ...], dtype: Any, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), dtype)


def _check(x: Any, values: np.ndarray, dims: tuple[int, ...], norm: str | None = None) -> None:
    tolerance = 4e-7 if values.dtype == np.complex64 else 1e-15
    for name in ("fftn", "ifftn"):
        found = getattr(raxis.fft, name)(x, dim=dims, norm=norm).numpy()
        expected = getattr(np.fft, name)(values.astype(np.complex128), axes=dims, norm=norm)
        assert found.dtype == values.dtype
        scale = np.sqrt(np.mean(np.abs(expected) ** 2)) if expected.size else 1.0
        np.testing.assert_allclose(found, expected, rtol=0, atol=10 * tolerance * scale)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize(("shape", "dims"), CASES)
def test_transforms(
    shape: tuple[int, ...], dims: tuple[int, ...], dtype: Any, rng: np.random.Generator
) -> None:
    values = _operand(shape, dtype, rng)
    for norm in (None, "ortho", "forward"):
        _check(raxis.tensor(values), values, dims, norm)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_views(dtype: Any, rng: np.random.Generator) -> None:
    values = _operand((32, 66), dtype, rng)
    x = raxis.tensor(values)
    _check(x[:, 1:65], values[:, 1:65], (1,))
    _check(x[::2, 2:66], values[::2, 2:66], (1, 0))
    _check(x.T[:64], values.T[:64], (0, 1))
    _check(x[:1, :64].expand(32, 64), np.broadcast_to(values[:1, :64], (32, 64)), (1,))


def test_nan_stays_in_its_row(rng: np.random.Generator) -> None:
    values = _operand((20, 32), np.complex64, rng)
    values[3, 5] = np.nan
    found = raxis.fft.fft(raxis.tensor(values)).numpy()
    assert np.isnan(found).all(1).nonzero()[0].tolist() == [3]
    huge = np.delete(values, 3, 0) * np.complex64(1e30)
    _check(raxis.tensor(huge), huge, (1,))


def test_several_threads(rng: np.random.Generator) -> None:
    values = _operand((512, 256), np.complex64, rng)
    _check(raxis.tensor(values), values, (0, 1))
