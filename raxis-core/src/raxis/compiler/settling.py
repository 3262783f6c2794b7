"""The end of a recording: tensors that live on get their elements, and every storage is a plain one again."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np

from raxis.compiler.memory import Filled, Memory, RecordedStorage
from raxis.compiler.numbers import Invocation
from raxis.placement import real_place

if TYPE_CHECKING:
    from raxis.compiler.artifact import Artifact
    from raxis.compiler.log import Call
    from raxis.compiler.recording import Recording
    from raxis.storage import Place


def visible(recording: Recording) -> list[Memory]:
    """Memory born in the recording that a tensor still shows."""
    survivors = [memory for memory in recording.born if memory.owner is not None]
    if survivors:
        gc.collect()  # cycles of the tape keep tensors that nobody can reach
    return [memory for memory in survivors if memory.owner is not None]


def settle(recording: Recording, artifact: Artifact | None) -> None:
    """Compute all that is visible, and give it to the storages.

    With an artifact its program does it; without, the kernels run one after another.
    """
    if recording.real is None:
        _settle_unused(recording)
        return
    survivors = visible(recording)
    buffers = _Buffers(recording.real, survivors)
    try:
        if artifact is not None:
            draws = {generator: start for generator, (start, _) in recording.draws.items()}
            artifact.run(Invocation(recording.leaves_of_call, draws), buffers.region, buffers.of)
        elif survivors or any(memory.written for memory in recording.given.values()):
            _run_log(recording.calls, buffers)
    finally:
        _release(recording, survivors, buffers)


def _settle_unused(recording: Recording) -> None:
    """Give memory to tensors of a run without kernels, such as those of `raxis.empty`."""
    for memory in visible(recording):
        storage = memory.owner
        if isinstance(storage, RecordedStorage):
            place = real_place(storage.place.device)
            buffer = memory.buffer
            storage.settle(
                place.backend.allocate(memory.nbytes, place.index) if buffer is None else buffer, place
            )


def _run_log(calls: list[Call], buffers: _Buffers) -> None:
    """Run the kernels as they were noted, letting memory go after its last use."""
    last = {memory: number for number, call in enumerate(calls) for memory in call.memories}
    ending: dict[int, list[Memory]] = {}
    for memory, number in last.items():
        ending.setdefault(number, []).append(memory)
    for number, call in enumerate(calls):
        call.run(buffers.of)
        for memory in ending.get(number, ()):
            buffers.drop(memory)


class _Buffers:
    """The real buffers of memory while a recording is settled."""

    def __init__(self, place: Place, survivors: list[Memory]) -> None:
        self._place = place
        self._kept = set(survivors)
        self._made: dict[Memory, Any] = {}

    def of(self, memory: Memory) -> Any:
        """The buffer, made at its first use; what a recording filled stays as it was, so it is copied."""
        if memory.is_outside:
            return memory.buffer
        found = self._made.get(memory)
        if found is None:
            found = self._made[memory] = self._place.backend.allocate(memory.nbytes, self._place.index)
            if isinstance(memory.source, Filled):
                self._copy(memory.buffer, found, memory.nbytes)
        return found

    def region(self, memory: Memory) -> tuple[Any, int]:
        """Buffer and offset of a parameter."""
        buffer = self.of(memory) if memory.buffer is None else memory.buffer
        return buffer, 0 if memory.region is None else memory.region.offset

    def drop(self, memory: Memory) -> None:
        """Let a buffer go that no tensor will show."""
        if memory not in self._kept:
            self._made.pop(memory, None)

    def _copy(self, source: Any, target: Any, nbytes: int) -> None:
        content = np.empty(nbytes, np.uint8)
        self._place.backend.copy_to_host(source, 0, content)
        self._place.backend.copy_from_host(content, target, 0)


def _release(recording: Recording, survivors: list[Memory], buffers: _Buffers) -> None:
    assert recording.real is not None  # settle returned otherwise
    for memory in survivors:
        storage = memory.owner
        if isinstance(storage, RecordedStorage):
            storage.settle(buffers.of(memory), recording.real)
    for storage, memory in recording.adopted:
        if isinstance(storage, RecordedStorage):
            storage.settle(memory.buffer, recording.real)
