"""Keys of elements in the order wanted, and numbers packed of key and position, in LLVM IR.

A packed number is a key, unsigned and in the order wanted, above the position of its element. Packed numbers are all
different, so every way to sort them is stable. They are twice as wide as the keys: 64 bits for elements of up to 32
bits, else 128.
"""

from __future__ import annotations

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis_cpu.llvm.ir import Type, Value


class Packing:
    """How elements of a dtype are packed, and where packed numbers are."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.bits = 64 if dtype.itemsize == 8 else 32
        self.key = Type(f"i{self.bits}")
        self.packed = Type(f"i{2 * self.bits}")
        self.nbytes = self.bits // 4

    def key_of(self, address: Value) -> Value:
        """The key of the element at an address, ascending; NaN has the greatest."""
        function = address.function
        if not self.dtype.is_floating_point:
            return self._integer_key(function.load(Type(f"i{8 * self.dtype.itemsize}"), address))
        number = self._number(address)
        zero = number + 0.0  # makes -0 equal to 0
        bits = zero.bits()
        ordered = bits ^ (bits.arithmetic_shift(self.bits - 1) | (1 << (self.bits - 1)))
        return zero.compare("ne", zero).select(-1, ordered)

    def _number(self, address: Value) -> Value:
        function = address.function
        if self.dtype is dtypes.float16:
            return function.load(Type("half"), address).convert("fpext", "float")
        if self.dtype is dtypes.bfloat16:
            wide = function.load(Type("i16"), address).convert("zext", "i32") << 16
            return wide.convert("bitcast", "float")
        return function.load(Type("float" if self.bits == 32 else "double"), address)

    def _integer_key(self, number: Value) -> Value:
        if self.dtype.category is Category.BOOL or not self.dtype.is_signed:
            return number.convert("zext", self.key.element)
        return number.convert("sext", self.key.element) ^ (1 << (self.bits - 1))

    def pack(self, key: Value, position: Value) -> Value:
        """Key and position in one."""
        wide = position if self.bits == 32 else position.convert("zext", "i128")
        return (key.convert("zext", self.packed.element) << self.bits) | wide

    def place(self, start: Value, index: Value) -> Value:
        """The address of a packed number."""
        return start.function.advance(start, index, self.nbytes)

    def load(self, start: Value, index: Value) -> Value:
        """A packed number."""
        return start.function.load(self.packed, self.place(start, index), 8)

    def store(self, number: Value, start: Value, index: Value) -> None:
        """Write a packed number."""
        start.function.store(number, self.place(start, index), 8)

    def digit(self, packed: Value, least: Value, shift: Value) -> Value:
        """The key's distance from the least one, shifted, as i64."""
        key = (packed >> self.bits).convert("trunc", self.key.element)
        return self.widened(key - least) >> shift

    def widened(self, key: Value) -> Value:
        """A key as i64."""
        return key if self.bits == 64 else key.convert("zext", "i64")

    def narrowed(self, number: Value) -> Value:
        """An i64 as a key."""
        return number if self.bits == 64 else number.convert("trunc", "i32")

    def position(self, packed: Value) -> Value:
        """The position in a packed number, as i64."""
        return packed & 0xFFFFFFFF if self.bits == 32 else packed.convert("trunc", "i64")
