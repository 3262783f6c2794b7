"""A device with its own address space over the reference backend, in parts that `tests.testing.faults` breaks."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from raxis.backends.api import Backend, DeviceProperties, Executable, Strides
from raxis.backends.reference.backend import ReferenceBackend
from raxis.errors import OutOfMemoryError
from raxis.ptir import Program, TensorType

TOTAL = 1 << 32


class Buffer:
    """Memory that only the device sees."""

    def __init__(self, nbytes: int) -> None:
        self.content = np.empty(nbytes, np.uint8)


class Call:
    """An executable, its steps apart so that each can be broken.

    Attributes:
        program: what it computes.
        inputs: strides of the parameters; None for numbers.
        outputs: strides of the results.
    """

    def __init__(self, device: Loopback, program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides],
                 in_place: int) -> None:  # fmt: skip
        self.device, self.program, self.in_place = device, program, in_place
        self.inputs, self.outputs = list(inputs), list(outputs)
        self._run: Executable | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self.call(list(arguments))

    def call(self, arguments: list[Any]) -> Any:
        if self._run is None:
            self._run = self.device.interpreter.compile(self.program, self.inputs, self.outputs)
        self._run(*[item.content if isinstance(item, Buffer) else item for item in arguments])

    def split(self, arguments: Sequence[Any]) -> tuple[list[list[Any]], list[list[Any]]]:
        """The arguments of every parameter and of every result."""
        rest, parts = list(arguments), []
        for strides in [*self.inputs, *self.outputs]:
            count = 1 if strides is None else 2
            parts.append(rest[:count])
            rest = rest[count:]
        return parts[: len(self.inputs)], parts[len(self.inputs) :]

    def results(self, arguments: Sequence[Any]) -> list[np.ndarray]:
        """Arrays over the results' memory."""
        _, outputs = self.split(arguments)
        return [
            over(buffer, offset, strides, value.type)
            for (buffer, offset), strides, value in zip(
                outputs, self.outputs, self.program.results, strict=True
            )
        ]

    def operands(self, arguments: Sequence[Any]) -> list[np.ndarray | None]:
        """Arrays over the operands' memory; None for numbers."""
        inputs, _ = self.split(arguments)
        return [
            None if strides is None else over(*part, strides, parameter.type)
            for part, strides, parameter in zip(inputs, self.inputs, self.program.parameters, strict=True)
        ]

    def uses(self, *primitives: str) -> bool:
        return any(instruction.primitive in primitives for instruction in self.program.instructions)


def over(buffer: Buffer, offset: int, strides: Strides, type: TensorType) -> np.ndarray:
    dtype = type.dtype.numpy
    if not type.size:
        return np.empty(type.shape, dtype)
    steps = [step * dtype.itemsize for step in strides]
    return np.ndarray(type.shape, dtype, buffer.content, offset * dtype.itemsize, steps)


class Loopback(Backend):
    """Keeps the protocol; subclasses do not."""

    call: type[Call] = Call

    def __init__(self, name: str) -> None:
        self.name = name
        self.interpreter = ReferenceBackend()
        self.used = 0

    def device_count(self) -> int:
        return 1

    def properties(self, index: int) -> DeviceProperties:
        return DeviceProperties(f"loopback {self.name}", TOTAL)

    def allocate(self, nbytes: int, index: int) -> Any:
        if nbytes > TOTAL:
            self.exhausted(nbytes)
        buffer = Buffer(nbytes)
        self.used += nbytes
        weakref.finalize(buffer, self.freed, nbytes)
        return buffer

    def freed(self, nbytes: int) -> None:
        self.used -= nbytes

    def exhausted(self, nbytes: int) -> None:
        gc.collect()
        raise OutOfMemoryError(
            f"Out of memory on device '{self.name}': an allocation of {nbytes} bytes failed."
        )

    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        buffer.content[byte_offset : byte_offset + source.size] = source

    def copy_to_host(self, buffer: Any, byte_offset: int, target: np.ndarray) -> None:
        target[...] = buffer.content[byte_offset : byte_offset + target.size]

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        return self.call(self, program, inputs, outputs, in_place)
