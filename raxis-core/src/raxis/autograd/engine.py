"""The backward pass.

Nodes are run by falling number from a heap: every node that feeds gradients into another was made later,
so a node runs after all its gradients have arrived. No recursion, no counting of dependencies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

from raxis.autograd import anomaly
from raxis.autograd.grad_mode import ever, mode
from raxis.autograd.node import AccumulateGrad, Edge, Gradients, Node, NodeHooks
from raxis.interception import active, anyone, observer
from raxis.storage import Storage
from raxis.tensor import Tensor, View


class _Pass:
    """The state of one backward pass.

    Args:
        keep_graph: what nodes saved is kept.
        create_graph: the pass is recorded itself.
        needed: the nodes that may run; None: all.
        wanted: edges whose gradients are captured.
        accumulate: whether leaves get their ``grad``.
    """

    __slots__ = (
        "accumulate", "captured", "create_graph", "keep_graph", "needed", "pending", "queue", "shared", "wanted",
    )  # fmt: skip

    def __init__(
        self,
        keep_graph: bool,
        create_graph: bool,
        needed: set[Node] | None = None,
        wanted: Collection[Edge] = (),
        accumulate: bool = True,
    ) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.needed = needed
        self.wanted = wanted
        self.accumulate = accumulate
        self.captured: dict[Edge, Tensor] = {}
        self.pending: dict[int, tuple[Node, list[Tensor | None]]] = {}
        """Nodes that gradients have arrived at, by negated number; `queue` is the heap of the keys."""
        self.queue: list[int] = []
        self.shared: dict[int, Storage] = {}
        """Storages that somebody else may hold: a leaf must copy them instead of keeping them."""

    def add(self, edges: Sequence[Edge | None], gradients: Gradients) -> None:
        """Let gradients arrive at edges; None where there is none."""
        pending = self.pending
        for edge, gradient in zip(edges, gradients):  # noqa: B905  checked where a count may be wrong
            if edge is None or gradient is None:
                continue
            node, position = edge
            key = -node.number
            if key in pending:
                arrived = pending[key][1]
                present = arrived[position]
                arrived[position] = gradient if present is None else present + gradient
                continue
            count = len(node.result_layouts)
            arrived = [None] * (count if count > position else position + 1)
            arrived[position] = gradient
            pending[key] = (node, arrived)
            heappush(self.queue, key)

    def share(self, tensors: Iterable[Tensor | None]) -> None:
        """Mark storages as held by others."""
        for tensor in tensors:
            if tensor is not None:
                self.shared[id(tensor._storage)] = tensor._storage

    def run(self) -> None:
        """Run every pending node and those that follow."""
        pending, queue, keep_graph = self.pending, self.queue, self.keep_graph
        observing = observer()
        selective = self.needed is not None or bool(self.wanted) or observing is not None
        checked = ever.observed and anomaly.checks_nan()
        while queue:
            node, gradients = pending.pop(heappop(queue))
            if isinstance(node, AccumulateGrad) and node.hooks is None and not selective:
                self._accumulate(node, gradients[0])
                continue
            try:
                if node.hooks is None and not selective:
                    results = node.apply(gradients)
                elif observing is None:
                    results = self._careful_step(node, gradients)
                else:
                    results = observing.run_node(node, self._careful_step, gradients)
            except Exception as error:
                _note_forward_line(node, error)
                raise
            if checked:
                _check_nan(node, results)
            if not results:
                continue  # the node did not run
            if not keep_graph:
                node.release()
            self.add(node.edges, results)

    # ---- with hooks, towards chosen inputs, or observed ------------------------------------------------------

    def _careful_step(self, node: Node, gradients: list[Tensor | None]) -> Gradients:
        hooks = node.hooks
        if hooks is not None:
            self._call_tensor_hooks(hooks, gradients)
        self._capture(node, gradients)
        if self.needed is not None and node not in self.needed:
            return ()
        if isinstance(node, AccumulateGrad):
            if self.accumulate and hooks is None:
                self._accumulate(node, gradients[0])
            elif self.accumulate:
                self._accumulate_with_hooks(node, gradients[0])
            return ()
        return node.apply(gradients) if hooks is None else self._apply_with_hooks(node, hooks, gradients)

    def _capture(self, node: Node, gradients: Sequence[Tensor | None]) -> None:
        for position, gradient in enumerate(gradients):
            if gradient is not None and (node, position) in self.wanted:
                self.captured[(node, position)] = gradient
                self.share((gradient,))

    def _call_tensor_hooks(self, hooks: NodeHooks, gradients: list[Tensor | None]) -> None:
        for position, registered in hooks.tensors.items():
            for hook in list(registered.values()):
                gradient = gradients[position] if position < len(gradients) else None
                if gradient is not None:
                    self.share((gradient,))
                    replaced = hook(gradient)
                    if replaced is not None:
                        gradients[position] = _checked_hook_result(hook, replaced, gradient)
                        self.share((replaced,))
        for position, reference in hooks.retained.items():
            tensor, gradient = reference(), gradients[position]
            if tensor is not None and gradient is not None:
                self.share((gradient,))
                tensor._grad = gradient if tensor._grad is None else tensor._grad + gradient

    def _apply_with_hooks(self, node: Node, hooks: NodeHooks, gradients: Gradients) -> Gradients:
        for hook in list(hooks.pre.values()):
            replaced = hook(tuple(gradients))
            if replaced is not None:
                gradients = replaced if isinstance(replaced, tuple) else (replaced,)
        if all(gradient is None for gradient in gradients):
            return ()
        results = node.apply(gradients)
        if hooks.post:
            self.share((*gradients, *results))
            for hook in list(hooks.post.values()):
                replaced = hook(tuple(results), tuple(gradients))
                if replaced is not None:
                    results = replaced if isinstance(replaced, tuple) else (replaced,)
                    self.share(results)
        if len(results) != len(node.edges):
            raise RuntimeError(
                f"a hook of {node.name()} returned {len(results)} gradients, but there are {len(node.edges)} inputs."
            )
        return results

    # ---- leaves ------------------------------------------------------------------------------------

    def _accumulate_with_hooks(self, node: AccumulateGrad, gradient: Tensor | None) -> None:
        hooks = node.own_hooks()
        for hook in list(hooks.pre.values()):
            replaced = hook((gradient,))
            if replaced is not None:
                gradient = replaced[0] if isinstance(replaced, tuple) else replaced
        self._accumulate(node, gradient)
        for hook in list(hooks.post.values()):
            hook((), (gradient,))
        for hook in list(hooks.accumulate.values()):
            hook(node.leaf())

    def _accumulate(self, node: AccumulateGrad, gradient: Tensor | None) -> None:
        leaf = node.leaf()
        if leaf is None or gradient is None:
            return
        with node.lock:  # other threads may run a backward pass to the same leaf
            if anyone.records and active.recording is not None:
                active.recording.note_grad(leaf)
            present = leaf._grad
            if present is None:
                leaf._grad = gradient if self.create_graph else self._own(gradient)
            elif self.create_graph:
                leaf._grad = present + gradient
            else:
                present.add_(gradient)

    def _own(self, gradient: Tensor) -> Tensor:
        """`gradient` with memory that nothing else uses, detached."""
        storage = gradient._storage
        if (
            isinstance(gradient, View)
            or id(storage) in self.shared
            or storage.nbytes != gradient._layout.nbytes
            or gradient._edge is not None
        ):
            return gradient.detach().clone()
        self.shared[id(storage)] = storage
        return gradient


def _note_forward_line(node: Node, error: Exception) -> None:
    if node.forward_line is not None and hasattr(error, "add_note"):
        error.add_note(f"The forward line was: {node.forward_line}")


def _checked_hook_result(hook: Any, replaced: Any, gradient: Tensor) -> Tensor:
    if not isinstance(replaced, Tensor):
        raise TypeError(f"expected a Tensor as result of hook {hook!r}, but got {type(replaced).__name__}")
    if replaced._layout.shape != gradient._layout.shape:
        raise RuntimeError(
            f"hook {hook!r} has changed the size of value: from {list(gradient._layout.shape)} to "
            f"{list(replaced._layout.shape)}"
        )
    if replaced._layout.dtype is not gradient._layout.dtype:
        raise RuntimeError(
            f"hook {hook!r} has changed the type of value (was {gradient.dtype} got {replaced.dtype})"
        )
    if replaced._layout.device.base is not gradient._layout.device.base:
        raise RuntimeError(
            f"hook {hook!r} has changed the device of value (was {gradient.device} got {replaced.device})"
        )
    return replaced


def _check_nan(node: Node, results: Gradients) -> None:
    for position, gradient in enumerate(results):
        if gradient is not None and bool(gradient.isnan().any()):
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {position}th output. "
                f"The forward line was: {node.forward_line}"
            )


def run_backward(
    roots: Sequence[Tensor],
    gradients: Sequence[Tensor],
    *,
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Tensor] | None = None,
    accumulate: bool = True,
) -> list[Tensor | None]:
    """Send `gradients` backward from `roots`.

    With `inputs`, only paths that reach them run; the gradients that arrived there are returned, and
    with `accumulate` the leaves among them get their ``grad``.
    """
    edges = [_edge_of(root) for root in roots]
    if inputs is None:
        wanted = []
        backward = _Pass(keep_graph, create_graph)
    else:
        wanted = [_edge_of(tensor) for tensor in inputs]
        backward = _Pass(keep_graph, create_graph, _nodes_leading_to(edges, wanted), set(wanted), accumulate)
    backward.share(gradients)
    before = mode.enabled
    mode.enabled = create_graph
    try:
        backward.add(edges, gradients)
        backward.run()
    finally:
        mode.enabled = before
    return [backward.captured.get(edge) for edge in wanted]


def _edge_of(tensor: Tensor) -> Edge:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"expected a Tensor to differentiate, but got {type(tensor).__name__}.")
    edge = tensor._edge
    if edge is None:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    return edge


def _nodes_leading_to(roots: Sequence[Edge], wanted: Sequence[Edge]) -> set[Node]:
    """Nodes that must run: those from which a wanted edge is reached, and the wanted leaves themselves."""
    targets = set(wanted)
    consumers: dict[Node, list[Node]] = {}
    seen = {node for node, _ in roots}
    stack = list(seen)
    leading = {node for node, _ in targets if node.is_accumulator}
    marked: list[Node] = []
    while stack:
        node = stack.pop()
        for edge in node.edges:
            if edge is None:
                continue
            consumers.setdefault(edge[0], []).append(node)
            if edge in targets:
                marked.append(node)
            if edge[0] not in seen:
                seen.add(edge[0])
                stack.append(edge[0])
    while marked:
        node = marked.pop()
        if node not in leading:
            leading.add(node)
            marked.extend(consumers.get(node, ()))
    return leading
