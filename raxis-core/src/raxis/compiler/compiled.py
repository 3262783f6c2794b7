"""`raxis.compile`: functions that run as one program per signature."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from raxis.autograd.grad_mode import mode
from raxis.compiler.differentiable import Derived, derive
from raxis.compiler.guards import guards_of
from raxis.compiler.memory import Argument, Memory
from raxis.compiler.numbers import ArgumentNumber
from raxis.compiler.recording import Recording
from raxis.compiler.replay import Outcome, Replay, Shown
from raxis.compiler.settling import visible
from raxis.ops.promotion import get_default_dtype
from raxis.interception import active
from raxis.placement import get_default_device
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten, tree_unflatten

RECORDINGS_PER_SIGNATURE = 8
"""How often one signature is recorded anew because of what changed outside; then it runs op by op."""


class Miss(NamedTuple):
    """One call that was recorded, and why."""

    signature: Any
    reason: str


class Compiled:
    """A function that runs as one program per signature of its arguments.

    Made by `raxis.compile`.
    """

    def __init__(self, function: Callable[..., Any], static_argnums: Sequence[int], on_break: str) -> None:
        self._function = function
        self._static = frozenset(static_argnums)
        self._on_break = on_break
        self._entries: dict[Any, list[Replay]] = {}
        self._refused: dict[Any, str] = {}
        self._misses: list[Miss] = []
        self._changing: set[int] = set()
        self._numbers: dict[Any, dict[int, Any]] = {}
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if active.recording is not None:
            return self._function(*args, **kwargs)
        leaves, structure = tree_flatten((args, kwargs))
        signature = (structure, tuple([self._describe(at, leaf) for at, leaf in enumerate(leaves)]), *_modes())
        reason = "first call with this signature"
        for replay in self._entries.get(signature, ()):
            failure = replay.guards.failure()
            if failure is None:
                return replay(leaves)
            reason = failure
        if signature in self._refused:
            return self._function(*args, **kwargs)
        return self._record(signature, leaves, structure, reason)

    def misses(self) -> list[Miss]:
        """The calls that could not repeat an earlier one, each with the reason, in order."""
        return list(self._misses)

    def _describe(self, position: int, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            return leaf._layout, leaf._edge is not None, leaf._inference
        if position in self._changing and type(leaf) in (int, float):
            return type(leaf)
        return type(leaf), repr(leaf) if isinstance(leaf, (float, complex)) else leaf
        
    # ---- recording ---------------------------------------------------------------------------------

    def _record(self, signature: Any, leaves: list[Any], structure: Any, reason: str) -> Any:
        self._misses.append(Miss(signature, reason))
        recording = Recording(self.__name__, self._on_break, leaves)
        recording.start()
        try:
            result = self._run(recording, leaves, structure)
            derived = self._derived(recording, result, leaves)
            outcome, wanted, left = _outcome(recording, result, leaves, derived)
        finally:
            recording.finish()
        if left and recording.unrepeatable is None:
            recording.unrepeatable = f"{left} new tensors stayed behind in objects outside of the function"
        if recording.unrepeatable is None:
            replay = Replay(recording, outcome, wanted, guards_of(recording), derived)
            self._entries.setdefault(signature, []).append(replay)
        return result

    @staticmethod
    def _derived(recording: Recording, result: Any, leaves: Sequence[Any]) -> Derived | None:
        if active.recording is not recording or not mode.enabled:
            return None
        return derive(recording, tree_flatten(result)[0], leaves)

    def _run(self, recording: Recording, leaves: list[Any], structure: Any) -> Any:
        given = []
        for position, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor):
                recording.give_argument(position, leaf)
            if position in self._changing and type(leaf) in (int, float):
                leaf = ArgumentNumber(leaf, ("argument", position), lambda call, at=position: call.leaves[at])
            given.append(leaf)
        args, kwargs = tree_unflatten(given, structure)
        return self._function(*args, **kwargs)


def _modes() -> tuple[Any, ...]:
    return mode.enabled, mode.inference, get_default_dtype(), get_default_device()


def _outcome(
    recording: Recording, result: Any, leaves: Sequence[Any], derived: Derived | None
) -> tuple[Outcome, list[Memory], int]:
    """What later calls leave, the memory they compute, and how many tensors stayed elsewhere."""
    made, structure = tree_flatten(result)
    positions = {id(leaf): position for position, leaf in enumerate(leaves)}
    shown = [_shown(recording, leaf, positions) for leaf in made]
    gradients = [
        (leaf, _shown(recording, leaf._grad, positions))
        for leaf, entry in recording.leaves.values()
        if leaf._grad is not entry
    ]
    known = [*shown, *(grad for _, grad in gradients)]
    wanted = list(dict.fromkeys(item.memory for item in known if isinstance(item, Shown)))
    born = [memory for memory in wanted if not memory.is_outside]
    written = [memory for memory in recording.given.values() if memory.written]
    del made
    # The tape of a result that requires grad holds what it saved, and goes with the result.
    left = set() if derived is not None else set(visible(recording)).difference(wanted)
    wanted = list(dict.fromkeys([*born, *written]))
    return Outcome(tuple(shown), structure, tuple(gradients)), wanted, len(left)


def _shown(recording: Recording, leaf: Any, positions: dict[int, int]) -> Any:
    if not isinstance(leaf, Tensor):
        return leaf
    if id(leaf) in positions:
        return Argument(positions[id(leaf)])
    if id(leaf) in recording.tensors or not _in_recording(recording, leaf):
        return leaf
    return Shown(recording.memory_of(leaf._storage.buffer), leaf._layout, leaf._offset)


def _in_recording(recording: Recording, tensor: Tensor) -> bool:
    buffer = tensor._storage.buffer
    return isinstance(buffer, Memory) or id(buffer) in recording.given
