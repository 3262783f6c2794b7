"""Memory of tensors of which there is one for each example, and the backend that runs programs on it.

A program for one example is batched (`raxis.func.batching`) for the operands that differ between examples at a call,
and compiled by the backend of the device outside: a real one, one that records, or that of another level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raxis import placement
from raxis.autograd.grad_mode import no_grad
from raxis.backends.api import Backend, DeviceProperties, Executable, Strides
from raxis.func.batching import Batched, batch
from raxis.interception import active
from raxis.layout import layout_of
from raxis.storage import Place, Storage, allocate
from raxis.tensor import wrap

if TYPE_CHECKING:
    import numpy as np

    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.ptir.program import Program
    from raxis.tensor import Tensor


class BatchBuffer:
    """Memory for every example, or one for all of them; which of both may be settled by the first write.

    Attributes:
        backend: of the level it belongs to.
        nbytes: the size for one example.
        storage: the memory; None before the first write.
        start: where the first example begins, in bytes.
        stride: from one example to the next, in bytes; None if they are all the same.
        outside: the tensor from outside of `vmap` that the memory belongs to.
    """

    __slots__ = ("backend", "nbytes", "outside", "start", "storage", "stride")

    def __init__(
        self,
        backend: BatchBackend,
        nbytes: int,
        outside: Tensor | None = None,
        stride: int | None = None,
    ) -> None:
        self.backend = backend
        self.nbytes = nbytes
        self.outside = outside
        self.stride = stride
        self.storage: Storage | None = None
        self.start = 0
        if outside is not None:
            self.storage = outside._storage
            self.start = outside._offset * outside._layout.dtype.itemsize

    def filled(self) -> Storage:
        """The memory; if there is none yet, one for all examples."""
        if self.storage is None:
            self.storage = allocate(self.nbytes, self.backend.place)
        return self.storage

    @staticmethod
    def elements(count: int, itemsize: int) -> int:
        """Bytes as elements.

        Raises:
            RuntimeError: if they are no whole number of elements.
        """
        if count % itemsize:
            raise RuntimeError(
                f"vmap: {count} bytes from one example to the next are no whole number of elements of {itemsize} "
                "bytes, so that they cannot be viewed as such. Clone the tensor first."
            )
        return count // itemsize

    def open(self, dtype: DType) -> None:
        """Make ready for a write of `dtype` that differs between examples.

        Raises:
            RuntimeError: if the memory is one that all examples share from outside.
        """
        if self.stride is not None:
            return
        if self.outside is not None:
            raise shared_write()
        single, self.stride = self.storage, self.nbytes
        self.storage = allocate(self.nbytes * self.backend.size, self.backend.place)
        if single is not None:
            self.storage.version = single.version
            _repeat(single, self.storage, dtype, self.elements(self.nbytes, dtype.itemsize))

    def check_writable(self) -> None:
        """Raise RuntimeError for memory of a tensor that the tape outside of `vmap` knows."""
        if self.outside is None:
            return
        if self.outside._edge is not None:
            raise RuntimeError(
                "vmap: a tensor that requires grad outside of vmap is being written in place inside of it. Write to a "
                "clone()."
            )
        if active.recording is not None and not self.outside._layout.device.depth:
            active.recording.note_write(self.outside)


def _repeat(single: Storage, storage: Storage, dtype: DType, count: int) -> None:
    """Copy the memory of one example to that of all."""
    device = single.place.device
    size = storage.nbytes // max(single.nbytes, 1)
    once = wrap(single, 0, layout_of(dtype, (1, count), None, device))
    with no_grad():
        wrap(storage, 0, layout_of(dtype, (size, count), None, device)).copy_(once)


def shared_write() -> RuntimeError:
    """The error of writing what differs between examples over what all share."""
    return RuntimeError(
        "vmap: an inplace operation is not possible because it would write a value for each example into a tensor that "
        "all examples share, being made outside of vmap. Use the out-of-place operation, or make the tensor inside, "
        "such as with new_zeros()."
    )


class BatchStorage(Storage):
    """A storage over a `BatchBuffer`; its version is that of the memory, which tensors outside may show too."""

    __slots__ = ()

    @property
    def version(self) -> int:
        """How often the memory was written in place."""
        held = self.buffer.storage
        found: int = _version.__get__(self) if held is None else held.version
        return found

    @version.setter
    def version(self, value: int) -> None:
        held = self.buffer.storage
        if held is None:
            _version.__set__(self, value)
        else:
            held.version = value

    @classmethod
    def sharing(cls, buffer: BatchBuffer, place: Place) -> BatchStorage:
        """A storage over memory that exists, whose version stays what it is."""
        storage = cls()
        storage.buffer = buffer
        storage.nbytes = buffer.nbytes
        storage.place = place
        storage.read_only = buffer.filled().read_only
        return storage


_version: Any = Storage.__dict__["version"]


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
