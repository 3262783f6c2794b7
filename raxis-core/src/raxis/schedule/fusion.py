"""Which values get memory although a kernel could compute them where they are used.

A value that several kernels need is either computed in each of them or once, into memory. Memory costs a store and a
load in every kernel; computing costs the operations again, and those of everything it is made of. Costs count
vector instructions per element: rough, but the choice is between two and two hundred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from raxis.ptir.program import Instruction, Value
from raxis.schedule.affine import VIEWS
from raxis.schedule.graph import LOOKUPS, REDUCES, SEARCHES, Graph

_COSTS = {
    **dict.fromkeys(("exp", "log", "exp2", "log2", "expm1", "log1p", "tanh", "sigmoid", "sin", "cos"), 12),
    **dict.fromkeys(
        ("erf", "erfc", "erfinv", "tan", "sinh", "cosh", "asin", "acos", "atan", "atan2", "pow"), 24
    ),
    **dict.fromkeys(("asinh", "acosh", "atanh", "lgamma", "digamma"), 40),
    **dict.fromkeys(("div", "sqrt", "rsqrt", "remainder", "fmod", "floor_divide"), 4),
    "random_bits": 30,
    "constant": 0,
}
_LOOKUP_COST = 8
_REDUCTION_COST = 60
_LOAD, _STORE = 1, 2
_HIGHEST = 1_000
"""Costs are not told apart beyond this."""

_LIKELY_KEPT = 16
"""What costs more and is used twice counts as a load for what is made of it."""

_LARGEST_KERNEL = 600
"""A value whose computation is larger gets memory, so that kernels stay of a size that compiles fast."""


def kept(graph: Graph, costs: Mapping[Value, int]) -> set[Value]:
    """The fusable values that are computed once, into memory."""
    return _Choice(graph, costs).chosen


class _Choice:
    """Goes through a program backward: the kernels that need a value are known before the value is met.

    A kernel is named by the value it was begun for.
    """

    def __init__(self, graph: Graph, costs: Mapping[Value, int]) -> None:
        self.chosen: set[Value] = set()
        self._graph = graph
        self._costs = costs
        self._results = set(graph.results)
        self._order = {item.results[0]: place for place, item in enumerate(graph.instructions)}
        self._needed_by: dict[Value, set[Value]] = {}
        self._forced = {
            self._base(operand) for item in graph.instructions for operand in _read_whole(graph, item)
        }
        for item in reversed(graph.instructions):
            kernels = {kernel for value in item.results for kernel in self._kernels_of(value)}
            for operand in item.operands:
                self._needed_by.setdefault(graph.resolve(operand), set()).update(kernels)

    def _kernels_of(self, value: Value) -> set[Value]:
        """The kernels that compute a value."""
        needed_by = self._needed_by.get(value, set())
        if not self._graph.is_fusable(value):
            return {value}
        if value not in self._results:
            forced = value in self._forced and self._graph.producer[value].primitive not in VIEWS
            if not forced and not _is_worth_memory(self._graph, value, self._costs[value], needed_by):
                return needed_by
            self.chosen.add(value)
        return {self._joined(value, needed_by)}

    def _base(self, value: Value) -> Value:
        """What a view shows."""
        value = self._graph.resolve(value)
        item = self._graph.producer.get(value)
        while item is not None and item.primitive in VIEWS:
            value = self._graph.resolve(item.operands[0])
            item = self._graph.producer.get(value)
        return value

    def _joined(self, value: Value, needed_by: Collection[Value]) -> Value:
        """The kernel that leaves `value`: the first that needs it, if it goes over the same elements."""
        first = min(needed_by, key=lambda kernel: self._order.get(kernel, 0), default=value)
        fits = self._graph.is_fusable(first) and _is_row_of(value.type.shape, first.type.shape)
        return first if fits else value


def _read_whole(graph: Graph, item: Instruction) -> Sequence[Value]:
    """The operands that an instruction takes from memory."""
    if item.primitive in LOOKUPS:
        return item.operands[:1]
    return (
        () if graph.is_fusable(item.results[0]) or item.primitive in ("concatenate", "pad") else item.operands
    )


def _is_row_of(shape: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether values of `shape` are visited by a loop over `whole`: at every point, or once per outer point."""
    sizes, around = ([size for size in part if size != 1] for part in (shape, whole))
    return sizes == around[: len(sizes)]


def costs_of(graph: Graph) -> dict[Value, int]:
    """What computing each value costs where it is needed, with all that is not likely to lie in memory."""
    uses = Counter(graph.resolve(operand) for item in graph.instructions for operand in item.operands)
    costs: dict[Value, int] = {}
    seen: dict[Value, int] = {}
    for item in graph.instructions:
        operands = [seen.get(graph.resolve(operand), _LOAD) for operand in item.operands]
        for result in item.results:
            costs[result] = seen[result] = _cost(graph, item, result, operands)
            if uses[result] > 1 and costs[result] > _LIKELY_KEPT and item.primitive not in VIEWS:
                seen[result] = _LOAD
    return costs


def _cost(graph: Graph, item: Instruction, result: Value, operands: Collection[int]) -> int:
    if not graph.is_fusable(result):
        return _LOAD
    if item.primitive in VIEWS:
        return sum(operands)
    own = _COSTS.get(item.primitive, 1)
    if item.primitive in LOOKUPS:
        own = _LOOKUP_COST
    elif item.primitive in REDUCES or item.primitive in SEARCHES:
        own = _REDUCTION_COST
    return min(own + sum(operands), _HIGHEST)


def _is_worth_memory(graph: Graph, value: Value, cost: int, needed_by: Collection[Value]) -> bool:
    item = graph.producer[value]
    if item.primitive in VIEWS or graph.is_uniform(value) or item.primitive == "iota":
        return False
    if cost >= _LARGEST_KERNEL and item.primitive not in REDUCES:
        return True
    return (len(needed_by) - 1) * cost > _STORE + _LOAD * len(needed_by)
