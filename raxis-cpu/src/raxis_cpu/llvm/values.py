"""Values of a loop kernel's nodes, at one place of the loop nest."""

from __future__ import annotations

from collections.abc import Sequence

from raxis.schedule.loops import REDUCTIONS
from raxis_cpu.llvm import philox, registers
from raxis_cpu.llvm.accesses import Accesses
from raxis_cpu.llvm.bounds import bound
from raxis_cpu.llvm.compile import Target
from raxis_cpu.llvm.elementwise import apply
from raxis_cpu.llvm.frame import Frame
from raxis_cpu.llvm.ir import I64, Type, Value
from raxis_cpu.llvm.layout import ERROR, ERROR_VALUE, Layout
from raxis_cpu.llvm.math import sin_and_cos
from raxis_cpu.llvm.math.support import any_lane
from raxis_cpu.llvm.plan import GENERAL, Scope
from raxis_cpu.llvm.registers import Complex, Register

_WAVES = ("sin", "cos")


class Values(Accesses):
    """A function over (context, begin, end) that computes nodes; in the checking one only what is checked."""

    def __init__(self, name: str, layout: Layout, target: Target, *, checks: bool = False) -> None:
        header = f"internal void {name}(ptr noalias %context, i64 %begin, i64 %end)"
        super().__init__(header, layout, target)
        self._checks = checks
        self._needed = self._needed_nodes()
        self._round_keys: dict[tuple[int, int], list[tuple[Value, Value]]] = {}

    def _needed_nodes(self) -> set[int]:
        """All nodes; in the checking function those that a checked node reads, and itself."""
        if not self._checks:
            return set(range(len(self._kernel.nodes)))
        needed: set[int] = set()
        waiting = list(self._plan.checked)
        while waiting:
            number = waiting.pop()
            if number not in needed:
                needed.add(number)
                waiting += self._kernel.nodes[number].inputs
        return needed

    def _fail(self, code: int, value: Value) -> None:
        """Record an error and leave; code after this is unreachable."""
        function = self.function
        function.store(function.constant(I64, code), self._slot(ERROR))
        function.store(value, self._slot(ERROR_VALUE))
        function.line("ret void")
        function.label(function.fresh("unreachable"))

    def _at(self, node: int, scope: Scope) -> bool:
        return self._plan.scopes[node] is scope

    def _nodes_in(self, scope: Scope, level: int) -> list[int]:
        """The row values of a scope that can be computed after `level` passes; reductions excepted."""
        return [
            number
            for number, node in enumerate(self._kernel.nodes)
            if self._at(number, scope) and self._kernel.levels[number] == level and node.op not in REDUCTIONS
        ]

    def _compute(self, frame: Frame, nodes: Sequence[int]) -> None:
        for number in nodes:
            if number not in frame.values and number in self._needed:
                frame.values[number] = self._value(frame, number)

    def _is_vector(self, number: int) -> bool:
        return self._plan.varies_in_lane[number]

    def _value(self, frame: Frame, number: int) -> Register:
        node = self._kernel.nodes[number]
        match node.op:
            case "constant":
                return registers.constant(self.function, node.dtype, node.detail)
            case "scalar":
                return self._scalar(node.detail, node.dtype)
            case "index":
                return self._index(frame, node.detail)
            case "load":
                return self._load(frame, number, node.dtype, vector=self._is_vector(number))
            case "gather_load":
                return self._gather_load(frame, number)
            case "random":
                return self._random(frame, number)
        return self._primitive(frame, number)

    def _primitive(self, frame: Frame, number: int) -> Register:
        node = self._kernel.nodes[number]
        operands = [self._operand(frame, operand, number) for operand in node.inputs]
        data = self._kernel.nodes[node.inputs[-1]].dtype
        if self._checks and number in self._plan.checked:
            divisor = operands[1]
            if isinstance(divisor, Value):
                self._check(frame, number, divisor.compare("eq", 0), divisor)
        if node.op in _WAVES and self._is_vector(number) and not data.is_complex:
            return self._wave(frame, number, operands[0])
        return apply(node.op, operands, data, node.dtype)

    def _wave(self, frame: Frame, number: int, operand: Register) -> Register:
        """Sine or cosine; where the kernel has the other one as well, that is put into the frame."""
        if isinstance(operand, Complex):
            raise TypeError("expected a real register.")
        nodes = self._kernel.nodes
        both = sin_and_cos(operand, bound(nodes, nodes[number].inputs[0]))
        for other, node in enumerate(nodes):
            if node.op in _WAVES and node.inputs == nodes[number].inputs:
                frame.values[other] = registers.rounded(node.dtype, both[node.op])
        return frame.values[number]

    def _operand(self, frame: Frame, operand: int, user: int) -> Register:
        value = frame.values[operand]
        return registers.splat(value, self._lane_count) if self._is_vector(user) else value

    def _vector(self, frame: Frame, number: int) -> Register:
        value = frame.values[number]
        return registers.splat(value, self._lane_count)

    def _check(self, frame: Frame, number: int, wrong: Value, value: Value) -> None:
        """Leave with an error if `wrong` in any valid lane."""
        function = self.function
        if wrong.type.lanes > 1 and frame.vector.valid is not None:
            wrong = wrong & frame.vector.valid
        with function.when(any_lane(wrong)):
            found = value.convert("sext", "i64") if value.type.bits < 64 else value
            if wrong.type.lanes > 1:
                found = self._first(wrong, found)
            self._fail(2 + number, found)

    def _first(self, flags: Value, values: Value) -> Value:
        """The element of the first lane that is flagged."""
        function, count = self.function, flags.type.lanes
        bits = function.emit(Type(f"i{count}"), f"bitcast {flags} to i{count}")
        lane = function.emit(bits.type, f"call {bits.type} @llvm.cttz.i{count}({bits}, i1 false)")
        return function.emit(I64, f"extractelement {values}, {lane}")

    def _index(self, frame: Frame, axis: int) -> Value:
        index = frame.indices[axis]
        return index.splat(self._lane_count) + self._ladder() if axis == self._plan.lane else index

    def _gather_load(self, frame: Frame, number: int) -> Register:
        node = self._kernel.nodes[number]
        by_rows = self._plan.gathers_rows(node)
        index = frame.values[node.inputs[0]] if by_rows else self._operand(frame, node.inputs[0], number)
        if not isinstance(index, Value):
            raise TypeError("an index is an integer.")
        if by_rows:
            return self._row_part(frame, number, self._safe_index(frame, number, index))
        return self._gathered(frame, number, self._safe_index(frame, number, index))

    def _safe_index(self, frame: Frame, number: int, index: Value) -> Value:
        """The index, checked in the checking function; lanes beyond the end get 0."""
        if self._checks:
            size = self._parameter("gather size", number).splat(index.type.lanes)
            self._check(frame, number, index.compare("uge", size), index)
        valid = None if index.type.lanes == 1 else frame.vector.valid
        return index if valid is None else valid.select(index, 0)

    def _random(self, frame: Frame, number: int) -> Value:
        node = self._kernel.nodes[number]
        offset = frame.values[node.inputs[1]]
        if not isinstance(offset, Value):
            raise TypeError("an offset is an integer.")
        words = node.dtype.itemsize // 4
        access_number = self._access_numbers["node", number]
        position = self._position(frame, node.detail, access_number)
        if not self._is_vector(number):
            return philox.scattered(position, self._keys(frame, node.inputs[0], 1), offset, words)
        if self._lane_stride(node.detail) == 1 and self._lane_count * words >= 4:
            return self._consecutive_random(frame, number, position, offset)
        ladder = self._ladder()
        if self._lane_stride(node.detail) == GENERAL:
            stride = self._parameter("stride", access_number, self._plan.lane)
            ladder = ladder * stride.splat(self._lane_count)
        keys = self._keys(frame, node.inputs[0], self._lane_count)
        return philox.scattered(position.splat(self._lane_count) + ladder, keys, offset, words)

    def _keys(self, frame: Frame, key: int, lanes: int) -> list[tuple[Value, Value]]:
        """The round keys; made once if the key is a parameter."""
        value = frame.values[key]
        if not isinstance(value, Value):
            raise TypeError("a key is an integer.")
        if self._kernel.nodes[key].op != "scalar":
            return philox.round_keys(value, lanes)
        if (key, lanes) not in self._round_keys:
            with self.function.hoisted():
                self._round_keys[key, lanes] = philox.round_keys(value, lanes)
        return self._round_keys[key, lanes]

    def _consecutive_random(self, frame: Frame, number: int, position: Value, offset: Value) -> Value:
        """Whole blocks where the position begins one."""
        function, count = self.function, self._lane_count
        key, words = self._kernel.nodes[number].inputs[0], self._kernel.nodes[number].dtype.itemsize // 4
        result = function.variable(Type(f"i{32 * words}", count))
        aligned = (position & (4 // words - 1)).compare("eq", 0)
        with function.when(aligned):
            keys = self._keys(frame, key, count * words // 4)
            result.set(philox.consecutive(position, keys, offset, words, count))
        with function.when(~aligned):
            name = f"random_{result.type.suffix}"
            function.helpers[name] = lambda: philox.unaligned(name, result.type)
            room = function.variable(result.type, align=64)
            operands = (room.address, position, frame.values[key], offset)
            function.line(f"call void @{name}({', '.join(map(str, operands))})")
            result.set(room.get())
        return result.get()
