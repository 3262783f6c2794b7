"""What a library routine is, and its adjustment to memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from raxis.backends.reference.quiet import new_context, pool
from raxis.layout import Strides, contiguous_strides
from raxis.ptir.program import Instruction
from raxis_cpu.machine import CACHE_LINE

Array = np.ndarray[Any, Any]
_BYTE = np.dtype(np.uint8)

Routine = Callable[..., None]
"""Takes an array per operand, then an array per result, and writes the results, which share no memory with operands."""


class Call(NamedTuple):
    """An instruction and the strides, in elements, of the arrays it is called with."""

    instruction: Instruction
    operands: tuple[Strides, ...]
    results: tuple[Strides, ...]

    def is_dense(self, result: int = 0) -> bool:
        """Whether a result is contiguous and row-major, so that reshaping it gives views."""
        shape = self.instruction.results[result].type.shape
        return is_dense(shape, self.results[result])


Factory = Callable[[Call], "Routine | None"]
"""Makes the routine of one call; None when it does not serve this case."""


def is_dense(shape: Sequence[int], strides: Strides) -> bool:
    """Whether strides are those of a contiguous row-major array, dims of size 1 aside."""
    if 0 in shape:
        return True
    expected = contiguous_strides(tuple(shape))
    return all(size == 1 or a == b for size, a, b in zip(shape, strides, expected, strict=True))


def quietly(function: Routine) -> Routine:
    """`function` with NumPy's floating-point warnings off."""

    def run(*arrays: Array) -> None:
        try:
            context = pool.pop()
        except IndexError:
            context = new_context()
        try:
            context.run(function, *arrays)
        finally:
            pool.append(context)

    return run


def address_of(array: Array) -> int:
    """Where an array begins."""
    address: int = array.__array_interface__["data"][0]
    return address


class _Workspace(threading.local):
    """Memory that a thread uses again and again, by the name of its use; it begins with a line of the cache."""

    def __init__(self) -> None:
        self._memory: dict[str, Array] = {}

    def memory(self, name: str, nbytes: int) -> Array:
        """At least so many uninitialised bytes; they stay valid until the name is asked for again."""
        memory = self._memory.get(name)
        if memory is None or memory.nbytes < nbytes:
            memory = np.empty(nbytes + CACHE_LINE, _BYTE)
            memory = self._memory[name] = memory[-address_of(memory) % CACHE_LINE :]
        return memory

    def array(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """An uninitialised array in such memory."""
        return np.ndarray(shape, dtype, self.memory(name, prod(shape) * dtype.itemsize))

    def lines(self, name: str, nbytes: int) -> int:
        """The address of such memory."""
        return address_of(self.memory(name, nbytes))


workspace = _Workspace()
