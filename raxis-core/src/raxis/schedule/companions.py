"""Which values a kernel computes together: what is made of the same elements leaves by the same loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import islice
from math import prod

from raxis.ptir.program import Value
from raxis.schedule.graph import ELEMENTWISE, REDUCES, Graph
from raxis.schedule.nodes import Space

LOOK_AHEAD = 16
"""How many of the values that need memory next are asked whether they fit into the kernel."""

MOST_STORES = 8
_CHEAP = 8
"""What costs more is not computed anew in every pass of a kernel with reductions."""

_POINTWISE = ELEMENTWISE | REDUCES | {"broadcast"}


class Companions:
    """Forms groups of values for one schedule.

    Args:
        graph: the program.
        costs: what computing each value costs.
        held: whether a value lies in memory.
        space_of: the space of the kernel that computes a value.
    """

    def __init__(
        self,
        graph: Graph,
        costs: Mapping[Value, int],
        held: Callable[[Value], bool],
        space_of: Callable[[Value], Space],
    ) -> None:
        self._graph = graph
        self._costs = costs
        self._held = held
        self._space_of = space_of

    def of(self, value: Value, waiting: Iterator[Value]) -> tuple[list[Value], Space]:
        """`value` and those of the values `waiting` for memory that its kernel computes too, and the space."""
        group, space, leaves = [value], self._space_of(value), set(self._leaves(value))
        for other in islice(waiting, LOOK_AHEAD):
            common = self._common_space(group, space, other) if len(group) < MOST_STORES else None
            if common is not None and self._is_made_of(other, group, leaves):
                group.append(other)
                space = common
                leaves.update(self._leaves(other))
        return group, space

    def _common_space(self, group: Sequence[Value], space: Space, other: Value) -> Space | None:
        own = self._space_of(other)
        if own == space:
            return space
        if not own.inner:
            return space if own.shape == space.shape else None
        if space.inner or any(own.visit(value.type.shape) is None for value in group):
            return None
        return None if any(self._costs[value] > _CHEAP for value in group) else own

    def _is_made_of(self, value: Value, group: Sequence[Value], leaves: Set[Value]) -> bool:
        """Whether everything `value` needs lies in memory or in the group, with elements in common.

        `leaves` are the values in memory that the group is computed from.
        """
        size = prod(value.type.shape)
        shares = False
        stack, seen = [(value, True)], set()
        while stack:
            current, pointwise = stack.pop()
            if (current, pointwise) in seen:
                continue
            seen.add((current, pointwise))
            if current in group:
                if not pointwise:
                    return False
                shares = True
            elif self._held(current) or current not in self._graph.producer:
                shares = shares or (pointwise and current in leaves and prod(current.type.shape) >= size)
            elif not self._graph.is_fusable(current):
                return False
            else:
                item = self._graph.producer[current]
                further = pointwise and item.primitive in _POINTWISE
                stack += [(self._graph.resolve(operand), further) for operand in item.operands]
        return shares

    def _leaves(self, value: Value) -> Iterator[Value]:
        """The values in memory that a value is computed from."""
        stack, seen = [value], set()
        while stack:
            current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            if current is not value and (self._held(current) or current not in self._graph.producer):
                yield current
            elif current in self._graph.producer:
                stack += [self._graph.resolve(item) for item in self._graph.producer[current].operands]
