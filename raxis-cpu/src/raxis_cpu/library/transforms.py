"""Fourier transforms by SciPy, where it is installed: its pocketfft transforms several rows at once in SIMD lanes."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

from raxis_cpu.library.routine import Array, Call, Routine


@functools.cache
def _module() -> Any:
    """SciPy's transforms; None without SciPy."""
    try:
        return import_module("scipy.fft")
    except ImportError:
        return None


def _routine_of(call: Call, name: str, **options: Any) -> Routine | None:
    """SciPy's function of that name along the instruction's dimension; an empty operand is the reference's."""
    if _module() is None or 0 in call.instruction.operands[0].type.shape:
        return None
    transform = functools.partial(
        getattr(_module(), name), axis=call.instruction.attributes["dim"], **options
    )

    def routine(x: Array, result: Array) -> None:
        result[...] = transform(x)

    return routine


def fft(call: Call) -> Routine | None:
    """Of complex numbers, forward or inverse, without a factor."""
    if call.instruction.attributes["inverse"]:
        return _routine_of(call, "ifft", norm="forward")
    return _routine_of(call, "fft")


def rfft(call: Call) -> Routine | None:
    """Half of the spectrum of real numbers."""
    return _routine_of(call, "rfft")


def irfft(call: Call) -> Routine | None:
    """Real numbers from half of their spectrum, without a factor."""
    return _routine_of(call, "irfft", n=call.instruction.attributes["size"], norm="forward")
