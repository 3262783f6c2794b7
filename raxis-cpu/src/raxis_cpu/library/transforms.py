"""Fourier transforms: of sizes without large prime factors by code of our own, others by SciPy, where it is installed.

SciPy's pocketfft transforms several rows at once in SIMD lanes.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from importlib import import_module
from math import prod
from typing import Any, NamedTuple

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import DType
from raxis.layout import Shape
from raxis.ptir.program import Program
from raxis_cpu.library import butterflies_ir, fourier_ir
from raxis_cpu.library.phases import Phase, lines_of
from raxis_cpu.library.routine import Array, Call, Routine
from raxis_cpu.library.tiles_ir import lanes_of


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


# ---- small prime factors ---------------------------------------------------------------------------------------------

_ROOM = 1 << 20
"""Bytes of scratch memory that a group of transforms may take: a share of the second cache."""
_SHORT = 512
"""Elements of a transform that is fast even if most lanes of its group are idle."""


class _Pass(NamedTuple):
    """The transforms along one dimension."""

    way: fourier_ir.Way
    units: int
    numbers: tuple[int, ...]


def complex_transforms(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """Along several dimensions, with a factor; None unless all sizes suit groups."""
    operand, strides, attributes = program.parameters[0].type, inputs[0], program.attributes
    if strides is None:
        return None
    real, shape, dims = operand.dtype.to_real(), operand.shape, attributes["dim"]
    passes = []
    for place, dim in enumerate(dims):
        scale = attributes["scale"] if place == len(dims) - 1 else 1.0
        found = _pass(real, shape, dim, (strides if place == 0 else outputs[0], outputs[0]), scale)
        if found is None:
            return None
        passes.append(found)
    ways, kind = tuple(item.way for item in passes), _kind_of([shape[dim] for dim in dims])
    module = fourier_ir.transforms(real, ways, kind, inverse=attributes["inverse"])
    phases = [
        Phase(f"transform_{place}", item.units, operand.size * shape[dim].bit_length())
        for place, (item, dim) in enumerate(zip(passes, dims, strict=True))
    ]
    names = fourier_ir.numbers_of(len(passes))
    numbers = dict(zip(names, (number for item in passes for number in item.numbers), strict=True))
    return module.bind([operand.dtype, operand.dtype], phases, numbers)


def _pass(
    real: DType, shape: Shape, dim: int, strides: tuple[Strides, Strides], scale: float
) -> _Pass | None:
    size, lanes = shape[dim], lanes_of(real)
    outer, inner = prod(shape[:dim]), prod(shape[dim + 1 :])
    source, result = (lines_of(shape, given, dim) for given in strides)
    if source is None or result is None or not outer * inner or not _suits(size, lanes, real):
        return None
    begin = _numbers(size, real, scale)
    if inner == 1:
        if source.along != 1 or result.along != 1 or (outer * 4 < lanes and size > _SHORT):
            return None
        return _Pass("rows", -(-outer // lanes), (*begin, outer, source.outer, 1, result.outer, 1))
    if source.inner != 1 or result.inner != 1:
        return None
    steps = (source.outer, source.along, result.outer, result.along)
    way: fourier_ir.Way = "cut columns" if inner % lanes else "columns"
    return _Pass(way, outer * -(-inner // lanes), (*begin, inner, *steps))


def _numbers(size: int, real: DType, scale: float) -> tuple[int, int, int]:
    """The size, where the table is, and the bits of the factor."""
    bits: int = struct.unpack("<q", struct.pack("<d", scale))[0]
    return size, butterflies_ir.twiddles(size, real).ctypes.data, bits


def _kind_of(sizes: Sequence[int]) -> butterflies_ir.Kind:
    """What the steps of all these sizes need."""
    return butterflies_ir.kind_of(prod(sizes))


def _suits(size: int, lanes: int, real: DType) -> bool:
    """Whether so many elements have small prime factors, fill registers and have room."""
    nbytes = 4 * size * lanes * real.itemsize
    return max(2, lanes // 2) <= size and nbytes <= _ROOM and prod(butterflies_ir.steps_of(size)) == size


def half_transform(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """Half of the spectra of rows of real numbers, with a factor."""
    size = program.parameters[0].type.shape[program.attributes["dim"]]
    return _real(program, inputs, outputs, size, program.attributes["scale"] / 2)


def mirrored_transform(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """Rows of real numbers from half of their spectra, with a factor."""
    return _real(program, inputs, outputs, program.attributes["size"], program.attributes["scale"])


def _real(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides], size: int, scale: float
) -> Executable | None:
    operand, result, dim = program.parameters[0].type, program.results[0].type, program.attributes["dim"]
    real, rows, half = operand.dtype.to_real(), prod(operand.shape[:dim]), size // 2
    lanes = lanes_of(real)
    lines = [
        None if strides is None else lines_of(type.shape, strides, dim)
        for type, strides in ((operand, inputs[0]), (result, outputs[0]))
    ]
    source, target = lines
    if source is None or target is None or size % 2 or not rows or not _suits(half, lanes, real):
        return None
    if (source.along, target.along) != (1, 1) or prod(operand.shape[dim + 1 :]) != 1:
        return None
    if rows * 4 < lanes and half > _SHORT:
        return None
    inverse = operand.dtype.is_complex
    values = (*_numbers(half, real, scale), rows, source.outer, 1, target.outer, 1)
    numbers = dict(zip(fourier_ir.REAL_NUMBERS, values, strict=False))
    numbers["turns"] = fourier_ir.turns(half, real).ctypes.data
    phase = Phase("transform_0", -(-rows // lanes), rows * size * size.bit_length())
    module = fourier_ir.real_transforms(real, _kind_of([half]), inverse=inverse)
    return module.bind([operand.dtype, result.dtype], [phase], numbers)


TRANSFORMS: dict[str, KernelFactory] = {
    "_fft": complex_transforms,
    "_rfft": half_transform,
    "_irfft": mirrored_transform,
}
"""Kernels of whole ops."""
