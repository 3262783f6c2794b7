"""Arrays in a device's memory in every arrangement, surrounded by bytes that nobody may change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from raxis.ptir.program import Program
from raxis.ptir.types import TensorType
from raxis.testing.case import Subject, require

_GUARD = 0xAB
_TAIL = 5
"""Elements behind the last one."""


@dataclass(frozen=True)
class Arrangement:
    """How an array lies in its buffer: elements before it, elements from one to the next, dimensions in which order."""

    offset: int = 0
    spread: int = 1
    turned: bool = False

    def strides(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Strides in elements."""
        dims = range(len(shape)) if self.turned else reversed(range(len(shape)))
        strides, step = [0] * len(shape), self.spread
        for dim in dims:
            strides[dim] = step
            step *= shape[dim]
        return tuple(strides)


PLAIN = Arrangement()
APART = Arrangement(offset=3, spread=2, turned=True)
SHIFTED = Arrangement(offset=5)


class Placed:
    """An array in a buffer of the device.

    Args:
        subject: the device.
        array: the elements.
        arrangement: how they lie.
        repeated: the first dimension has stride 0; its elements must be equal.
    """

    def __init__(
        self, subject: Subject, array: np.ndarray, arrangement: Arrangement = PLAIN, repeated: bool = False
    ) -> None:
        array = np.asarray(array)
        self.subject, self.offset, self.dtype, self.shape = (
            subject,
            arrangement.offset,
            array.dtype,
            array.shape,
        )
        self.strides = arrangement.strides(array.shape)
        if repeated and array.ndim:
            self.strides = (0, *self.strides[1:])
        reach = sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))
        span = self.offset + (reach + 1 if array.size else 0) + _TAIL
        self.image = np.full(span * array.itemsize, _GUARD, np.uint8)
        self.elements(self.image)[...] = array
        self.buffer = subject.backend.allocate(self.image.size, subject.index)
        subject.backend.copy_from_host(self.image, self.buffer, 0)

    def elements(self, image: np.ndarray) -> np.ndarray:
        """The elements within the bytes of the buffer."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        item = self.dtype.itemsize
        steps = [step * item for step in self.strides]
        return np.ndarray(self.shape, self.dtype, image, self.offset * item, steps)

    def read(self) -> np.ndarray:
        """The elements now; fails if a byte beside them changed."""
        image = np.empty_like(self.image)
        self.subject.backend.copy_to_host(self.buffer, 0, image)
        found = np.array(self.elements(image))
        self.elements(image)[...] = self.elements(self.image)
        changed = np.flatnonzero(image != self.image)
        require(
            not changed.size,
            f"{changed.size} bytes that belong to no element were overwritten, the first at byte {changed[:1]} of "
            f"a buffer with elements of {self.dtype} at offset {self.offset}, strides {self.strides}.",
        )
        return found

    def check_unchanged(self) -> None:
        """Fail if an element changed."""
        before, now = np.array(self.elements(self.image)), self.read()
        require(
            before.tobytes() == now.tobytes(),
            f"an operand that is only read was overwritten:\n{before}\n{now}",
        )


def execute(
    subject: Subject,
    program: Program,
    inputs: Sequence[Placed | complex],
    arrangement: Arrangement = PLAIN,
    disjoint: bool = True,
) -> list[np.ndarray]:
    """The results of a program on the device, each in a buffer of its own.

    Fails if operands or bytes beside the results change, or if the executable returns anything.
    """
    outputs = [Placed(subject, _filler(value.type), arrangement) for value in program.results]
    call(subject, program, inputs, outputs, disjoint=disjoint)
    for item in inputs:
        if isinstance(item, Placed):
            item.check_unchanged()
    return [output.read() for output in outputs]


def _filler(type: TensorType) -> np.ndarray:
    return np.ones(type.shape, type.dtype.numpy)


def call(
    subject: Subject,
    program: Program,
    inputs: Sequence[Placed | complex],
    outputs: Sequence[Placed],
    in_place: int = 0,
    disjoint: bool = True,
) -> None:
    """Compile a program for these operands and run it."""
    strides = [item.strides if isinstance(item, Placed) else None for item in inputs]
    executable = subject.backend.compile(
        program, strides, [item.strides for item in outputs], in_place=in_place, disjoint=disjoint
    )
    arguments: list[object] = []
    for item in [*inputs, *outputs]:
        arguments += [item.buffer, item.offset] if isinstance(item, Placed) else [item]
    returned: object = _called(executable, arguments)
    require(returned is None, f"an executable must return None, but it returned {returned!r}.")
    subject.backend.synchronize(subject.index)


def _called(executable: Callable[..., object], arguments: Sequence[object]) -> object:
    return executable(*arguments)
