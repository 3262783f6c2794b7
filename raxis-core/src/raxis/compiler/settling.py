"""The end of a recording: tensors that live on get their elements, and every storage is a plain one again."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from raxis.compiler.artifact import Artifact
from raxis.compiler.linking import link
from raxis.compiler.memory import Memory, RecordedStorage
from raxis.compiler.numbers import Invocation

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording
    from raxis.storage import Place


def visible(recording: Recording) -> list[Memory]:
    """Memory born in the recording that a tensor still shows."""
    survivors = [memory for memory in recording.born if memory.owner is not None]
    if survivors:
        gc.collect()  # cycles of the tape keep tensors that nobody can reach
    return [memory for memory in survivors if memory.owner is not None]


def settle(recording: Recording) -> None:
    """Compute all that is visible, and give it to the storages."""
    if recording.real is None:
        return
    survivors = visible(recording)
    changed = [memory for memory in recording.given.values() if memory.written and memory not in survivors]
    wanted = [memory for memory in survivors if memory.written] + changed
    made: dict[Memory, Any] = {}
    try:
        if wanted:
            _compute(recording, wanted, recording.real, made)
    finally:
        _release(recording, survivors, made, recording.real)


def _compute(recording: Recording, wanted: list[Memory], place: Place, made: dict[Memory, Any]) -> None:
    artifact = Artifact(link(recording.name, recording.calls, wanted), recording.compiler)

    def fresh(memory: Memory) -> Any:
        made[memory] = place.backend.allocate(memory.nbytes, place.index)
        return made[memory]

    call = Invocation(recording.leaves_of_call, {g: start for g, (start, _) in recording.draws.items()})
    artifact.run(call, lambda memory: (memory.buffer, memory.region.offset if memory.region else 0), fresh)


def _release(recording: Recording, survivors: list[Memory], made: dict[Memory, Any], place: Place) -> None:
    for memory in survivors:
        storage = memory.owner
        if isinstance(storage, RecordedStorage):
            storage.settle(_buffer(memory, made, place), place)
    for storage, memory in recording.adopted:
        if isinstance(storage, RecordedStorage):
            storage.settle(memory.buffer, place)


def _buffer(memory: Memory, made: dict[Memory, Any], place: Place) -> Any:
    """The real buffer of surviving memory; what a recording filled stays as it was, so it is copied."""
    if memory in made:
        return made[memory]
    if memory.is_outside:
        return memory.buffer
    fresh = place.backend.allocate(memory.nbytes, place.index)
    if memory.buffer is not None:
        import numpy as np

        content = np.empty(memory.nbytes, np.uint8)
        place.backend.copy_to_host(memory.buffer, 0, content)
        place.backend.copy_from_host(content, fresh, 0)
    return fresh
