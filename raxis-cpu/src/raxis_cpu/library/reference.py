"""Everything else: the reference backend's NumPy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from raxis.backends.reference.compiler import compile_program
from raxis.backends.reference.kernels import KERNELS
from raxis.layout import contiguous_strides
from raxis.ptir.primitives import PRIMITIVES
from raxis.ptir.program import Instruction, Parameter, Program
from raxis_cpu.library.routine import Array, Call, Routine


def reference(call: Call) -> Routine:
    """The routine of any instruction."""
    instruction = call.instruction
    if instruction.regions:
        return _through_program(instruction)
    kernel = KERNELS[instruction.primitive](instruction)
    if PRIMITIVES[instruction.primitive].several_results:
        return _writing_all(kernel, len(instruction.operands))

    def routine(*arrays: Array) -> None:
        arrays[-1][...] = kernel(*arrays[:-1])

    return routine


def _writing_all(kernel: Any, count: int) -> Routine:
    def routine(*arrays: Array) -> None:
        for target, value in zip(arrays[count:], kernel(*arrays[:count]), strict=True):
            target[...] = value

    return routine


def _through_program(instruction: Instruction) -> Routine:
    """Control flow: a program of this one instruction, on contiguous arrays."""
    parameters = {operand: Parameter(operand.id, operand.type) for operand in instruction.operands}
    operands = tuple(parameters[operand] for operand in instruction.operands)
    alone = Instruction(
        instruction.primitive, operands, instruction.attributes, instruction.results, instruction.regions
    )
    program = Program(instruction.primitive, tuple(parameters.values()), (alone,), instruction.results)
    inputs = [contiguous_strides(parameter.type.shape) for parameter in parameters.values()]
    outputs = [contiguous_strides(result.type.shape) for result in instruction.results]
    execute = compile_program(program, inputs, outputs)
    first_use = [instruction.operands.index(operand) for operand in parameters]
    count = len(instruction.operands)

    def routine(*arrays: Array) -> None:
        results = [np.empty(array.shape, array.dtype) for array in arrays[count:]]
        flat: list[Any] = []
        for array in [*(np.ascontiguousarray(arrays[number]) for number in first_use), *results]:
            flat += [array.reshape(-1).view(np.uint8), 0]
        execute(*flat)
        for target, value in zip(arrays[count:], results, strict=True):
            target[...] = value

    return routine
