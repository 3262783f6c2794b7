"""Elements of matrices as products read and write them, in LLVM IR; those in half precision are float32 in registers.

Where their order in registers does not matter, as long as it is the same everywhere, a vector of bfloat16 becomes two
without moving anything between lanes: of the elements at even places and of those at odd ones.
"""

from __future__ import annotations

from typing import NamedTuple

from raxis.dtypes import DType, bfloat16
from raxis_cpu.library.tiles_ir import masked_load, masked_store
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import Type, Value, multiply_add_ir
from raxis_cpu.llvm.registers import narrowed, raw_type, real, register_type, rounded

_HALF_BITS = 16
_UPPER = 0xFFFF0000


class Elements(NamedTuple):
    """Elements of a dtype, and how many of what they are in registers fill one."""

    dtype: DType
    lanes: int

    @property
    def vector(self) -> Type:
        """A register in which is calculated."""
        return register_type(self.dtype, self.lanes)

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def registers(self) -> int:
        """How many are loaded at once."""
        return 2 if self.dtype is bfloat16 else 1

    @property
    def width(self) -> int:
        """How many elements are."""
        return self.registers * self.lanes

    @property
    def _stored(self) -> Type:
        return raw_type(self.dtype, self.width)

    def declarations(self) -> list[str]:
        """What loads and stores of parts call, and `multiply_add` of the vectors."""
        stored = self._stored
        mask = stored.of("i1")
        return [
            multiply_add_ir(self.vector),
            f"declare {stored} @llvm.masked.load.{stored.suffix}.p0(ptr, i32, {mask}, {stored})",
            f"declare void @llvm.masked.store.{stored.suffix}.p0({stored}, ptr, i32, {mask})",
        ]

    def load(self, address: Value, mask: Value | None = None) -> list[Value]:
        """`width` consecutive elements, or those of them that are chosen and zeros."""
        function, stored = address.function, self._stored
        raw = function.load(stored, address) if mask is None else masked_load(stored, address, mask)
        if self.dtype is not bfloat16:
            return [real(registers.widened(self.dtype, raw))]
        pairs = Type("i32", self.lanes)
        both = function.emit(pairs, f"bitcast {raw} to {pairs}")
        return [bits.convert("bitcast", "float") for bits in (both << _HALF_BITS, both & _UPPER)]

    def store(self, values: list[Value], address: Value, mask: Value) -> None:
        """Write those of as many elements that are chosen, rounded."""
        parts = [real(rounded(self.dtype, value)) for value in values]
        if self.dtype is bfloat16:
            low, high = (part.bits() for part in parts)
            both, stored = (low >> _HALF_BITS) | high, self._stored
            raw = address.function.emit(stored, f"bitcast {both} to {stored}")
        else:
            raw = narrowed(self.dtype, parts[0])
        masked_store(raw, address, mask)

    def load_one(self, address: Value) -> Value:
        """An element."""
        return real(registers.load(self.dtype, address, 1))

    def store_one(self, value: Value, address: Value) -> None:
        """Write an element, rounded."""
        registers.store(self.dtype, rounded(self.dtype, value), address)


def elements_of(dtype: DType) -> Elements:
    """Those of a dtype, for the registers of this machine."""
    return Elements(dtype, host().vector_bytes * 8 // register_type(dtype).bits)
