"""The backend of one level of `vmap`.

A program for one example is batched (`raxis.func.batching`) for the operands that differ between examples at a call,
and compiled by the backend of the device outside: a real one, one that records, or that of another level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raxis import placement
from raxis.backends.api import Backend, DeviceProperties, Executable, Strides
from raxis.func.batching import Batched, batch
from raxis.func.memory import BatchBuffer, BatchStorage, shared_write
from raxis.storage import Place

if TYPE_CHECKING:
    import numpy as np

    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.ptir.program import Program


class BatchPlace(Place):
    """Where tensors of one level live."""

    __slots__ = ()

    def __init__(self, device: Device, backend: BatchBackend) -> None:
        super().__init__(device, backend, device.index or 0, BatchStorage)

    def drawn(self, blocks: int) -> int:
        backend = self.backend
        assert isinstance(backend, BatchBackend)
        return backend.place.drawn(blocks * backend.size if backend.draws else blocks)


class BatchBackend(Backend):
    """Runs programs for all examples of one level.

    Args:
        outer: the device of the tensors that hold all examples.
        size: the number of examples.
        draws: whether every example has random numbers of its own.
    """

    def __init__(self, outer: Device, size: int, draws: bool) -> None:
        self.outer = outer
        self.size = size
        self.draws = draws

    @property
    def place(self) -> Place:
        """Where the memory is now."""
        return placement.place_of(self.outer)

    def device_count(self) -> int:
        return self.place.backend.device_count()

    def properties(self, index: int) -> DeviceProperties:
        return self.place.backend.properties(index)

    def allocate(self, nbytes: int, index: int) -> BatchBuffer:
        return BatchBuffer(self, nbytes)

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        return BatchedExecutable(self, program, inputs, outputs, in_place)

    def copy_from_host(self, source: np.ndarray, buffer: BatchBuffer, byte_offset: int) -> None:
        if buffer.stride is not None:
            raise _no_values("fill")
        storage = buffer.filled()
        storage.place.backend.copy_from_host(source, storage.buffer, buffer.start + byte_offset)

    def copy_to_host(self, buffer: BatchBuffer, byte_offset: int, target: np.ndarray) -> None:
        if buffer.stride is not None:
            raise _no_values("look at")
        storage = buffer.filled()
        storage.place.backend.copy_to_host(storage.buffer, buffer.start + byte_offset, target)

    def synchronize(self, index: int) -> None:
        self.place.backend.synchronize(index)


def _no_values(wish: str) -> RuntimeError:
    return RuntimeError(
        "vmap: It looks like you're calling .item() on a Tensor, or otherwise asking for its elements, as by "
        f"`if tensor:`, nonzero() or tolist(). There is one for each example, so that Python cannot {wish} a single "
        "one. Rewrite it with tensor operations, such as raxis.where instead of `if`."
    )


class BatchedExecutable:
    """A program for one example, run for all of them.

    Args:
        backend: of the level.
        program: for one example.
        inputs: strides of the operands; None for numbers.
        outputs: strides of the results.
        in_place: so many results are written over the first operands.
    """

    def __init__(
        self,
        backend: BatchBackend,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        in_place: int,
    ) -> None:
        self._backend = backend
        self._program = program
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._in_place = in_place
        self._items = [value.type.dtype.itemsize for value in (*program.parameters, *program.results)]
        self._batched: dict[Any, Batched] = {}
        self._compiled: dict[Any, Executable] = {}

    def __call__(self, *arguments: Any) -> None:
        operands = self._grouped(arguments)
        count = len(self._inputs)
        wanted = self._opened(operands[:count], operands[count:])
        flags = self._differing(operands[:count])
        passed: list[Any] = []
        strides: list[Any] = []
        own = (*self._inputs, *self._outputs)
        for operand, known, item in zip(operands, own, self._items, strict=True):
            if known is None:
                passed.append(operand)
                strides.append(None)
            else:
                strides.append(self._located(operand, known, item, passed))
        self._outer(flags, wanted, tuple(strides))(*passed)

    def _grouped(self, arguments: Sequence[Any]) -> list[Any]:
        """Numbers, and pairs of buffer and offset."""
        given = iter(arguments)
        return [
            next(given) if known is None else (next(given), next(given))
            for known in (*self._inputs, *self._outputs)
        ]

    def _opened(self, operands: Sequence[Any], results: Sequence[Any]) -> tuple[bool, ...]:
        """Which results have the examples as a dimension; their memory is made ready."""
        for result in results:
            if self._is_own(result):
                result[0].check_writable()
        while True:
            flags = self._differing(operands)
            differs = self._batch(flags, None).differs
            for result, value, flag in zip(results, self._program.results, differs, strict=True):
                self._open(result, value.type.dtype, flag)
            if flags == self._differing(operands):
                return self._differing(results)

    def _open(self, result: Any, dtype: DType, differs: bool) -> None:
        if self._is_own(result) and differs:
            result[0].open(dtype)
        elif differs:
            raise shared_write()

    def _is_own(self, operand: Any) -> bool:
        """Whether an operand is memory of this level, neither a number nor memory from outside."""
        return (
            isinstance(operand, tuple)
            and isinstance(operand[0], BatchBuffer)
            and operand[0].backend is self._backend
        )

    def _differing(self, operands: Sequence[Any]) -> tuple[bool, ...]:
        """Which operands differ between examples."""
        return tuple([self._is_own(operand) and operand[0].stride is not None for operand in operands])

    def _batch(self, flags: tuple[bool, ...], wanted: tuple[bool, ...] | None) -> Batched:
        found = self._batched.get((flags, wanted))
        if found is None:
            backend = self._backend
            found = batch(self._program, flags, backend.size, backend.draws, wanted)
            self._batched[flags, wanted] = found
        return found

    def _outer(
        self, flags: tuple[bool, ...], wanted: tuple[bool, ...], strides: tuple[Any, ...]
    ) -> Executable:
        place = self._backend.place
        key = (flags, wanted, strides, id(place))
        found = self._compiled.get(key)
        if found is None:
            count = len(self._inputs)
            program = self._batch(flags, wanted).program
            found = place.backend.compile(program, strides[:count], strides[count:], in_place=self._in_place)
            self._compiled[key] = found
        return found

    def _located(self, operand: tuple[Any, int], strides: Strides, item: int, passed: list[Any]) -> Strides:
        """Pass on where an operand lies outside; its strides there."""
        buffer, offset = operand
        if not self._is_own(operand):
            passed += operand
            return strides
        passed += [buffer.filled().buffer, buffer.elements(buffer.start, item) + offset]
        return strides if buffer.stride is None else (buffer.elements(buffer.stride, item), *strides)
