"""SciPy's Fourier transforms against NumPy's in float64."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.ptir import TensorType
from raxis_cpu.library import transforms
from tests.cpu.kernels import instruction_of, run_routine

FUNCTIONS = {
    "forward": ("fft", {"inverse": False}, np.fft.fft),
    "inverse": ("fft", {"inverse": True}, lambda x, axis: np.fft.ifft(x, axis=axis, norm="forward")),
    "half": ("rfft", {}, np.fft.rfft),
    "odd": ("irfft", {"size": 9}, lambda x, axis: np.fft.irfft(x, 9, axis, norm="forward")),
    "even": ("irfft", {"size": 8}, lambda x, axis: np.fft.irfft(x, 8, axis, norm="forward")),
}


def _operand(kind: str, shape: tuple[int, ...], precise: bool, rng: np.random.Generator) -> np.ndarray:
    real = rng.standard_normal(shape)
    values = real if kind == "half" else real + 1j * rng.standard_normal(shape)
    return values if precise else values.astype(np.float32 if kind == "half" else np.complex64)


def _check(kind: str, x: np.ndarray, dim: int) -> None:
    name, attributes, function = FUNCTIONS[kind]
    dtype = {4: dtypes.float32, 8: dtypes.float64}[x.real.itemsize]
    type = TensorType(dtype if name == "rfft" else dtype.to_complex(), x.shape)
    [found] = run_routine(instruction_of(name, [type], dim=dim, **attributes), x)
    expected = function(x.astype(np.result_type(x, np.float64)), axis=dim)
    scale = np.nanmax(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=scale * (1e-14 if x.real.itemsize == 8 else 1e-6)
    )


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize(("shape", "dim"), [((5,), 0), ((3, 5), 1), ((5, 3), 0), ((2, 5, 4), 1), ((0, 5), 1)])
def test_transforms(
    kind: str, shape: tuple[int, ...], dim: int, precise: bool, rng: np.random.Generator
) -> None:
    _check(kind, _operand(kind, shape, precise, rng), dim)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_strided_operands_huge_numbers_and_nan(kind: str, rng: np.random.Generator) -> None:
    _check(kind, _operand(kind, (10, 6), True, rng)[::2, ::-1].T, 1)
    _check(kind, _operand(kind, (5,), False, rng) * np.float32(1e36), 0)
    broken = _operand(kind, (2, 5), True, rng)
    broken[0, 1] = np.nan
    _check(kind, broken, 1)


def test_without_scipy(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(transforms, "_module", lambda: None)
    for kind in FUNCTIONS:
        _check(kind, _operand(kind, (3, 5), True, rng), 1)
