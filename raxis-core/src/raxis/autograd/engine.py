"""The backward pass.

Nodes are run by falling number from a heap: every node that feeds gradients into another was made later,
so a node runs after all its gradients have arrived. No recursion, no counting of dependencies.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

from raxis.autograd import anomaly
from raxis.autograd.grad_mode import mode
from raxis.autograd.node import AccumulateGrad, Edge, Gradients, Node
from raxis.storage import Storage
from raxis.tensor import Tensor, View


class _Pass:
    """The state of one backward pass."""

    def __init__(self, keep_graph: bool, create_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.pending: dict[Node, list[Tensor | None]] = {}
        self.queue: list[tuple[int, int, Node]] = []
        self.shared: dict[int, Storage] = {}
        """Storages that somebody else may hold: a leaf must copy them instead of keeping them."""

    def add(self, edge: Edge, gradient: Tensor) -> None:
        """Let `gradient` arrive at `edge`."""
        node, position = edge
        arrived = self.pending.get(node)
        if arrived is None:
            arrived = self.pending[node] = [None] * max(len(node.result_layouts), position + 1)
            heapq.heappush(self.queue, (-node.number, id(node), node))
        present = arrived[position]
        arrived[position] = gradient if present is None else present + gradient

    def share(self, tensors: Iterable[Tensor | None]) -> None:
        """Mark storages as held by others."""
        for tensor in tensors:
            if tensor is not None:
                self.shared[id(tensor._storage)] = tensor._storage

    def run(
        self, needed: set[Node] | None, captured: dict[Edge, Tensor], wanted: set[Edge], accumulate: bool
    ) -> None:
        """Run every pending node; only those in `needed`, if given."""
        while self.queue:
            _, _, node = heapq.heappop(self.queue)
            gradients = self.pending.pop(node)
            if node.tensor_hooks is not None or node.retained is not None:
                self._call_tensor_hooks(node, gradients)
            self._capture(node, gradients, captured, wanted)
            if node.is_accumulator:
                if accumulate and (needed is None or node in needed):
                    self._accumulate(node, gradients[0])  # type: ignore[arg-type]
            elif needed is None or node in needed:
                self._step(node, gradients)

    def _capture(
        self, node: Node, gradients: Sequence[Tensor | None], captured: dict[Edge, Tensor], wanted: set[Edge]
    ) -> None:
        if not wanted:
            return
        for position, gradient in enumerate(gradients):
            if gradient is not None and (node, position) in wanted:
                captured[(node, position)] = gradient
                self.share((gradient,))

    def _call_tensor_hooks(self, node: Node, gradients: list[Tensor | None]) -> None:
        for position, hooks in (node.tensor_hooks or {}).items():
            for hook in list(hooks.values()):
                gradient = gradients[position] if position < len(gradients) else None
                if gradient is not None:
                    self.share((gradient,))
                    replaced = hook(gradient)
                    if replaced is not None:
                        gradients[position] = _checked_hook_result(hook, replaced, gradient)
                        self.share((replaced,))
        for position, reference in (node.retained or {}).items():
            tensor, gradient = reference(), gradients[position]
            if tensor is not None and gradient is not None:
                self.share((gradient,))
                tensor._grad = gradient if tensor._grad is None else tensor._grad + gradient

    def _step(self, node: Node, gradients: Gradients) -> None:
        for hook in list((node.pre_hooks or {}).values()):
            replaced = hook(tuple(gradients))
            if replaced is not None:
                gradients = replaced if isinstance(replaced, tuple) else (replaced,)
        if all(gradient is None for gradient in gradients):
            return
        results = self._apply(node, gradients)
        if node.post_hooks:
            self.share((*gradients, *results))
            for hook in list(node.post_hooks.values()):
                replaced = hook(tuple(results), tuple(gradients))
                if replaced is not None:
                    results = replaced if isinstance(replaced, tuple) else (replaced,)
                    self.share(results)
        for edge, gradient in zip(node.edges, results, strict=True):
            if edge is not None and gradient is not None:
                self.add(edge, gradient)

    def _apply(self, node: Node, gradients: Gradients) -> Gradients:
        try:
            results = node.apply(gradients)
        except Exception as error:
            if node.forward_line is not None:
                error.add_note(f"The forward line was: {node.forward_line}") if hasattr(
                    error, "add_note"
                ) else None
            raise
        if anomaly.checks_nan():
            _check_nan(node, results)
        if not self.keep_graph:
            node.release()
        return results

    def _accumulate(self, node: Node, gradient: Tensor) -> None:
        assert isinstance(node, AccumulateGrad)  # the only accumulating node
        for hook in list((node.pre_hooks or {}).values()):
            replaced = hook((gradient,))
            if replaced is not None:
                gradient = replaced[0] if isinstance(replaced, tuple) else replaced
        leaf = node.variable
        if leaf is not None:
            with node.lock:  # other threads may run a backward pass to the same leaf
                self._add_to_leaf(leaf, gradient)
        for hook in list((node.post_hooks or {}).values()):
            hook((), (gradient,))
        for hook in list((node.accumulate_hooks or {}).values()):
            hook(leaf)

    def _add_to_leaf(self, leaf: Tensor, gradient: Tensor) -> None:
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
    if replaced._layout.device is not gradient._layout.device:
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
    backward = _Pass(keep_graph, create_graph)
    backward.share(gradients)
    wanted = [] if inputs is None else [_edge_of(tensor) for tensor in inputs]
    roots_edges = [_edge_of(root) for root in roots]
    needed = None if inputs is None else _nodes_leading_to(roots_edges, wanted)
    captured: dict[Edge, Tensor] = {}
    before = mode.enabled
    mode.enabled = create_graph
    try:
        for edge, gradient in zip(roots_edges, gradients, strict=True):
            backward.add(edge, gradient)
        backward.run(needed, captured, set(wanted), accumulate)
    finally:
        mode.enabled = before
    return [captured.get(edge) for edge in wanted]


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
