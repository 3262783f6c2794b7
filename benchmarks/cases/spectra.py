"""Fourier transforms of real and complex signals, their windows and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, gradient, tensor, values

Work = Callable[[ModuleType, Any], Any]

REAL: dict[str, Work] = {
    "fft": lambda lib, x: lib.fft.fft(x),
    "rfft": lambda lib, x: lib.fft.rfft(x),
    "fft2": lambda lib, x: lib.fft.fft2(x),
    "fftshift": lambda lib, x: lib.fft.fftshift(x),
}
COMPLEX: dict[str, Work] = {
    "ifft": lambda lib, x: lib.fft.ifft(x),
    "irfft": lambda lib, x: lib.fft.irfft(x),
}
SIGNAL: dict[str, Work] = {
    "stft": lambda lib, x: _stft(lib, x),
    "stft and istft": lambda lib, x: lib.istft(_stft(lib, x), 512, window=lib.hann_window(512), length=x.shape[-1]),
    "hann_window": lambda lib, x: lib.hann_window(x.shape[-1]),
}  # fmt: skip


def _stft(lib: ModuleType, x: Any) -> Any:
    return lib.stft(x, 512, window=lib.hann_window(512), return_complex=True)


def _on(work: Work, array: np.ndarray, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, array))


def _gradient(work: Work, array: np.ndarray, lib: ModuleType) -> Call:
    x = tensor(lib, array, grad=True)
    return gradient(x, lambda: work(lib, x).abs())


def cases() -> Iterator[Case]:
    """All cases of Fourier transforms."""
    for n in (64, 512):
        array = values((n, n))
        signal = np.asarray(array + 1j * values((n, n), seed=1), dtype=np.complex64)
        for name, work in REAL.items():
            yield Case("fft", f"{name} {n}x{n}", partial(_on, work, array), array.size)
        for name, work in COMPLEX.items():
            yield Case("fft", f"{name} {n}x{n}", partial(_on, work, signal), array.size)
        make = partial(_gradient, REAL["rfft"], array)
        yield Case("fft gradient", f"gradient of rfft {n}x{n}", make, array.size)
    cube = values((32, 32, 32))
    yield Case("fft", "fftn 32x32x32", partial(_on, lambda lib, x: lib.fft.fftn(x), cube), cube.size)
    for size in (4096, 1 << 18):
        for name, work in SIGNAL.items():
            yield Case("fft", f"{name} {size}", partial(_on, work, values((size,))), size)
