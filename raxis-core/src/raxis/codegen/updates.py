"""Writes at computed positions.

Updates that meet in one element are combined in their order by one work-item, so that results are the same every time.
Where the order makes no difference (integers, extremes) and that would leave most of a device idle, all updates are made at
once, by atomic exchanges.
"""

from __future__ import annotations

from math import prod

from raxis import dtypes
from raxis.codegen.copies import copy_kernel
from raxis.codegen.dialect import Dialect
from raxis.codegen.expressions import expression, loaded, register_type, stored
from raxis.codegen.launching import Memory, Part, Scalars, Several, check_part, loop_part
from raxis.codegen.rendered import Numbers
from raxis.codegen.routine import Call, decoded, without
from raxis.dtypes import HALF, Category, DType
from raxis.layout import contiguous_strides
from raxis.schedule import Buffer
from raxis.schedule.loops import Access, Axis, Gather, LoopKernel, Node

FEWEST_LANES = 1024
"""Work-items below which updates are made at once where their order makes no difference."""
_COMBINE = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}


def update(call: Call) -> Part | None:
    """A scatter or put; None in half precision that accumulates."""
    reduce, dtype = call.instruction.attributes["reduce"], call.buffers[0].dtype
    if dtype in HALF and reduce != "set":
        return None
    operand, _, updates, result = call.slots
    parts: list[Part] = [_check(call), _Copy(call, operand, result)]
    if prod(call.buffers[2].shape):
        parts.append(_UpdatesApart(call, updates, result, _kernel(call)))
    return Several(parts)


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

    def __init__(self, call: Call, source: int, target: int) -> None:
        x, result = call.buffers[0], call.buffers[3]
        type = call.instruction.results[0].type
        self._copy = loop_part(call.backend, copy_kernel(type, x.strides, result.strides), (source, target))
        self.rendered = self._copy.rendered
        self._source, self._target = source, target
        self._same_strides = x.strides == result.strides

    def __call__(self, memory: list[Memory], scalars: Scalars) -> None:  # type: ignore[override]
        source, target = memory[self._source], memory[self._target]
        if not (self._same_strides and source[0] is target[0] and source[1] == target[1]):
            self._copy(memory, scalars)


class _UpdatesApart(Part):
    """Runs the updates; from a copy, where they lie in the result's memory."""

    def __init__(self, call: Call, updates: int, result: int, make: Part) -> None:
        self._backend, self._updates, self._result, self._run = call.backend, updates, result, make
        self.rendered = make.rendered
        buffer = call.buffers[2]
        self._nbytes = prod(buffer.shape) * buffer.dtype.itemsize
        type = call.instruction.operands[2].type
        dense = contiguous_strides(buffer.shape)
        self._apart = loop_part(call.backend, copy_kernel(type, buffer.strides, dense), (0, 1))
        self._dense_run = _kernel(call, dense)

    def __call__(self, memory: list[Memory], scalars: Scalars) -> None:  # type: ignore[override]
        updates, result = memory[self._updates], memory[self._result]
        if updates[0] is not result[0] or self._backend_arena_only(updates, result):
            self._run(memory, scalars)
            return
        apart = self._backend.allocate(self._nbytes, self._backend.index_of(result[0])), 0
        self._apart([updates, apart], {})
        moved = list(memory)
        moved[self._updates] = apart
        self._dense_run(moved, scalars)

    def _backend_arena_only(self, updates: Memory, result: Memory) -> bool:
        """One buffer, but other parts of it: temporaries."""
        return updates[1] != result[1]


def _kernel(call: Call, update_strides: tuple[int, ...] | None = None) -> Part:
    """The kernel that makes the updates."""
    instruction, dialect = call.instruction, call.backend.dialect
    index, updates, result = call.buffers[1:]
    dim, reduce, dtype = instruction.attributes["dim"], instruction.attributes["reduce"], result.dtype
    strides = (index_strides(index, updates, dim), update_strides or updates.strides, result.strides)
    lanes = prod(without(updates.shape, dim))
    numbers = Numbers(dialect)
    at_once = lanes < FEWEST_LANES and _order_is_free(dtype, reduce)
    sizes = [*without(updates.shape, dim), updates.shape[dim]] if at_once else without(updates.shape, dim)
    lines, places = decoded(numbers, "point", sizes)
    j = places[-1] if at_once else "j"
    lane = places[: len(updates.shape) - 1]
    rows = [
        f"{numbers.position(lane, without(each, dim), slot)} + {{}} * {numbers.value(each[dim])}"
        for slot, each in zip((1, 2, 3), strides, strict=True)
    ]
    type, update = register_type(dtype), f"b2[{rows[1].format(j)}]"
    target = f"b3[{rows[2].format(f'b1[{rows[0].format(j)}]')}]"
    if reduce == "set":
        inner = [f"{target} = {update};"]
    else:
        combined = expression(dialect, _COMBINE[reduce], dtype, dtype, ("old", "value"))
        inner = [f"const {type} value = {loaded(dtype, update)};"]
        inner += _exchanged(dialect, type, target, combined) if at_once else [
            f"const {type} old = {loaded(dtype, target)};",
            f"{target} = {stored(dtype, combined)};",
        ]  # fmt: skip
    if not at_once:
        count = numbers.value(updates.shape[dim])
        inner = [f"for (i64 j = 0; j < {count}; ++j) {{", *(f"    {line}" for line in inner), "}"]
    points = prod(sizes)
    body = dialect.points(numbers.value(points), [*lines, *inner])
    return call.launch(f"{instruction.primitive}_{reduce}", numbers, body, points)


def index_strides(index: Buffer, updates: Buffer, dim: int) -> tuple[int, ...]:
    """Strides of the index along the dims of the updates; that of a put has one dim."""
    if len(index.shape) == len(updates.shape) and index.shape == updates.shape:
        return index.strides
    return tuple(index.strides[0] if place == dim else 0 for place in range(len(updates.shape)))


def _order_is_free(dtype: DType, reduce: str) -> bool:
    if dtype.itemsize not in (4, 8) or dtype.is_complex:
        return False
    return reduce in ("max", "min") or (reduce != "set" and dtype.category is Category.INTEGER)


def _exchanged(dialect: Dialect, type: str, target: str, combined: str) -> list[str]:
    """Replaces an element by a combination with `value`, again until nobody else did so meanwhile."""
    bits = f"u{type[1:]}"
    to_bits, from_bits = (f"rx_bits_{type}", f"rx_real_{type}") if type[0] == "f" else (f"({bits})", f"({type})")
    return [
        f"{bits} seen = {to_bits}({target}), expected;",
        "do {",
        "    expected = seen;",
        f"    const {type} old = {from_bits}(expected);",
        f"    const {type} made = {combined};",
        f"    seen = {dialect.exchange(bits, target, 'expected', f'{to_bits}(made)')};",
        "} while (seen != expected);",
    ]
