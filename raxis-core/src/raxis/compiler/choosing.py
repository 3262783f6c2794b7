"""A branch that gradients flow through: both ways are computed, and each element is taken from one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from raxis.autograd.node import Edge, Gradients, Node, next_number
from raxis.compiler.excursion import Drawn
from raxis.compiler.recording import Recording
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten, tree_unflatten


def chosen(
    recording: Recording, predicate: Tensor, functions: Sequence[Callable[..., Any]], operands: Sequence[Any]
) -> Any:
    """What the first function returns where `predicate` is true, elsewhere what the second does."""
    predicate = predicate.detach().clone()  # whatever is written later, the gradients go the same way
    drawn = Drawn(recording)
    first, structure = _gated(functions[0], operands, predicate, True)
    drawn.take_back()  # only one of the functions takes random numbers
    second, _ = _gated(functions[1], operands, predicate, False)
    picked = [_picked(predicate, one, other) for one, other in zip(first, second, strict=True)]
    return tree_unflatten(picked, structure)


def _picked(predicate: Tensor, one: Any, other: Any) -> Any:
    from raxis import where

    return where(predicate, one, other) if isinstance(one, Tensor) else one


def _gated(
    function: Callable[..., Any], operands: Sequence[Any], predicate: Tensor, taken: bool
) -> tuple[list[Any], Any]:
    """The leaves of what a function returns, whose gradients leave it only where it is the one that is taken."""
    gate = Gate(predicate, taken)
    leaves, structure = tree_flatten(function(*operands))
    gate.close([leaf._edge[0] for leaf in leaves if isinstance(leaf, Tensor) and leaf._edge is not None])
    return leaves, structure


class Gate(Node):
    """Where gradients leave a function: they go on if it was taken, else zeros do, whatever they are.

    Args:
        predicate: decides.
        taken: the value of `predicate` for which gradients go on.
    """

    def __init__(self, predicate: Tensor, taken: bool) -> None:
        self.number = next_number()  # lower than those of the function's nodes, so that it runs after them
        self.edges: list[Edge | None] = []
        self.result_layouts: list[Any] = []
        self._predicate: Tensor | None = predicate
        self._taken = taken
        self._places: dict[Edge, int] = {}

    def name(self) -> str:
        return "CondBackward"

    def close(self, nodes: Iterable[Node]) -> None:
        """Lead every edge that leaves the function through this node."""
        waiting = [node for node in nodes if node.number > self.number]
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            node.edges = [None if edge is None else self._through(edge) for edge in node.edges]
            inside = [edge[0] for edge in node.edges if edge is not None and edge[0].number > self.number]
            waiting += [following for following in dict.fromkeys(inside) if following not in seen]
            seen.update(inside)

    def _through(self, edge: Edge) -> Edge:
        node, position = edge
        if node.number >= self.number:
            return edge
        if edge not in self._places:
            self._places[edge] = len(self.edges)
            self.edges.append(edge)
            self.result_layouts.append(node.result_layouts[position])
        return self, self._places[edge]

    def release(self) -> None:
        self._predicate = None

    def apply(self, gradients: Gradients) -> Gradients:
        from raxis.autograd.record import freed

        if self._predicate is None:
            raise freed(self)
        return [None if item is None else self._passed(item, self._predicate) for item in gradients]

    def _passed(self, gradient: Tensor, predicate: Tensor) -> Tensor:
        from raxis import where

        zero = gradient.new_zeros(())
        return where(predicate, *((gradient, zero) if self._taken else (zero, gradient)))
