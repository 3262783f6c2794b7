"""What a recorded run leaves: results, gradients, written tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.autograd.grad_mode import mode
from raxis.compiler.differentiable import Derived, derive
from raxis.compiler.memory import Argument, Memory
from raxis.compiler.settling import visible
from raxis.layout import Layout
from raxis.tensor import Tensor
from raxis.utils._pytree import TreeSpec, tree_flatten

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording


class Shown(NamedTuple):
    """A tensor that each call makes anew: which memory it shows, and how."""

    memory: Memory
    layout: Layout
    offset: int


class Outcome(NamedTuple):
    """What a call leaves.

    Attributes:
        results: the leaves of what it returns: `Shown`, positions among the arguments (`Argument`), or constants.
        structure: the containers around them.
        gradients: tensors whose ``grad`` changes, each with the new one: `Shown`, None, or a tensor.
        memories: whose contents the program computes.
        derived: the backward pass, if a result requires grad.
    """

    results: Sequence[Any]
    structure: TreeSpec
    gradients: Sequence[tuple[Tensor, Any]]
    memories: Sequence[Memory]
    derived: Derived | None


def outcome_of(recording: Recording, result: Any) -> Outcome:
    """What the run that just ended leaves; notes in the recording if a later call could not do the same."""
    leaves, structure = tree_flatten(result)
    derived = derive(recording, leaves) if mode.enabled else None
    positions = {id(leaf): at for at, leaf in enumerate(recording.leaves_of_call)}
    shown = [_shown(recording, leaf, positions) for leaf in leaves]
    gradients = [
        (leaf, _shown(recording, leaf._grad, positions))
        for leaf, entry in recording.leaves.values()
        if leaf._grad is not entry
    ]
    known = [item for item in (*shown, *(grad for _, grad in gradients)) if isinstance(item, Shown)]
    made = [item.memory for item in known if not item.memory.is_outside]
    written = [memory for memory in recording.given.values() if memory.written]
    del leaves
    if derived is None:  # else the tape holds what it saved, and goes with the results
        left = set(visible(recording)).difference(made)
        if left and recording.unrepeatable is None:
            recording.unrepeatable = (
                f"{len(left)} new tensors stayed behind in objects outside of the function"
            )
    memories = tuple(dict.fromkeys([*made, *written]))
    return Outcome(tuple(shown), structure, tuple(gradients), memories, derived)


def _shown(recording: Recording, leaf: Any, positions: dict[int, int]) -> Any:
    if not isinstance(leaf, Tensor):
        return leaf
    if id(leaf) in positions:
        return Argument(positions[id(leaf)])
    buffer = leaf._storage.buffer
    inside = isinstance(buffer, Memory) or id(buffer) in recording.given
    if id(leaf) in recording.tensors or not inside:
        return leaf
    return Shown(recording.memory_of(buffer), leaf._layout, leaf._offset)
