"""What a device has no kernel for: the reference backend computes it on copies of the operands on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from raxis.backends.reference.backend import ReferenceBackend
from raxis.codegen.copies import copy_kernel
from raxis.codegen.launching import Memory, Part, Scalars, loop_part
from raxis.layout import contiguous_strides, extent
from raxis.ptir.program import Instruction, Parameter, Program
from raxis.ptir.types import TensorType
from raxis.schedule import Buffer, LibraryStep, Number

if TYPE_CHECKING:
    from raxis.codegen.backend import KernelBackend


class HostPart(Part):
    """One instruction on the host."""

    def __init__(
        self, backend: KernelBackend, step: LibraryStep, buffers: Sequence[Buffer], numbers: Sequence[Number]
    ) -> None:
        self._backend = backend
        self._operands, self._results = step.operands, step.results
        self._numbers = [numbers[~slot] if slot < 0 else None for slot in step.operands]
        self._buffers = buffers
        self._types = [value.type for value in step.instruction.results]
        program = single(step.instruction, [slot < 0 for slot in step.operands])
        inputs = [None if slot < 0 else buffers[slot].strides for slot in step.operands]
        dense = [contiguous_strides(type.shape) for type in self._types]
        self._run = ReferenceBackend().compile(program, inputs, dense)
        self._copies = [
            _spreading(backend, value.type, buffers[slot])
            for value, slot in zip(step.instruction.results, step.results, strict=True)
        ]

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        arguments: list[Any] = []
        for slot, number in zip(self._operands, self._numbers, strict=True):
            if number is None:
                arguments += [self._read(memory[slot], self._buffers[slot]), 0]
            else:
                arguments.append(_value(number, scalars))
        results = [np.empty(type.size * type.dtype.itemsize, np.uint8) for type in self._types]
        self._run(*arguments, *(part for result in results for part in (result, 0)))
        for place, (slot, result) in enumerate(zip(self._results, results, strict=True)):
            self._write(place, memory[slot], result)

    def _read(self, place: Memory, buffer: Buffer) -> np.ndarray:
        """The bytes from an operand's first element to its last one."""
        itemsize = buffer.dtype.itemsize
        found = np.empty(extent(buffer.shape, buffer.strides) * itemsize, np.uint8)
        if found.size:
            self._backend.copy_to_host(place[0], place[1] * itemsize, found)
        return found

    def _write(self, place: int, target: Memory, result: np.ndarray) -> None:
        if not result.size:
            return
        copy = self._copies[place]
        if copy is None:
            self._backend.copy_from_host(result, target[0], target[1] * self._types[place].dtype.itemsize)
            return
        dense = self._backend.allocate(result.size, self._backend.index_of(target[0]))
        self._backend.copy_from_host(result, dense, 0)
        copy([(dense, 0), target], {})


def single(instruction: Instruction, by_value: Sequence[bool]) -> Program:
    """A program of one instruction."""
    parameters = tuple(
        Parameter(number, operand.type, each)
        for number, (operand, each) in enumerate(zip(instruction.operands, by_value, strict=True))
    )
    whole = Instruction(
        instruction.primitive, parameters, instruction.attributes, instruction.results, instruction.regions
    )
    return Program(instruction.primitive, parameters, (whole,), instruction.results)


def _spreading(backend: KernelBackend, type: TensorType, buffer: Buffer) -> Part | None:
    """A copy from dense memory to a buffer that is not."""
    dense = contiguous_strides(buffer.shape)
    if buffer.strides == dense:
        return None
    return loop_part(backend, copy_kernel(type, dense, buffer.strides), (0, 1))


def _value(number: Number, scalars: Scalars) -> Any:
    return number.added if number.position is None else scalars[number.position] + number.added
