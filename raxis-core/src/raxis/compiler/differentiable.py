"""Results that require grad: the backward pass of a recorded function, recorded too.

The tape of the recorded run is asked for the gradients of the results with stand-ins for what will arrive. What that
needs of the forward pass becomes further results of the forward program; the tape of a replay is one node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.autograd.engine import run_backward
from raxis.autograd.grad_mode import mode
from raxis.autograd.node import Edge, Gradients, Node, next_number
from raxis.compiler.artifact import Artifact
from raxis.compiler.backend import recording_place
from raxis.compiler.linking import Linked, Linker
from raxis.compiler.memory import Argument, Incoming, Memory, RecordedStorage, Region
from raxis.compiler.numbers import Invocation
from raxis.layout import Layout, contiguous_strides, layout_of
from raxis.storage import Place, Storage
from raxis.tensor import Tensor, wrap

if TYPE_CHECKING:
    from raxis.compiler.log import Call
    from raxis.compiler.recording import Recording


class Derived(NamedTuple):
    """The backward half of a recorded function.

    Attributes:
        calls: its kernels.
        inputs: the differentiable tensors, as positions among the arguments or as outside tensors.
        gradients: for each of them the memory and layout of its gradient, None where there is none.
        results: which leaves of the results require grad.
        layouts: layouts of the gradients that arrive, which are contiguous.
    """

    calls: Sequence[Call]
    inputs: Sequence[Argument | Tensor]
    gradients: Sequence[tuple[Memory, Layout, int] | None]
    results: Sequence[int]
    layouts: Sequence[Layout]


def derive(recording: Recording, results: Sequence[Any], candidates: Sequence[int]) -> Derived | None:
    """Record the backward pass of what `results` require; None if none of them has a graph that is alive.

    Args:
        recording: of the function that returned `results`.
        results: the leaves of what it returned.
        candidates: positions of tensors among them that it computed.
    """
    positions = [at for at in candidates if _is_made_here(results[at])]
    sources = _differentiable(recording)
    if not positions or not sources:
        return None
    roots = [results[position] for position in positions]
    layouts = [_dense(root._layout) for root in roots]
    arriving = [_incoming(recording, number, layout) for number, layout in enumerate(layouts)]
    done, checked = len(recording.calls), len(recording.checks.failures)
    with _Ends(recording, roots, [edge for _, edge in sources]) as ends:
        found = run_backward(
            roots, arriving, keep_graph=True, create_graph=False, inputs=ends.tensors, accumulate=False
        )
    calls = recording.calls[done:]
    del recording.calls[done:]
    recording.checks.forget_after(checked)
    gradients = [
        None if grad is None else (recording.memory_of(grad._storage.buffer), grad._layout, grad._offset)
        for grad in found
    ]
    return Derived(calls, [source for source, _ in sources], gradients, positions, layouts)


def _is_made_here(leaf: Tensor) -> bool:
    """Whether the tensor was computed in the recording, with a graph that was not run yet."""
    if leaf._edge is None or not isinstance(leaf._storage, RecordedStorage):
        return False
    seen = {leaf._edge[0]}
    waiting = list(seen)
    while waiting:
        node = waiting.pop()
        if getattr(node, "saved", ()) is None:
            return False
        following = {edge[0] for edge in node.edges if edge is not None} - seen
        seen |= following
        waiting += following
    return True


def _differentiable(recording: Recording) -> list[tuple[Argument | Tensor, Edge]]:
    """The tensors that gradients leave the function for, and where these go."""
    found: dict[Edge, Argument | Tensor] = {}
    for position, (_, _, edge) in recording.arguments.items():
        if edge is not None:
            found.setdefault(edge, Argument(position))
    for tensor, _, edge in recording.tensors.values():
        if edge is not None and edge[0].number < recording.first_node:
            found.setdefault(edge, tensor)
    return [(source, edge) for edge, source in found.items()]


class _Ends:
    """While this is entered, the tape of a recorded function ends where it leaves the function.

    Attributes:
        tensors: stand-ins for the tensors that the gradients are for.
    """

    def __init__(self, recording: Recording, roots: Sequence[Tensor], edges: Sequence[Edge]) -> None:
        self._before = [(node, node.edges) for node in _made_nodes(roots, recording.first_node)]
        nodes = {edge[0]: _End(edge[0]) for edge in edges}  # one each: the engine tells nodes apart by number
        self._ends = {(node, position): (nodes[node], position) for node, position in edges}
        self.tensors = [self._stand_in(end) for end in self._ends.values()]

    @staticmethod
    def _stand_in(edge: Edge) -> Tensor:
        tensor = wrap(Storage(), 0, edge[0].result_layouts[edge[1]])
        tensor._edge = edge
        return tensor

    def __enter__(self) -> _Ends:
        for node, edges in self._before:
            node.edges = [None if edge is None else self._ends.get(edge, edge) for edge in edges]
        return self

    def __exit__(self, *_: object) -> None:
        for node, edges in self._before:
            node.edges = edges


class _End(Node):
    """Where gradients leave a function; it keeps them."""

    def __init__(self, node: Node) -> None:
        self.number = node.number
        self.result_layouts = node.result_layouts

    def apply(self, gradients: Gradients) -> Gradients:
        return []


def _made_nodes(roots: Sequence[Tensor], first: int) -> set[Node]:
    """The nodes that a function made, which have this number or a higher one."""
    waiting = [root._edge[0] for root in roots if root._edge is not None]
    found: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node.number >= first and node not in found:
            found.add(node)
            waiting += [edge[0] for edge in node.edges if edge is not None]
    return found


def _dense(layout: Layout) -> Layout:
    return layout_of(layout.dtype, layout.shape, contiguous_strides(layout.shape), layout.device)


def _incoming(recording: Recording, number: int, layout: Layout) -> Tensor:
    memory = Memory(layout.nbytes, None, Incoming(number), Region.of(layout, 0))
    assert recording.real is not None  # a result was computed
    place = recording_place(recording.real)
    return wrap(RecordedStorage.over(memory, layout.nbytes, place), 0, layout)


class Halves(NamedTuple):
    """A recorded function as two programs."""

    forward: Linked
    backward: Linked
    saved: Sequence[Memory]


def link_halves(name: str, calls: Sequence[Call], wanted: Sequence[Memory], derived: Derived) -> Halves:
    """Link both programs; the forward one also leaves what the backward one reads."""
    forward = Linker(name)
    forward.append_all(calls)
    backward = Linker(f"{name}_backward", forward.filled)
    backward.append_all(derived.calls)
    memories = dict.fromkeys(known[0] for known in derived.gradients if known is not None)
    linked = backward.finish(list(memories))
    given = [known[0] for known in linked.inputs if isinstance(known[0], Memory)]
    saved = [memory for memory in dict.fromkeys(given) if memory in forward.filled and memory not in wanted]
    return Halves(forward.finish([*wanted, *saved]), linked, saved)


class CompiledNode(Node):
    """The tape's node of one replay."""

    def __init__(self, backward: Backward, call: Invocation, buffers: Mapping[Memory, Storage]) -> None:
        self.number = next_number()
        self.result_layouts = backward.derived.layouts
        self.edges = [backward.edge(source, call) for source in backward.derived.inputs]
        self._backward = backward
        self._call: Invocation | None = call
        self._buffers: Mapping[Memory, Storage] | None = buffers
        self._versions = [(storage, storage.version) for storage in backward.watched(call, buffers)]

    def name(self) -> str:
        return "CompiledFunctionBackward"

    def release(self) -> None:
        self._buffers = self._call = None
        self._versions = []

    def apply(self, gradients: Gradients) -> Gradients:
        from raxis.autograd.record import freed

        if self._buffers is None or self._call is None:
            raise freed(self)
        if mode.enabled:
            raise RuntimeError(
                f"{self._backward.name}: gradients of a compiled function cannot be differentiated again outside of "
                "it (create_graph=True). Call raxis.autograd.grad(..., create_graph=True) inside the compiled function."
            )
        if any(storage.version != version for storage, version in self._versions):
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation "
                "between a compiled function and its backward pass. Clone it before the write."
            )
        return self._backward.run(self._call, self._buffers, gradients)


class Backward:
    """The compiled backward half."""

    def __init__(self, name: str, derived: Derived, artifact: Artifact, place: Place) -> None:
        self.name = name
        self.derived = derived
        self.place = place
        self.artifact = artifact

    @staticmethod
    def edge(source: Argument | Tensor, call: Invocation) -> Edge | None:
        """Where the gradient of a differentiable tensor goes at this call."""
        tensor: Tensor = call.leaves[source.position] if isinstance(source, Argument) else source
        return tensor._edge

    def watched(self, call: Invocation, buffers: Mapping[Memory, Storage]) -> list[Storage]:
        """The storages that must not be written before the backward pass."""
        from raxis.compiler.replay import storage_of

        found = []
        memories = [item[0] for item in self.artifact.linked.inputs if isinstance(item[0], Memory)]
        for known in memories:
            storage = buffers.get(known) or storage_of(known, call)
            if storage is not None:
                found.append(storage)
        return found

    def run(
        self, call: Invocation, buffers: Mapping[Memory, Storage], gradients: Gradients
    ) -> list[Tensor | None]:
        """The gradients of the differentiable tensors."""
        from raxis.compiler.replay import given

        arrived = [
            _contiguous(grad, layout) for grad, layout in zip(gradients, self.derived.layouts, strict=True)
        ]
        made: dict[Memory, Storage] = {}

        def lookup(memory: Memory) -> tuple[Any, int]:
            if isinstance(memory.source, Incoming):
                tensor = arrived[memory.source.position]
                return tensor._storage.buffer, tensor._offset
            saved = buffers.get(memory)
            return given(memory, call) if saved is None else (saved.buffer, 0)

        def fresh(memory: Memory) -> Any:
            buffer = self.place.backend.allocate(memory.nbytes, self.place.index)
            made[memory] = Storage.over(buffer, memory.nbytes, self.place)
            return buffer

        self.artifact.run(call, lookup, fresh)
        return [_shown(known, made, lookup, self.place) for known in self.derived.gradients]


def _contiguous(gradient: Tensor | None, layout: Layout) -> Tensor:
    from raxis.autograd.record import constant_of

    return constant_of(layout, 0) if gradient is None else gradient.contiguous()


def _shown(known: Any, made: Mapping[Memory, Storage], lookup: Any, place: Place) -> Tensor | None:
    if known is None:
        return None
    memory, layout, offset = known
    storage = made.get(memory)
    if storage is None:  # an arriving gradient, passed on
        buffer, start = lookup(memory)
        storage, offset = Storage.over(buffer, memory.nbytes, place), offset + start
    return wrap(storage, offset, layout)
