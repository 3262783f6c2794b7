"""Where code generation stands in the loop nest, and the values that one pass keeps for a later one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from raxis_cpu.llvm import registers
from raxis_cpu.llvm.ir import I64, Function, Type, Value
from raxis_cpu.llvm.plan import Plan
from raxis_cpu.llvm.registers import Complex, Register


@dataclass
class Lanes:
    """The vector at hand: lanes [start, start + count) of the lane axis, the first `count` of the vector's."""

    start: Value
    count: Value
    valid: Value | None
    """For every lane whether it is one of those; None if all are."""
    numbers: Value
    """0, 1, 2, ..., but not beyond the last valid lane."""


@dataclass
class Frame:
    """What is known at one place of the loop nest: axis indices, node values, the vector at hand.

    `turned` tells where loads find what was turned from the tile axis to the lane axis.
    """

    indices: dict[int, Value] = field(default_factory=dict)
    values: dict[int, Register] = field(default_factory=dict)
    lanes: Lanes | None = None
    turned: dict[int, Value] = field(default_factory=dict)

    def inside(self) -> Frame:
        """The same, to be extended for a place further inside."""
        return replace(self, indices=dict(self.indices), values=dict(self.values))

    @property
    def vector(self) -> Lanes:
        """The vector at hand, where there is one."""
        if self.lanes is None:
            raise TypeError("a vector needs lanes.")
        return self.lanes


class KeptValues:
    """Scratch memory of one unit: one region per kept node, with room for whole vectors everywhere."""

    def __init__(self, function: Function, plan: Plan, lanes: int, size: Callable[[int], Value]) -> None:
        self._function = function
        self._plan = plan
        self._lanes = lanes
        self._size = size
        self._nodes = sorted(plan.kept)
        self.memory: Value | None = None
        """Where it is, at a multiple of 64."""

    def nbytes(self) -> Value:
        """How much memory is needed."""
        return self._pitch() * len(self._nodes)

    def _pitch(self) -> Value:
        """Bytes of one region, for elements of up to 16 bytes."""
        steps = self._function.constant(I64, 1)
        for axis in self._plan.steps:
            steps = steps * self._size(axis)
        return steps * 16 * (self._lanes if self._plan.lanes_are_rows else self._padded_row())

    def _padded_row(self) -> Value:
        """Elements of the lane axis, with room for a last whole vector."""
        lane = self._plan.lane
        size = self._function.constant(I64, 1) if lane is None else self._size(lane)
        return (size + (self._lanes - 1)) & -self._lanes

    def _parts(self, frame: Frame, node: int) -> list[tuple[Type, Value]]:
        """Type and address of every part of a node."""
        dtype, address = self._plan.kernel.nodes[node].dtype, self._address(frame, node)
        type = registers.register_type(dtype, self._lanes)
        count = 2 if dtype.is_complex else 1
        nbytes = max(1, type.bits // 8)
        return [(type, self._function.advance(address, part * self._lanes, nbytes)) for part in range(count)]

    def _address(self, frame: Frame, node: int) -> Value:
        if self.memory is None:
            raise TypeError("kept values need scratch memory.")
        position = self._function.constant(I64, 0)
        for axis in self._plan.steps:
            position = position * self._size(axis) + frame.indices[axis]
        if self._plan.lanes_are_rows:
            position = position * self._lanes
        elif frame.lanes is not None:
            position = position * self._padded_row() + frame.lanes.start
        dtype = self._plan.kernel.nodes[node].dtype
        nbytes = max(1, registers.register_type(dtype).bits // 8) * (2 if dtype.is_complex else 1)
        base = self._function.advance(self.memory, self._pitch() * self._nodes.index(node), 1)
        return self._function.advance(base, position, nbytes)

    def keep(self, frame: Frame, node: int) -> None:
        """Write the node's value."""
        value = frame.values[node]
        parts = list(value) if isinstance(value, Complex) else [value]
        for part, (_, address) in zip(parts, self._parts(frame, node), strict=True):
            self._function.store(part.convert("zext", "i8") if part.type.element == "i1" else part, address)

    def recall(self, frame: Frame, node: int) -> Register:
        """Read it again."""
        parts = [self._read(type, address) for type, address in self._parts(frame, node)]
        return Complex(*parts) if len(parts) == 2 else parts[0]

    def _read(self, type: Type, address: Value) -> Value:
        if type.element == "i1":
            return self._function.load(type.of("i8"), address).compare("ne", 0)
        return self._function.load(type, address)
