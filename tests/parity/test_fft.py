"""Fourier transforms against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import to_torch

pytestmark = [
    pytest.mark.filterwarnings("ignore:An output with one or more elements was resized:UserWarning"),
    pytest.mark.filterwarnings("ignore:A window was not provided:UserWarning"),
    pytest.mark.filterwarnings("ignore:stft with return_complex=False is deprecated:UserWarning"),
]

NAMES = [
    f"fft.{base}{suffix}"
    for base in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for suffix in ("", "2", "n")
]


CASES = opinfo.cases(
    *NAMES, "fft.fftshift", "fft.ifftshift", "stft", "istft",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("length", [0, 1, 2, 5, 64])
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_windows(name: str, periodic: bool, length: int) -> None:
    ours = getattr(raxis, f"{name}_window")(length, periodic, dtype=raxis.float64)
    theirs = getattr(torch, f"{name}_window")(length, periodic, dtype=torch.float64)
    torch.testing.assert_close(to_torch(ours), theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("call", [lambda f: f(-1), lambda f: f(4, dtype=raxis.int64)])
def test_windows_refuse(call: Any) -> None:
    with pytest.raises(RuntimeError, match="hann_window"):
        call(raxis.hann_window)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8])
def test_frequencies(count: int) -> None:
    for name in ("fftfreq", "rfftfreq"):
        for distance in (0.5, 0.0):
            ours = getattr(raxis.fft, name)(count, distance)
            expected = getattr(torch.fft, name)(count, distance)
            torch.testing.assert_close(to_torch(ours), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: raxis.fft.fft(x, 0), RuntimeError, "Invalid number of data points"),
        (lambda x: raxis.fft.fft(x, norm="none"), RuntimeError, "Invalid normalization mode"),
        (lambda x: raxis.fft.fft(x, dim=2), IndexError, "out of range"),
        (lambda x: raxis.fft.fft(x.half()), RuntimeError, "Unsupported dtype Half"),
        (lambda x: raxis.fft.rfft(x.to(raxis.complex64)), RuntimeError, "expects a real input"),
        (lambda x: raxis.fft.fftn(x, dim=(0, 0)), RuntimeError, "must be unique"),
        (lambda x: raxis.fft.fftn(x, s=(2,), dim=(0, 1)), RuntimeError, "same length"),
        (lambda x: raxis.stft(x, 4), RuntimeError, "return_complex"),
        (lambda x: raxis.istft(x, 4), RuntimeError, "complex-valued input"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(raxis.ones(3, 4))


def test_a_signal_comes_back(rng: np.random.Generator) -> None:
    signal = raxis.from_numpy(rng.standard_normal((2, 400)))
    window = raxis.hann_window(64, dtype=raxis.float64)
    spectra = raxis.stft(signal, 64, 16, window=window, return_complex=True)
    np.testing.assert_allclose(
        raxis.istft(spectra, 64, 16, window=window, length=400).numpy(), signal.numpy(), atol=1e-12
    )
    with pytest.raises(RuntimeError, match="do not overlap enough"):
        raxis.istft(spectra, 64, 64, window=window)
