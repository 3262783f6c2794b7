"""What a recorded run leaves: results, gradients, written tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.autograd.grad_mode import mode
from raxis.compiler.differentiable import Derived, derive
from raxis.compiler.memory import HELD_BY_TENSORS, Argument, Memory, RecordedStorage
from raxis.compiler.numbers import ArgumentNumber, Source
from raxis.compiler.settling import visible
from raxis.compiler.watching import state_of_module
from raxis.layout import Layout
from raxis.tensor import Tensor, View
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording


class Shown(NamedTuple):
    """A tensor that each call makes anew: which memory it shows, and how."""

    memory: Memory
    layout: Layout
    offset: int
    inference: bool = False


class ShownView(NamedTuple):
    """A view that each call makes anew.

    Attributes:
        base: of an argument, of a tensor from outside, or of a result.
        layout: the view's.
        moved: its offset, counted from the base's.
        taped: whether gradients flow to the base.
        inference: whether it was made in inference mode.
    """

    base: Argument | Tensor | Repeated
    layout: Layout
    moved: int
    taped: bool
    inference: bool


class Repeated(NamedTuple):
    """The same as the result at an earlier position."""

    position: int


class Outcome(NamedTuple):
    """What a call leaves.

    Attributes:
        results: the leaves of what it returns, then the bases of views among them that are not returned: `Shown`,
            `ShownView`, `Repeated`, positions among the arguments (`Argument`), numbers (`Source`), or constants.
        structure: the containers around them.
        gradients: tensors whose ``grad`` changes, each with the new one: `Shown`, None, or a tensor.
        memories: whose contents the program computes.
        derived: the backward pass, if a result requires grad.
    """

    results: Sequence[Any]
    structure: TreeSpec
    gradients: Sequence[tuple[Tensor | Argument, Any]]
    memories: Sequence[Memory]
    derived: Derived | None


def outcome_of(recording: Recording, result: Any) -> Outcome:
    """What the run that just ended leaves; notes in the recording if a later call could not do the same."""
    leaves, structure = tree_flatten(result)
    leaves += _hidden_bases(leaves)
    _check(recording, leaves)
    results = [_result(recording, leaves, at) for at in range(len(leaves))]
    computed = [at for at, known in enumerate(results) if isinstance(known, Shown)]
    derived = derive(recording, leaves, computed) if mode.enabled and recording.is_repeatable else None
    gradients = [
        (recording.named(leaf), _shown(recording, leaf._grad))
        for leaf, entry in recording.leaves.values()
        if leaf._grad is not entry
    ]
    known = [item for item in (*results, *(grad for _, grad in gradients)) if isinstance(item, Shown)]
    made = [item.memory for item in known if not item.memory.is_outside] + recording.checks.memories
    written = [memory for memory in recording.given.values() if memory.written]
    del leaves
    if derived is None:  # else the tape holds what it saved, and goes with the results
        left = set(visible(recording)).difference(made)
        if left and recording.unrepeatable is None:
            recording.unrepeatable = (
                f"{len(left)} new tensors stayed behind in objects outside of the function"
            )
    memories = tuple(dict.fromkeys([*made, *written]))
    return Outcome(tuple(results), structure, tuple(gradients), memories, derived)


def with_values(result: Any) -> Any:
    """What a function returned, with plain numbers in the place of those that may change."""
    leaves, structure = tree_flatten(result)
    if not any(isinstance(leaf, ArgumentNumber) for leaf in leaves):
        return result
    return tree_unflatten(
        [leaf.value if isinstance(leaf, ArgumentNumber) else leaf for leaf in leaves], structure
    )


# ---- what cannot be repeated -----------------------------------------------------------------------


def _check(recording: Recording, leaves: Sequence[Any]) -> None:
    reason = _changed_tensor(recording) or next(
        filter(None, (_unlike(recording, leaf) for leaf in leaves)), None
    )
    if reason is not None and recording.unrepeatable is None:
        recording.unrepeatable = reason


def _changed_tensor(recording: Recording) -> str | None:
    """Why tensors from outside are not just written, if they are not."""
    for position, (storage, layout, edge) in recording.arguments.items():
        argument = recording.leaves_of_call[position]
        if argument._storage is not storage or argument._layout is not layout:
            return f"argument {position} got other memory or another shape"
        if argument._edge is not edge:
            return f"the place of argument {position} on the tape changed"
    for tensor, _, edge in recording.tensors.values():
        if tensor._edge is not edge and not (edge is None and tensor.is_leaf):
            return (
                f"a tensor of shape {list(tensor.shape)} outside of the function became a result on the tape"
            )
    for module, training, state in recording.modules.values():
        if module.training is not training or state_of_module(module) != state:
            return f"attributes of a {type(module).__name__} changed"
    return None


def _unlike(recording: Recording, leaf: Any) -> str | None:
    """Why a result cannot be made anew, if it cannot."""
    if not isinstance(leaf, Tensor) or _is_known(recording, leaf):
        return None
    if type(leaf) not in (Tensor, View):
        return f"a new {type(leaf).__name__} was returned"
    if leaf._edge is None:
        return None
    if leaf.is_leaf:
        return "a new leaf that requires grad was returned"
    memory = leaf._storage.buffer
    if isinstance(memory, Memory) and not memory.is_outside:
        return None
    return (
        None
        if _is_plain_view(recording, leaf)
        else "a result on the tape shares memory with a tensor from outside"
    )


def _is_known(recording: Recording, leaf: Tensor) -> bool:
    return (
        id(leaf) in recording.positions
        or (id(leaf) not in recording.made and not isinstance(leaf._storage, RecordedStorage))
        or id(leaf) in recording.tensors
    )


def _is_plain_view(recording: Recording, leaf: Tensor) -> bool:
    """Whether its place on the tape is that of a view of its base."""
    from raxis.autograd.function import FunctionNode

    if _outside_base(recording, leaf) is None or leaf._edge is None:
        return False
    node = leaf._edge[0]
    while node.number >= recording.first_node and not node.is_accumulator:
        if isinstance(node, FunctionNode) or len(node.edges) != 1 or node.edges[0] is None:
            return False
        node = node.edges[0][0]
    return True


# ---- results ---------------------------------------------------------------------------------------


def _hidden_bases(leaves: Sequence[Any]) -> list[Tensor]:
    """Bases that several results are views of: a write to one of them is seen by the others, also on the tape."""
    bases = [leaf._base for leaf in leaves if isinstance(leaf, View) and _is_fresh(leaf)]
    counts = Counter(id(base) for base in bases)
    present = {id(leaf) for leaf in leaves}
    unique = {id(base): base for base in bases if base is not None and counts[id(base)] > 1}
    return [base for key, base in unique.items() if key not in present]


def _is_fresh(tensor: Tensor) -> bool:
    memory = tensor._storage.buffer
    return isinstance(memory, Memory) and not memory.is_outside


def _result(recording: Recording, leaves: Sequence[Any], at: int) -> Any:
    leaf = leaves[at]
    if isinstance(leaf, ArgumentNumber):
        return Source(leaf.key, leaf.read)
    if not isinstance(leaf, Tensor):
        return leaf
    first = next(position for position, other in enumerate(leaves) if other is leaf)
    if first != at:
        return Repeated(first)
    if isinstance(leaf, View) and not _is_known(recording, leaf):
        found = _view(recording, leaves, leaf)
        if found is not None:
            return found
    return _shown(recording, leaf)


def _view(recording: Recording, leaves: Sequence[Any], leaf: View) -> ShownView | None:
    base: Tensor | None
    if _is_fresh(leaf):
        position = next((at for at, other in enumerate(leaves) if other is leaf._base), None)
        named: Any = None if position is None else Repeated(position)
        base = leaf._base
    else:
        base = _outside_base(recording, leaf)
        named = None if base is None else recording.named(base)
    if base is None or named is None or base._layout.dtype is not leaf._layout.dtype:
        return None
    return ShownView(
        named, leaf._layout, leaf._offset - base._offset, leaf._edge is not None, leaf._inference
    )


def _outside_base(recording: Recording, leaf: Tensor) -> Tensor | None:
    """The argument or tensor from outside that a view is one of."""
    base = leaf._base
    if base is None:
        return None
    for position in recording.positions.values():
        argument = recording.leaves_of_call[position]
        if argument is base or argument._base is base:
            return argument
    return None if id(base) in recording.made else base


def _shown(recording: Recording, leaf: Any) -> Any:
    if not isinstance(leaf, Tensor):
        return leaf
    if id(leaf) in recording.positions:
        return Argument(recording.positions[id(leaf)])
    buffer = leaf._storage.buffer
    inside = isinstance(buffer, Memory) or id(buffer) in recording.given
    if id(leaf) in recording.tensors or not inside:
        return leaf
    memory = recording.memory_of(buffer)
    if isinstance(memory.source, HELD_BY_TENSORS) and memory.dtype is not leaf._layout.dtype:
        recording.unrepeatable = f"memory of {memory.dtype} was returned as {leaf._layout.dtype}"
    return Shown(memory, leaf._layout, leaf._offset, leaf._inference)
