"""Replays: what a later call does instead of running the function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raxis.compiler.artifact import Artifact
from raxis.compiler.differentiable import Backward, CompiledNode, link_halves
from raxis.compiler.linking import link
from raxis.compiler.memory import Argument, Gradient, Held, Memory
from raxis.compiler.numbers import Invocation
from raxis.compiler.outcome import Outcome, Shown
from raxis.storage import Place, Storage
from raxis.tensor import Tensor, wrap
from raxis.utils._pytree import tree_unflatten

if TYPE_CHECKING:
    from raxis.compiler.guards import Guards
    from raxis.compiler.recording import Recording


class Replay:
    """One recorded run, ready to be repeated while its guards hold."""

    def __init__(self, recording: Recording, outcome: Outcome, guards: Guards) -> None:
        assert recording.real is not None  # a recording without a place has nothing to repeat
        self.guards = guards
        self.place: Place = recording.real
        self.outcome = outcome
        self.backward: Backward | None = None
        compiler = recording.compiler
        if outcome.derived is None:
            self.artifact = Artifact(link(recording.name, recording.calls, outcome.memories), compiler)
        else:
            halves = link_halves(recording.name, recording.calls, outcome.memories, outcome.derived)
            self.artifact = Artifact(halves.forward, compiler)
            self.backward = Backward(outcome.derived, Artifact(halves.backward, compiler), self.place)
        self._draws = [(generator, blocks) for generator, (_, blocks) in recording.draws.items()]
        self._written = [memory for memory, _ in self.artifact.linked.outputs if memory.is_outside]

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """Repeat the run for the leaves of a call's arguments."""
        draws = {generator: generator._reserve(blocks) for generator, blocks in self._draws}
        storages: dict[Memory, Storage] = {}
        place = self.place

        def fresh(memory: Memory) -> Any:
            buffer = place.backend.allocate(memory.nbytes, place.index)
            storages[memory] = Storage.over(buffer, memory.nbytes, place)
            return buffer

        call = Invocation(leaves, draws)
        self.artifact.run(call, lambda memory: given(memory, leaves), fresh)
        for memory in self._written:
            storage = storage_of(memory, leaves)
            if storage is not None:
                storage.version += 1
        made = [_made(known, leaves, storages) for known in self.outcome.results]
        if self.backward is not None:
            node = CompiledNode(self.backward, call, storages)
            for number, position in enumerate(self.backward.derived.results):
                made[position]._edge = (node, number)
        for leaf, known in self.outcome.gradients:
            leaf._grad = _made(known, leaves, storages)
        return tree_unflatten(made, self.outcome.structure)


def _tensor(source: Any, leaves: Sequence[Any]) -> Tensor | None:
    """The tensor of this call that a source names; None for sources that are no tensors."""
    if isinstance(source, Argument):
        return leaves[source.position]  # type: ignore[no-any-return]
    return source.leaf._grad if isinstance(source, Gradient) else None


def given(memory: Memory, leaves: Sequence[Any]) -> tuple[Any, int]:
    """Buffer and offset of a parameter's memory at this call."""
    tensor = _tensor(memory.source, leaves)
    buffer = memory.buffer if tensor is None else tensor._storage.buffer
    if isinstance(memory.source, Held):
        buffer = memory.source.storage.buffer
    return buffer, _start(memory, tensor)


def _start(memory: Memory, tensor: Tensor | None) -> int:
    if memory.moves and tensor is not None:
        return tensor._offset
    return 0 if memory.region is None else memory.region.offset


def storage_of(memory: Memory, leaves: Sequence[Any]) -> Storage | None:
    """The storage that shows a parameter's memory; None if no tensor does."""
    if isinstance(memory.source, Held):
        return memory.source.storage
    tensor = _tensor(memory.source, leaves)
    return None if tensor is None else tensor._storage


def _made(known: Any, leaves: Sequence[Any], storages: dict[Memory, Storage]) -> Any:
    if isinstance(known, Argument):
        return leaves[known.position]
    if not isinstance(known, Shown):
        return known
    memory = known.memory
    storage = storages.get(memory)
    if storage is not None:
        return wrap(storage, known.offset, known.layout)
    storage = storage_of(memory, leaves)
    assert storage is not None and memory.region is not None  # noqa: PT018  memory of a tensor from outside
    moved = _start(memory, _tensor(memory.source, leaves)) - memory.region.offset
    return wrap(storage, known.offset + moved, known.layout)
