"""Writes at computed positions.

Updates that meet in one element are combined in their order by one work-item, so that results are the same every
time. Where the order makes no difference (integers, extremes) and that would leave most of a device idle, all updates
are made at once, by atomic exchanges.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from raxis import dtypes
from raxis.codegen.copies import copy_kernel
from raxis.codegen.dialect import Dialect
from raxis.codegen.expressions import expression, loaded, register_type, stored
from raxis.codegen.launching import Memory, Part, Scalars, Several, check_part, loop_part
from raxis.codegen.rendered import Numbers
from raxis.codegen.routine import Call, decoded, without
from raxis.dtypes import HALF, Category, DType
from raxis.layout import Strides, contiguous_strides
from raxis.schedule.loops import Access, Axis, Gather, LoopKernel, Node

FEWEST_LANES = 1024
"""Work-items below which updates are made at once where their order makes no difference."""
_COMBINE = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}


def update(call: Call) -> Part | None:
    """A scatter or put; None in half precision that accumulates."""
    if call.buffers[0].dtype in HALF and call.instruction.attributes["reduce"] != "set":
        return None
    return Several([_check(call), _Copy(call), _Updates(call)])


def _check(call: Call) -> Part:
    """Raises for an index out of range."""
    x, index = call.buffers[:2]
    dim = call.instruction.attributes["dim"]
    nodes = (
        Node("load", (), dtypes.int64, Access(1, index.strides)),
        Node("gather_load", (0,), x.dtype, Gather(Access(0, (0,) * len(index.shape)), 0, x.shape[dim], dim)),
    )
    axes = tuple(Axis(size) for size in index.shape)
    kernel = LoopKernel("indices", (x.dtype, dtypes.int64), axes, nodes, ())
    return check_part(call.backend, kernel, call.slots[:2]) or Several([])


class _Copy(Part):
    """The operand in the result's memory, unless it is there already."""

    def __init__(self, call: Call) -> None:
        x, result = call.buffers[0], call.buffers[3]
        self._slots = call.slots[0], call.slots[3]
        kernel = copy_kernel(call.instruction.results[0].type, x.strides, result.strides)
        self._copy = loop_part(call.backend, kernel, self._slots)
        self.rendered = self._copy.rendered

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        source, target = (memory[slot] for slot in self._slots)
        if not _is_same(source, target):
            self._copy(memory, scalars)


class _Updates(Part):
    """Makes the updates; from a copy, where they lie in the result's memory."""

    def __init__(self, call: Call) -> None:
        type, buffer = call.instruction.operands[2].type, call.buffers[2]
        dense = contiguous_strides(type.shape)
        self._backend, self._slots = call.backend, call.slots[2:]
        self._nbytes = type.size * type.dtype.itemsize
        self._apart = loop_part(call.backend, copy_kernel(type, buffer.strides, dense), (0, 1))
        self._run, self._run_dense = (
            _UpdateKernel(call, buffer.strides).part(),
            _UpdateKernel(call, dense).part(),
        )
        self.rendered = self._run.rendered

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        updates, result = (memory[slot] for slot in self._slots)
        if not _is_same(updates, result):
            self._run(memory, scalars)
            return
        apart = self._backend.allocate(self._nbytes, self._backend.index_of(result[0])), 0
        self._apart([updates, apart], {})
        self._run_dense(
            [apart if slot == self._slots[0] else each for slot, each in enumerate(memory)], scalars
        )


def _is_same(one: Memory, other: Memory) -> bool:
    return one[0] is other[0] and one[1] == other[1]


class _UpdateKernel:
    """The kernel of one scatter or put, for updates with these strides."""

    def __init__(self, call: Call, strides: Strides) -> None:
        self.call = call
        self.dialect: Dialect = call.backend.dialect
        self.numbers = Numbers(self.dialect)
        self.dim, self.reduce = call.instruction.attributes["dim"], call.instruction.attributes["reduce"]
        self.dtype = call.buffers[3].dtype
        self.shape = call.buffers[2].shape
        self.strides = (self._index_strides(), strides, call.buffers[3].strides)
        lanes = prod(without(self.shape, self.dim))
        self.at_once = lanes < FEWEST_LANES and _order_is_free(self.dtype, self.reduce)

    def _index_strides(self) -> Strides:
        """Strides of the index along the dims of the updates; that of a put has one dim."""
        strides = self.call.buffers[1].strides
        if self.call.instruction.primitive == "scatter":
            return strides
        return tuple(strides[0] if place == self.dim else 0 for place in range(len(self.shape)))

    def part(self) -> Part:
        """What makes the updates."""
        count = self.shape[self.dim]
        sizes = without(self.shape, self.dim)
        lines, places = decoded(self.numbers, "point", [*sizes, count] if self.at_once else sizes)
        step = self._step(places[: len(sizes)], places[-1] if self.at_once else "j")
        if not self.at_once:
            step = [
                f"for (i64 j = 0; j < {self.numbers.value(count)}; ++j) {{",
                *(f"    {line}" for line in step),
                "}",
            ]
        points = prod(sizes) * (count if self.at_once else bool(count))
        body = self.dialect.points(self.numbers.value(points), [*lines, *step])
        name = f"{self.call.instruction.primitive}_{self.reduce}"
        return self.call.launch(name, self.numbers, body, points)

    def _step(self, lane: Sequence[str], j: str) -> list[str]:
        """One update."""
        index, update = (f"b{slot}[{self._place(lane, slot, j)}]" for slot in (1, 2))
        target = f"b3[{self._place(lane, 3, index)}]"
        if self.reduce == "set":
            return [f"{target} = {update};"]
        type = register_type(self.dtype)
        combined = expression(self.dialect, _COMBINE[self.reduce], self.dtype, self.dtype, ("old", "value"))
        value = f"const {type} value = {loaded(self.dtype, update)};"
        if self.at_once:
            return [value, *_exchanged(self.dialect, type, target, combined)]
        old = f"const {type} old = {loaded(self.dtype, target)};"
        return [value, old, f"{target} = {stored(self.dtype, combined)};"]

    def _place(self, lane: Sequence[str], slot: int, along: str) -> str:
        strides = self.strides[slot - 1]
        start = self.numbers.position(lane, without(strides, self.dim), slot)
        return f"{start} + {along} * {self.numbers.value(strides[self.dim])}"


def _order_is_free(dtype: DType, reduce: str) -> bool:
    if dtype.itemsize not in (4, 8) or dtype.is_complex:
        return False
    return reduce in ("max", "min") or (reduce != "set" and dtype.category is Category.INTEGER)


def _exchanged(dialect: Dialect, type: str, target: str, combined: str) -> list[str]:
    """Replaces an element by a combination with `value`, again until nobody else did so meanwhile."""
    bits = f"u{type[1:]}"
    real = type.startswith("f")
    to_bits, from_bits = (f"rx_bits_{type}", f"rx_real_{type}") if real else (f"({bits})", f"({type})")
    exchange = dialect.exchange(bits, target, "expected", f"{to_bits}(made)")
    return [
        f"{bits} seen = {to_bits}({target}), expected;",
        "do {",
        "    expected = seen;",
        f"    const {type} old = {from_bits}(expected);",
        f"    const {type} made = {combined};",
        f"    seen = {exchange};",
        "} while (seen != expected);",
    ]
