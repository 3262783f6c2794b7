"""Loads and stores of a loop kernel: addresses, whole vectors and parts of them, strided and indexed ones."""

from __future__ import annotations

from raxis.dtypes import DType
from raxis.schedule.loops import Access, Gather, Position, Store
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.compile import Target
from raxis_cpu.llvm.frame import Frame, Lanes
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value
from raxis_cpu.llvm.layout import PARAMETERS, UNITS, Layout
from raxis_cpu.llvm.memory import load_raw, load_some, store_some
from raxis_cpu.llvm.plan import GENERAL, MOST_NARROW
from raxis_cpu.llvm.reductions import Accumulator, accumulator
from raxis_cpu.llvm.registers import Complex, Register
from raxis_cpu.llvm.turning import turned


class Accesses:
    """The function being written, its run-time numbers, and its loads and stores."""

    def __init__(self, header: str, layout: Layout, target: Target) -> None:
        self.function = Function(header, scales=target.has_masks, permutes=target.vector_bytes == 32)
        self._plan = layout.plan
        self._kernel = layout.plan.kernel
        self._layout = layout
        self._target = target
        self._lane_count = layout.lanes
        self._context = self.function.argument(PTR, "context")
        with self.function.hoisted():
            self._parameters = self.function.load(PTR, self._slot(PARAMETERS))
        self._hoisted: dict[tuple[object, ...], Value] = {}
        self._access_numbers = self._number_accesses()

    def _slot(self, number: int) -> Value:
        return self.function.advance(self._context, number, 8)

    def _parameter(self, *name: object) -> Value:
        """A run-time number."""
        if name not in self._hoisted:
            with self.function.hoisted():
                address = self.function.advance(self._parameters, self._layout.parameter(*name), 8)
                self._hoisted[name] = self.function.load(I64, address)
        return self._hoisted[name]

    def _buffer(self, buffer: int) -> Value:
        """Where a buffer begins."""
        name = ("buffer", buffer)
        if name not in self._hoisted:
            with self.function.hoisted():
                slot = self._slot(self._layout.buffer_slot(buffer))
                self._hoisted[name] = self.function.load(PTR, slot)
        return self._hoisted[name]

    def _scalar(self, scalar: int, dtype: DType) -> Register:
        """A number that was passed by value."""
        with self.function.hoisted():
            return registers.load(dtype, self._slot(self._layout.scalar_slot(scalar)), 1)

    def _units(self) -> Value:
        return self.function.load(I64, self.function.advance(self._parameters, UNITS, 8))

    def _accumulator(self, node: int, lanes: int) -> Accumulator:
        record = self._kernel.nodes[node]
        operand = self._kernel.nodes[record.inputs[0]].dtype
        single = self._plan.rows_are_vectors and lanes >= MOST_NARROW
        return accumulator(self.function, record, operand, lanes, single=single)

    def _partial(self, reduction: int, component: int, part: Value) -> Value:
        """Where the result of a part of a row is."""
        return self.function.advance(self._slot(self._layout.partial_slot(reduction, component)), part, 8)

    def _store_partial(self, reduction: int, part: Value, value: Register) -> None:
        for component, number in enumerate(value if isinstance(value, Complex) else [value]):
            stored = number.convert("zext", "i8") if number.type.element == "i1" else number
            self.function.store(stored, self._partial(reduction, component, part))

    def _load_partial(self, reduction: int, part: Value) -> Register:
        operand = self._kernel.nodes[self._kernel.nodes[reduction].inputs[0]].dtype
        type = registers.register_type(operand)
        components = [
            self._load_number(type, self._partial(reduction, component, part))
            for component in range(2 if operand.is_complex else 1)
        ]
        return Complex(*components) if operand.is_complex else components[0]

    def _load_number(self, type: Type, address: Value) -> Value:
        if type.element == "i1":
            return self.function.load(type.of("i8"), address).compare("ne", 0)
        return self.function.load(type, address)

    def _number_accesses(self) -> dict[tuple[str, int], int]:
        """The number of the access of every node and store that has one."""
        found: dict[tuple[str, int], int] = {}
        for number, node in enumerate(self._kernel.nodes):
            if isinstance(node.detail, (Access, Position, Gather)):
                found["node", number] = len(found)
        for number in range(len(self._kernel.stores)):
            found["store", number] = len(found)
        return found

    def _ladder(self, element: str = "i64") -> Value:
        """0, 1, 2, ... in the lanes."""
        count = self._lane_count
        text = ", ".join(f"{element} {number}" for number in range(count))
        return Value(self.function, Type(element, count), f"<{text}>" if count > 1 else "0")

    def _position(self, frame: Frame, access: Access | Position, number: int) -> Value:
        """Element position of a point; of the first lane."""
        position = self._parameter("offset", number)
        for axis, stride in enumerate(access.strides):
            if stride and axis in frame.indices:
                index = frame.indices[axis]
                position = position + (
                    index if stride == 1 else index * self._parameter("stride", number, axis)
                )
        return position

    def _address(self, frame: Frame, access: Access, number: int) -> Value:
        position = self._position(frame, access, number)
        itemsize = self._kernel.buffers[access.buffer].itemsize
        return self.function.advance(self._buffer(access.buffer), position, itemsize)

    def _lane_stride(self, access: Access | Position) -> int:
        return 0 if self._plan.lane is None else access.strides[self._plan.lane]

    def _load(self, frame: Frame, number: int, dtype: DType, *, vector: bool) -> Register:
        if number in frame.turned:
            return registers.load(dtype, frame.turned[number], self._lane_count)
        access = self._kernel.nodes[number].detail
        access_number = self._access_numbers["node", number]
        address = self._address(frame, access, access_number)
        if not vector:
            return registers.load(dtype, address, 1)
        if self._lane_stride(access) == 1:
            return self._load_lanes(dtype, address, frame.vector)
        offsets = self._strided(frame.vector, access_number)
        return registers.gather(dtype, self.function.advance(address, offsets, dtype.itemsize))

    def _vector_bytes(self, node: int) -> int:
        return self._kernel.nodes[node].dtype.itemsize * self._lane_count

    def _turn(self, frame: Frame, number: int, count: Value) -> Value:
        """Room with one vector for each of `count` rows of the tile axis, from a load that is dense along that axis."""
        function, lanes, nbytes = self.function, self._lane_count, self._vector_bytes(number)
        type = registers.raw_type(self._kernel.nodes[number].dtype, lanes)
        variables = [function.variable(type) for _ in range(lanes)]
        whole = count.compare("eq", lanes)
        for condition, part in ((whole, None), (~whole, count)):
            with function.when(condition):
                for lane, variable in enumerate(variables):
                    variable.set(self._load_across(frame, number, lane, part))
        room = function.variable(Type(f"[{lanes} x {type}]"), align=64).address
        for row, vector in enumerate(turned([variable.get() for variable in variables])):
            function.store(vector, function.advance(room, row, nbytes))
        return room

    def _load_across(self, frame: Frame, number: int, lane: int, count: Value | None) -> Value:
        """A vector along the tile axis, or its first `count` elements; of the last valid lane beyond that."""
        access, dtype = self._kernel.nodes[number].detail, self._kernel.nodes[number].dtype
        access_number = self._access_numbers["node", number]
        last = frame.vector.count - 1
        distance = last.intrinsic("smin", lane) * self._parameter("stride", access_number, self._plan.lane)
        address = self.function.advance(self._address(frame, access, access_number), distance, dtype.itemsize)
        type = registers.raw_type(dtype, self._lane_count)
        if count is None:
            return self.function.load(type, address)
        return load_raw(type, address, count, masks=self._target.has_masks)

    def _load_lanes(self, dtype: DType, address: Value, lanes: Lanes) -> Register:
        if lanes.valid is None:
            return registers.load(dtype, address, self._lane_count)
        return load_some(dtype, address, lanes.count, self._lane_count, masks=self._target.has_masks)

    def _strided(self, lanes: Lanes, access_number: int) -> Value:
        """The lanes' distances from the first one, where a stride is a run-time number."""
        stride = self._parameter("stride", access_number, self._plan.lane)
        if lanes.valid is not None:
            return lanes.numbers * stride.splat(self._lane_count)
        name = ("distances", access_number)
        if name not in self._hoisted:
            with self.function.hoisted():
                self._hoisted[name] = self._ladder() * stride.splat(self._lane_count)
        return self._hoisted[name]

    def _row_part(self, frame: Frame, number: int, index: Value) -> Register:
        """Neighbours of the row that an index in range picks for all lanes."""
        node = self._kernel.nodes[number]
        address = self._address(frame, node.detail.access, self._access_numbers["node", number])
        distance = index * self._parameter("gather stride", number)
        return self._load_lanes(
            node.dtype, self.function.advance(address, distance, node.dtype.itemsize), frame.vector
        )

    def _gathered(self, frame: Frame, number: int, index: Value) -> Register:
        """The elements that an index in range picks."""
        node = self._kernel.nodes[number]
        access_number = self._access_numbers["node", number]
        address = self._address(frame, node.detail.access, access_number)
        stride = self._parameter("gather stride", number).splat(index.type.lanes)
        offsets = index if node.detail.stride == 1 else index * stride
        lane_stride = self._lane_stride(node.detail.access)
        if index.type.lanes > 1 and lane_stride:
            general = lane_stride == GENERAL
            lanes = frame.vector
            offsets = offsets + (self._strided(lanes, access_number) if general else lanes.numbers)
        return registers.gather(node.dtype, self.function.advance(address, offsets, node.dtype.itemsize))

    def _store(self, frame: Frame, number: int, store: Store) -> None:
        dtype = self._kernel.buffers[store.access.buffer]
        access_number = self._access_numbers["store", number]
        address = self._address(frame, store.access, access_number)
        value = frame.values[store.node]
        lane_stride = self._lane_stride(store.access)
        vector = frame.lanes is not None and (lane_stride or self._plan.varies_in_lane[store.node])
        if not vector:
            registers.store(dtype, value, address)
            return
        lanes, wide = frame.vector, registers.splat(value, self._lane_count)
        if lane_stride != 1:
            self._scatter(dtype, lanes, wide, address, access_number)
        elif lanes.valid is None:
            registers.store(dtype, wide, address)
        else:
            store_some(dtype, wide, address, lanes.count, masks=self._target.has_masks)

    def _scatter(
        self, dtype: DType, lanes: Lanes, value: Register, address: Value, access_number: int
    ) -> None:
        """Write the lanes one by one, a stride apart."""
        function = self.function
        raw = registers.narrowed(dtype, value)
        room = function.room(raw.type)
        function.store(raw, room)
        stride = self._parameter("stride", access_number, self._plan.lane)
        units, nbytes = registers.unit_bytes(dtype)
        type = Type(f"i{8 * nbytes}")
        with function.loop(0, lanes.count) as lane:
            source = function.advance(room, lane, dtype.itemsize)
            target = function.advance(address, lane * stride, dtype.itemsize)
            for unit in range(units):
                part = function.load(type, function.advance(source, unit, nbytes))
                function.store(part, function.advance(target, unit, nbytes))
