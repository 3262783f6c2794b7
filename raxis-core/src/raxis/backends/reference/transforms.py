"""Fourier transforms by NumPy's pocketfft."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from raxis.backends.reference.casting import Kernel
from raxis.ptir.program import Instruction


def _fft(instruction: Instruction) -> Kernel:
    dim = instruction.attributes["dim"]
    if instruction.attributes["inverse"]:
        return lambda x: np.fft.ifft(x, axis=dim, norm="forward")
    return lambda x: np.fft.fft(x, axis=dim)


def _rfft(instruction: Instruction) -> Kernel:
    dim = instruction.attributes["dim"]
    return lambda x: np.fft.rfft(x, axis=dim)


def _irfft(instruction: Instruction) -> Kernel:
    dim, size = instruction.attributes["dim"], instruction.attributes["size"]
    return lambda x: np.fft.irfft(x, size, dim, norm="forward")


KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {"fft": _fft, "rfft": _rfft, "irfft": _irfft}
