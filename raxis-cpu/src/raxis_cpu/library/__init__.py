"""Library routines: what runs the instructions that are not loops.

`routine` makes a callable over NumPy arrays for one instruction; `composites` makes kernels of whole ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from raxis.backends.api import Executable
from raxis.backends.reference.kernels import may_warn
from raxis.layout import Strides, contiguous_strides
from raxis.ptir.program import Instruction
from raxis_cpu.library import (
    convolution,
    decompositions,
    factorizations,
    ordering,
    products,
    scans,
    scattering,
    searching,
    transforms,
)
from raxis_cpu.library.complex_products import complex_product
from raxis_cpu.library.composites import composites
from raxis_cpu.library.gemm import native_product
from raxis_cpu.library.reference import reference
from raxis_cpu.library.routine import Array, Call, Factory, Routine, quietly

__all__ = ["ROUTINES", "Routine", "composites", "native", "routine"]

ROUTINES: Mapping[str, Factory] = {
    "dot_general": products.dot_general,
    "convolution": convolution.convolution,
    "fft": transforms.fft,
    "rfft": transforms.rfft,
    "irfft": transforms.irfft,
}
"""Primitives with a routine of their own over NumPy arrays; those without any run the reference backend's kernel."""

BUILT_INS: Mapping[str, Callable[[Call], Executable | None]] = {
    "sort": ordering.sort,
    "searchsorted": searching.searchsorted,
    "scatter": scattering.scatter,
    "put": scattering.put,
    **factorizations.FACTORIZATIONS,
    **decompositions.DECOMPOSITIONS,
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin"), scans.scan),
}
"""Primitives with native code that is called as kernels are."""


def native(
    instruction: Instruction, operands: Sequence[Strides], results: Sequence[Strides]
) -> Executable | None:
    """The built-in that runs `instruction` on memory of these strides; None if there is none.

    It takes an array of bytes and an offset in elements per operand, then per result. Results share no memory with
    operands, but the result of ``scatter`` and ``put`` may be the memory of any operand of its type. An index out of
    range raises IndexError before anything is written.
    """
    call = Call(instruction, tuple(map(tuple, operands)), tuple(map(tuple, results)))
    if instruction.primitive == "dot_general":
        is_complex = instruction.results[0].type.dtype.is_complex
        return (complex_product if is_complex else native_product)(instruction, call.operands, call.results)
    factory = BUILT_INS.get(instruction.primitive)
    return factory(call) if factory is not None else None


def routine(instruction: Instruction, operands: Sequence[Strides], results: Sequence[Strides]) -> Routine:
    """What runs `instruction` on arrays of these strides (in elements), one per operand, then one per result.

    Results share no memory with operands. An index out of range raises IndexError before anything is written.

    Example:
        >>> import numpy as np, raxis
        >>> from raxis.ptir.builder import Builder
        >>> from raxis.ptir.types import TensorType
        >>> builder = Builder("running")
        >>> x = builder.parameter(TensorType(raxis.float32, (3,)))
        >>> program = builder.build([builder.emit("cumsum", x, dim=0)])
        >>> out = np.empty(3, np.float32)
        >>> routine(program.instructions[0], [(1,)], [(1,)])(np.ones(3, np.float32), out)
        >>> out
        array([1., 2., 3.], dtype=float32)
    """
    call = Call(instruction, tuple(map(tuple, operands)), tuple(map(tuple, results)))
    if instruction.primitive in BUILT_INS:
        made = _on_arrays(call)
        if made is not None:
            return made
    factory = ROUTINES.get(instruction.primitive)
    made = factory(call) if factory is not None else None
    if made is None:
        made = reference(call)
    return quietly(made) if may_warn(instruction) else made


def _on_arrays(call: Call) -> Routine | None:
    """The built-in over NumPy arrays, by way of dense copies where it does not serve their strides."""
    made = native(call.instruction, call.operands, call.results)
    if made is not None:
        return lambda *arrays: made(*_with_offsets(arrays))
    parts = (call.instruction.operands, call.instruction.results)
    dense = native(
        call.instruction, *([contiguous_strides(value.type.shape) for value in part] for part in parts)
    )
    return None if dense is None else _through_copies(dense, len(parts[0]))


def _with_offsets(arrays: Sequence[Array]) -> list[Any]:
    return [item for array in arrays for item in (array, 0)]


def _through_copies(made: Executable, operands: int) -> Routine:
    def routine(*arrays: Array) -> None:
        given = [np.ascontiguousarray(array) for array in arrays[:operands]]
        results = [np.empty(array.shape, array.dtype) for array in arrays[operands:]]
        made(*_with_offsets([*given, *results]))
        for target, value in zip(arrays[operands:], results, strict=True):
            target[...] = value

    return routine
