"""Transforms of sizes with small prime factors against NumPy's in float64."""

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
    ((5, 9), (1,)),
    ((17, 35), (1,)),
    ((3, 630), (1,)),
    ((49, 16), (0, 1)),
    ((45, 2, 32), (0, 2)),
    ((4, 1000), (1,)),
    ((4, 22), (1,)),
    ((3, 16, 33), (1,)),
    ((16, 1025), (0,)),
    ((30, 20, 36), (0, 1, 2)),
    ((100, 5), (0,)),
    ((20, 11), (1,)),
    ((33, 511), (1,)),
    ((121, 5), (0,)),
    ((3, 74, 127), (1, 2)),
    ((17, 381), (1,)),
    ((4, 262), (1,)),
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [((64, 64), 1), ((64, 64), 0), ((5, 16), 1), ((33, 32), 1), ((1, 512), 1), ((64,), 0), ((3, 2048), 1),
     ((2, 3, 128), 2), ((20, 4096), -1), ((7, 4), 1), ((3, 96), 1), ((0, 32), 1), ((3, 33), 1),
     ((20, 126), 1), ((3, 100), 1), ((2, 18), 1), ((5, 1050), 1), ((3, 22), 1),
     ((20, 1022), 1), ((3, 146), 1), ((2, 262), 1)],
)  # fmt: skip
def test_real_transforms(shape: tuple[int, ...], dim: int, dtype: Any, rng: np.random.Generator) -> None:
    values = rng.standard_normal(shape).astype(dtype)
    tolerance = 4e-6 if dtype is np.float32 else 1e-14
    for norm in (None, "ortho", "forward"):
        found = raxis.fft.rfft(raxis.tensor(values), dim=dim, norm=norm)
        expected = np.fft.rfft(values.astype(np.float64), axis=dim, norm=norm)
        _close(found.numpy(), expected, tolerance)
        assert (found.select(dim, 0).imag == 0).all()
        # Imaginary parts of the ends, which real numbers do not have, do not matter.
        size = shape[dim]
        spectrum = np.moveaxis(expected.astype(found.numpy().dtype), dim, -1)
        spectrum[..., :: max(1, size // 2)] += 1j
        spectrum = np.moveaxis(spectrum, -1, dim)
        back = raxis.fft.irfft(raxis.tensor(spectrum), size, dim, norm).numpy()
        _close(back, np.fft.irfft(spectrum.astype(np.complex128), size, dim, norm), tolerance)
        assert back.dtype == dtype


def _close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    scale = np.sqrt(np.mean(np.abs(expected) ** 2)) if expected.size else 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def test_rows_do_not_touch_each_other(rng: np.random.Generator) -> None:
    values = rng.standard_normal((20, 64)).astype(np.float32)
    values[3, 5] = np.nan
    values[4] *= np.float32(1e30)
    found = raxis.fft.rfft(raxis.tensor(values))
    back = raxis.fft.irfft(found).numpy()
    assert np.isnan(found.numpy()).any(1).nonzero()[0].tolist() == [3]
    for row in (0, 4, 19):
        _close(found.numpy()[row], np.fft.rfft(values[row].astype(np.float64)), 4e-6)
        _close(back[row], values[row].astype(np.float64), 4e-6)


def test_views_of_real_rows(rng: np.random.Generator) -> None:
    values = rng.standard_normal(2048)
    frames = raxis.tensor(values).unfold(0, 128, 32)
    wanted = np.fft.rfft(np.lib.stride_tricks.sliding_window_view(values, 128)[::32])
    _close(raxis.fft.rfft(frames).numpy(), wanted, 1e-14)
    _close(raxis.fft.irfft(raxis.tensor(wanted)[::2]).numpy(), frames.numpy()[::2], 1e-14)
