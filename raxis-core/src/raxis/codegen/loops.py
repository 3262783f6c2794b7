"""Loop kernels in a language of the C family.

Kernels without reductions have one work-item per point. With reductions, a work-group passes over the inner axes of
one outer point, and its work-items put their parts together in shared memory; short rows, and languages without
work-groups, have one work-item per outer point.

An index out of range and an integer divided by zero must be found before anything is written. A kernel in which either
can be is rendered twice: as a *check*, which writes nothing but a record of what is wrong, and to compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from raxis.codegen.dialect import Dialect
from raxis.codegen.expressions import DIVISIONS, expression, literal, loaded, register_type, stored
from raxis.codegen.reductions import Reduction, reduction
from raxis.codegen.rendered import Numbers, Rendered, assembled, memory_types, scalar_expression
from raxis.dtypes import Category, DType
from raxis.schedule.loops import REDUCTIONS, Access, Gather, LoopKernel, Node

SHORTEST_ROW = 32
"""Elements from which on a work-group shares a row..."""
MOST_GROUPS = 4096
"""... unless there are more rows than this, each of which is work enough for a work-item..."""
LONGEST_ROW = 1024
"""... up to so many elements."""
ZERO_DIVISION = "ZeroDivisionError"
"""What PyTorch says when integers are divided by 0."""
_Sink = tuple[int, Access | None]
_NARROW = 1 << 31
"""Below so many points their numbers are divided as 32-bit integers."""


def render(kernel: LoopKernel, dialect: Dialect) -> Rendered:
    """The text of a loop kernel.

    Example:
        >>> from raxis import float32
        >>> from raxis.codegen import OpenCL
        >>> from raxis.schedule import Access, Axis, Node, Store
        >>> nodes = (Node("load", (), float32, Access(0, (1,))), Node("exp", (0,), float32))
        >>> kernel = LoopKernel("exp", (float32, float32), (Axis(8),), nodes, (Store(1, Access(1, (1,))),))
        >>> "const f32 v1 = exp(v0);" in render(kernel, OpenCL()).source
        True
    """
    return _Renderer(kernel, dialect, checking=False).rendered()


def render_check(kernel: LoopKernel, dialect: Dialect) -> Rendered | None:
    """The check of a loop kernel, which takes one more buffer, two i64; None if nothing can be wrong.

    If something is, it sets the first to one more than the number of the node, and the second to the index.
    """
    return _Renderer(kernel, dialect, checking=True).rendered() if any(_checked(kernel)) else None


def _checked(kernel: LoopKernel) -> list[bool]:
    """For every node, whether it can raise."""
    return [_may_raise(kernel, node) for node in kernel.nodes]


def _may_raise(kernel: LoopKernel, node: Node) -> bool:
    if node.op == "gather_load":
        return True
    divisor = _divisor(kernel, node)
    if divisor is None or divisor.op == "scalar":
        return False
    return divisor.op != "constant" or not divisor.detail


def _divisor(kernel: LoopKernel, node: Node) -> Node | None:
    """What an integer is divided by; None for other nodes."""
    if node.op not in DIVISIONS or node.dtype.category is not Category.INTEGER:
        return None
    return kernel.nodes[node.inputs[1]]


def divisors(kernel: LoopKernel) -> dict[int, DType]:
    """The by-value numbers, and their dtypes, that integers are divided by: the host sees whether they are 0."""
    found = [_divisor(kernel, node) for node in kernel.nodes] if kernel.size else []
    return {node.detail: node.dtype for node in found if node is not None and node.op == "scalar"}


class _Scope:
    """Lines of a block, and the variables of nodes computed in it or around it."""

    def __init__(self, indices: Sequence[str], around: _Scope | None = None) -> None:
        self.lines: list[str] = []
        self.indices = list(indices)
        self.around = around
        self.made: dict[int, str] = {} if around is None else dict(around.made)


class _Renderer:
    def __init__(self, kernel: LoopKernel, dialect: Dialect, *, checking: bool) -> None:
        self.kernel = kernel
        self.dialect = dialect
        self.checking = checking
        self.numbers = Numbers(dialect, dense=len(kernel.axes) <= 1)
        self.outer = [number for number, axis in enumerate(kernel.axes) if not axis.inner]
        self.inner = [number for number, axis in enumerate(kernel.axes) if axis.inner]
        self.points = prod(kernel.axes[number].size for number in self.outer)
        self.row = prod(kernel.axes[number].size for number in self.inner)
        has_rows = bool(self.inner) or any(node.op in REDUCTIONS for node in kernel.nodes)
        shared = self.row >= (SHORTEST_ROW if self.points <= MOST_GROUPS else LONGEST_ROW)
        self.grouped = has_rows and bool(dialect.shared) and shared
        self.record = len(kernel.buffers)

    def rendered(self) -> Rendered:
        buffers = memory_types(self.kernel.buffers) + (["i64"] if self.checking else [])
        if self.grouped:
            body = self.dialect.groups(self._body())
        else:
            count = self.numbers.value(self.points)
            body = self.dialect.points(count, self._body())
        name = f"{self.kernel.name}_check" if self.checking else self.kernel.name
        name = f"raxis_{name}"
        source = assembled(self.dialect, name, buffers, self.numbers, body)
        return Rendered(name, source, tuple(self.numbers.entries), self.points, self.grouped)

    # ---- the body --------------------------------------------------------------------------------------

    def _body(self) -> list[str]:
        # Without axes the text is that of one axis, so that one kernel serves both.
        outer = _Scope([f"i{number}" for number in range(max(1, len(self.kernel.axes)))])
        outer.lines += self._decoded("point", self.outer if self.kernel.axes else [0], self.points)
        for level in range(1, max(self.kernel.levels, default=0) + 1):
            self._reduce(outer, level)
        self._finish(outer)
        return outer.lines

    def _decoded(self, flat: str, axes: Sequence[int], count: int) -> list[str]:
        """The indices of axes from a flat position."""
        if len(axes) <= 1:
            return [f"const i64 i{axis} = {flat};" for axis in axes]
        type = "u32" if count < _NARROW else "i64"
        rest, lines = f"{flat}_rest", [f"{type} {flat}_rest = ({type}){flat};"]
        for axis in reversed(axes[1:]):
            size = f"({type}){self.numbers.value(self.kernel.axes[axis].size)}"
            lines += [f"const i64 i{axis} = {rest} % {size};", f"{rest} /= {size};"]
        return [*lines, f"const i64 i{axes[0]} = {rest};"]

    def _sinks(self) -> list[_Sink]:
        """What the kernel is for: nodes, and where they are stored."""
        if self.checking:
            return [(number, None) for number, checked in enumerate(_checked(self.kernel)) if checked]
        return [(store.node, store.access) for store in self.kernel.stores]

    def _finish(self, outer: _Scope) -> None:
        everywhere = [sink for sink in self._sinks() if self._varies(*sink)]
        once = [sink for sink in self._sinks() if not self._varies(*sink)]
        if everywhere:
            inner = _Scope(outer.indices, outer)
            inner.lines += self._stores(everywhere, inner, outer)
            outer.lines += self._over_row(inner.lines) if self.inner else inner.lines
        stores = self._stores(once, outer, outer)
        if stores and self.grouped:
            outer.lines += [self.dialect.barrier, "if (lane == 0) {", *_indented(stores), "}"]
        else:
            outer.lines += stores

    def _varies(self, node: int, access: Access | None) -> bool:
        """Whether a sink is at every point, not once per outer point."""
        strides = () if access is None else access.strides
        spread = any(strides[axis] for axis in self.inner) if strides else False
        return spread or not self.kernel.is_row_value[node]

    def _stores(self, sinks: Sequence[_Sink], scope: _Scope, outer: _Scope) -> list[str]:
        """Lines that store, after all values are computed."""
        values = [self._value(node, scope, outer) for node, _ in sinks]
        return [
            self._store(value, node, access, scope)
            for value, (node, access) in zip(values, sinks, strict=True)
            if access is not None
        ]

    def _store(self, value: str, node: int, access: Access, scope: _Scope) -> str:
        position = self._position(access, scope)
        return f"b{access.buffer}[{position}] = {stored(self.kernel.nodes[node].dtype, value)};"

    def _over_row(self, body: Sequence[str]) -> list[str]:
        """A loop over the inner axes; work-items of a group take turns."""
        start, step = ("lane", str(self.dialect.group_size)) if self.grouped else ("0", "1")
        count = self.numbers.value(self.row)
        lines = [*self._decoded("place", self.inner, self.row), *body]
        return [f"for (i64 place = {start}; place < {count}; place += {step}) {{", *_indented(lines), "}"]

    def _reduce(self, outer: _Scope, level: int) -> None:
        """One pass over the inner axes for all reductions of a level."""
        found = [
            (number, reduction(self.dialect, node, self.kernel.nodes[node.inputs[0]].dtype, number))
            for number, node in enumerate(self.kernel.nodes)
            if node.op in REDUCTIONS and self.kernel.levels[number] == level
        ]
        inner = _Scope(outer.indices, outer)
        values = [self._value(self.kernel.nodes[number].inputs[0], inner, outer) for number, _ in found]
        for (_, made), value in zip(found, values, strict=True):
            outer.lines += made.start
            inner.lines += made.take(value, "place")
        outer.lines += self._over_row(inner.lines)
        for number, made in found:
            if self.grouped:
                outer.lines += self._together(made)
            outer.lines += made.finish
            outer.made[number] = f"v{number}"

    def _together(self, made: Reduction) -> list[str]:
        """The parts of all work-items of a group, put together in shared memory in one order."""
        size, barrier = self.dialect.group_size, self.dialect.barrier
        lines = [f"{self.dialect.shared} {type} {name}_all[{size}];" for name, type in made.parts]
        lines += [f"{name}_all[lane] = {name};" for name, _ in made.parts]
        merge = ["if (lane < part) {", *_indented(made.merge("lane", "lane + part")), "}"]
        lines += [f"for (u32 part = {size // 2}; part > 0; part /= 2) {{", *_indented([barrier, *merge]), "}"]
        lines += [barrier, *(f"{name} = {name}_all[0];" for name, _ in made.parts), barrier]
        return lines

    # ---- nodes -----------------------------------------------------------------------------------------

    def _value(self, number: int, scope: _Scope, outer: _Scope) -> str:
        """The variable that holds a node; what is the same in a whole row is computed before the loop over it."""
        if number in scope.made:
            return scope.made[number]
        home = outer if self.kernel.is_row_value[number] else scope
        node = self.kernel.nodes[number]
        inputs = [self._value(operand, scope, outer) for operand in node.inputs]
        name = f"v{number}"
        home.lines += self._lines(number, node, inputs, home)
        outer_too = (outer,) if home is outer else ()
        for each in (scope, *outer_too):
            each.made[number] = name
        return name

    def _lines(self, number: int, node: Node, inputs: list[str], scope: _Scope) -> list[str]:
        lines: list[str] = []
        if self.checking and _may_raise(self.kernel, node):
            lines, inputs = self._guarded(number, node, inputs)
        if node.op == "gather_load" and self.checking and not node.detail.size:
            value = literal(self.dialect, node.dtype, 0)  # there is no element to read
        else:
            value = self._expression(node, inputs, scope)
        return [*lines, f"const {register_type(node.dtype)} v{number} = {value};"]

    def _guarded(self, number: int, node: Node, inputs: list[str]) -> tuple[list[str], list[str]]:
        """Lines that record what is wrong, and inputs with which the node can be computed all the same."""
        at = f"b{self.record}[{self.numbers.position((), (), self.record)}"
        if node.op == "gather_load":
            place = inputs[0]
            wrong = f"{place} < 0 || {place} >= {self.numbers.value(node.detail.size)}"
            safe, value, type = f"c{number}", "0", "i64"
        else:
            place = inputs[1]
            wrong, safe, value, type = f"{place} == 0", f"c{number}", "1", register_type(node.dtype)
        claimed = self.dialect.claim(f"{at}]", str(number + 1))
        lines = [
            f"if ({wrong}) {{",
            f"    if ({claimed}) {at} + 1] = {place};",
            "}",
            f"const {type} {safe} = {wrong} ? {value} : {place};",
        ]
        return lines, [*inputs[:-1], safe]

    def _expression(self, node: Node, inputs: Sequence[str], scope: _Scope) -> str:
        detail = node.detail
        if node.op == "load":
            return self._load(node, self._position(detail, scope), detail.buffer)
        if node.op == "gather_load":
            start, stride = self._position(detail.access, scope), self.numbers.value(detail.stride)
            position = f"{start} + {inputs[0]} * {stride}"
            return self._load(node, position, detail.access.buffer)
        if node.op == "constant":
            return literal(self.dialect, node.dtype, detail)
        if node.op == "index":
            return scope.indices[detail]
        if node.op == "scalar":
            return scalar_expression(self.numbers, detail, node.dtype)
        if node.op == "random":
            strides = detail.strides if self.kernel.axes else (1,)
            position = self.numbers.position(scope.indices, strides, None, detail.offset)
            return f"rx_random_{register_type(node.dtype)}({inputs[0]}, {inputs[1]}, {position})"
        operand = self.kernel.nodes[node.inputs[-1]].dtype
        return expression(self.dialect, node.op, operand, node.dtype, inputs)

    def _position(self, access: Access, scope: _Scope) -> str:
        strides = access.strides if self.kernel.axes else (1,)
        return self.numbers.position(scope.indices, strides, access.buffer, access.offset)

    def _load(self, node: Node, position: str, slot: int) -> str:
        return loaded(node.dtype, f"b{slot}[{position}]")


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def wrong_text(kernel: LoopKernel, number: int, index: int) -> tuple[str, bool]:
    """What to say of a fault at node `number`, and whether it is an index out of range."""
    node = kernel.nodes[number]
    if isinstance(node.detail, Gather):
        text = f"index {index} is out of bounds for dimension {node.detail.dim} with size {node.detail.size}"
        return text, True
    return ZERO_DIVISION, False
