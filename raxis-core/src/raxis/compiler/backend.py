"""The backend that ops run on while a function is recorded: its executables note themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from raxis.backends.api import Backend, DeviceProperties, Executable, Strides
from raxis.compiler.memory import Filled, Memory, RecordedStorage, Region
from raxis.interception import active
from raxis.storage import Place

if TYPE_CHECKING:
    import numpy as np

    from raxis.compiler.recording import Recording
    from raxis.ptir.program import Program

_places: dict[int, Place] = {}


def recording_place(place: Place) -> Place:
    """The place that stands for a real one while recording."""
    if isinstance(place.backend, RecordingBackend):
        return place
    found = _places.get(id(place))
    if found is None:
        made = Place(place.device, RecordingBackend(place), place.index, RecordedStorage)
        found = _places.setdefault(id(place), made)
    return found


def current_recording() -> Recording:
    """The recording of this thread.

    Raises:
        RuntimeError: if there is none, so that a tensor of a recording is used outside of it.
    """
    recording = active.recording
    if recording is None:
        raise RuntimeError(
            "a tensor of a function that is being compiled was used in another thread; it has no values yet. "
            "Return it from the function, and use what the compiled function returns."
        )
    return recording


class RecordingBackend(Backend):
    """Stands in for the backend of a place."""

    def __init__(self, real: Place) -> None:
        self.real = real
        self.composites = {
            name: self._composite(name, factory) for name, factory in real.backend.composites.items()
        }

    def _composite(self, name: str, factory: Callable[..., Any]) -> Callable[..., Any]:
        def make(program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]) -> Any:
            real = factory(program, inputs, outputs)
            if real is None:
                return None
            return RecordedKernel(program, inputs, outputs, real, name)

        return make

    def device_count(self) -> int:
        return self.real.backend.device_count()

    def properties(self, index: int) -> DeviceProperties:
        return self.real.backend.properties(index)

    def allocate(self, nbytes: int, index: int) -> Memory:
        memory = Memory(nbytes)
        current_recording().born.append(memory)
        return memory

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        compiled = partial(
            self.real.backend.compile, program, inputs, outputs, in_place=in_place, disjoint=disjoint
        )
        return RecordedKernel(program, inputs, outputs, compiled)

    def copy_from_host(self, source: np.ndarray, buffer: Memory, byte_offset: int) -> None:
        backend = self.real.backend
        if buffer.buffer is None and not buffer.written and byte_offset == 0 and source.size == buffer.nbytes:
            buffer.buffer = backend.allocate(buffer.nbytes, self.real.index)
            buffer.source = Filled()
            backend.copy_from_host(source, buffer.buffer, 0)
            return
        _settle("a tensor was filled from the host")
        backend.copy_from_host(source, buffer.buffer, byte_offset)

    def copy_to_host(self, buffer: Memory, byte_offset: int, target: np.ndarray) -> None:
        _settle("the elements of a tensor were asked for")
        self.real.backend.copy_to_host(buffer.buffer, byte_offset, target)

    def host_view(self, buffer: Memory) -> np.ndarray | None:
        _settle("the elements of a tensor were asked for")
        return self.real.backend.host_view(buffer.buffer)

    def wrap_host(self, array: np.ndarray) -> Memory | None:
        buffer = self.real.backend.wrap_host(array)
        return None if buffer is None else current_recording().memory_of(buffer, array.size)

    def synchronize(self, index: int) -> None:
        self.real.backend.synchronize(index)


def _settle(reason: str) -> None:
    """End the recording, so that memory has elements."""
    if active.recording is not None:
        from raxis.compiler.breaks import interrupt

        interrupt(active.recording, reason)


class RecordedKernel:
    """An executable that notes its calls.

    Args:
        program: what it computes.
        inputs: strides of the operands; None for numbers.
        outputs: strides of the results.
        real: the executable that would run, or what compiles it.
        composite: the op's name, if the device has a kernel of its own for it.
    """

    def __init__(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        real: Callable[..., Any],
        composite: str | None = None,
    ) -> None:
        self.program = program
        self.composite = composite
        self._real = real
        self._inputs = tuple(
            None if strides is None else (value.type.dtype, value.type.shape, tuple(strides))
            for value, strides in zip(program.parameters, inputs, strict=True)
        )
        self._outputs = tuple(
            (value.type.dtype, value.type.shape, tuple(strides))
            for value, strides in zip(program.results, outputs, strict=True)
        )

    def __call__(self, *arguments: Any) -> None:
        from raxis.compiler.log import Call
        from raxis.compiler.recording import user_line

        recording = current_recording()
        given = iter(arguments)
        operands: list[Any] = []
        for known in self._inputs:
            first = next(given)
            operands.append(
                first if known is None else (recording.memory_of(first), Region(*known, next(given)))
            )
        results = tuple(
            (recording.memory_of(next(given)), Region(*known, next(given))) for known in self._outputs
        )
        recording.add(Call(self, tuple(operands), results, user_line()))

    @cached_property
    def real(self) -> Executable:
        """The executable that runs."""
        return self._real if self.composite is not None else self._real()
