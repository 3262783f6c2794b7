"""Phases over stacks of matrices in LLVM IR: where elements are, arithmetic on them, and calls of BLAS and LAPACK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from raxis.dtypes import DType
from raxis_cpu.library.matrix_copies_ir import COPY, copy_function
from raxis_cpu.library.phases import Body
from raxis_cpu.llvm.complexes import divide, multiply
from raxis_cpu.llvm.ir import I8, I32, I64, Type, Value, fma
from raxis_cpu.llvm.math.support import absolute
from raxis_cpu.llvm.registers import Complex, Register, register_type

LANES = 4
"""Neighbouring elements that are worked on at once."""


class Matrix(NamedTuple):
    """One matrix in memory: its first element, and strides in elements."""

    start: Value
    row: Value
    column: Value


class MatrixBody(Body):
    """A phase over the matrices of a stack, all of one dtype.

    Args:
        name: of the function.
        numbers: names of the routine's numbers.
        dtype: of the elements.
    """

    def __init__(self, name: str, numbers: Sequence[str], dtype: DType) -> None:
        super().__init__(name, numbers)
        self.size = dtype.itemsize
        self._is_complex = dtype.is_complex
        self._part = register_type(dtype)

    # ---- places ------------------------------------------------------------------------------------------------------

    def given(self, number: int, name: str, item: Value) -> Matrix:
        """Matrix `item` of an array whose strides are the numbers ``name_stack``, ``name_row`` and ``name_column``."""
        stack, row, column = (self.numbers[f"{name}_{part}"] for part in ("stack", "row", "column"))
        return Matrix(self.advance(self.array(number), item * stack, self.size), row, column)

    def dense(self, start: Value, rows: Value, columns: Value, item: Value) -> Matrix:
        """Matrix `item` of a contiguous stack."""
        one = self.constant(I64, 1)
        return Matrix(self.advance(start, item * (rows * columns), self.size), columns, one)

    def at(self, matrix: Matrix, row: Value | int, column: Value | int) -> Value:
        """Address of an element."""
        offset = matrix.row * row + matrix.column * column
        return self.advance(matrix.start, offset, self.size)

    def int32_at(self, number: int, place: Value) -> Value:
        """Address of an element of an array of int32."""
        return self.advance(self.array(number), place, 4)

    # ---- elements ----------------------------------------------------------------------------------------------------

    def read(self, place: Value, lanes: int = 1) -> Register:
        """Elements that lie side by side; of complex ones, one."""
        if not self._is_complex:
            return self.load(Type(self._part.element, lanes), place)
        real, imag = (self.load(self._part, self.advance(place, k, self.size // 2)) for k in (0, 1))
        return Complex(real, imag)

    def write(self, value: Register, place: Value) -> None:
        """Write what `read` reads."""
        if isinstance(value, Value):
            self.store(value, place)
            return
        for k, part in enumerate(_parts(value)):
            self.store(part, self.advance(place, k, self.size // 2))

    def number(self, value: float) -> Register:
        """A real constant."""
        real = self.constant(self._part, value)
        return Complex(real, self.constant(self._part, 0.0)) if self._is_complex else real

    def along(self, first: Value | int, stop: Value, work: Callable[[Value, int], None]) -> None:
        """``work(index, lanes)`` for all indices from `first` on, several side by side where there are so many."""
        start = self.lifted(first)
        if not self._is_complex:
            whole = start + ((stop - start) & -LANES)
            with self.loop(start, whole, LANES) as index:
                work(index, LANES)
            start = whole
        with self.loop(start, stop) as index:
            work(index, 1)

    # ---- transposition and LAPACK ------------------------------------------------------------------------------------

    def copy(self, source: Matrix, target: Matrix, rows: Value, columns: Value) -> None:
        """Copy a matrix."""
        places = ", ".join(map(str, (*source, *target, rows, columns)))
        self.line(f"call void @{COPY}({places})")

    @property
    def text(self) -> str:
        """The definition, and that of the function that copies."""
        return f"{super().text}\n{copy_function(self.size)}"

    def by_reference(self, value: Value) -> Value:
        """Where LAPACK finds an argument."""
        return self.variable(value.type, value).address

    def letter(self, letter: str) -> Value:
        """Where LAPACK finds an option."""
        return self.by_reference(self.constant(I8, ord(letter)))

    def void_call(self, name: str, *arguments: Value) -> None:
        """Call the function whose address is the number `name`."""
        target = self.address(name)
        self.line(f"call void {target.name}({', '.join(map(str, arguments))})")


class LapackBody(MatrixBody):
    """One that calls LAPACK, whose integers are `long` or not.

    Attributes:
        integer: the type of LAPACK's integers.
        info: what it reports: 0 if all is well.
    """

    def __init__(self, name: str, numbers: Sequence[str], dtype: DType, long: bool) -> None:
        super().__init__(name, numbers, dtype)
        self.integer = I64 if long else I32
        self.info = self.variable(self.integer, 0)
        self._sizes: dict[str, Value] = {}

    def integer_of(self, name: str) -> Value:
        """Where LAPACK finds the number `name`."""
        if name not in self._sizes:
            number = self.numbers[name]
            self._sizes[name] = self.by_reference(number.convert("trunc", self.integer.element))
        return self._sizes[name]

    def lapack(self, name: str, *arguments: Value, letters: int = 0) -> None:
        """Call LAPACK; `letters` are so many options of one letter, whose lengths come last."""
        lengths = [self.constant(I64, 1)] * letters
        self.void_call(name, *arguments, self.info.address, *lengths)

    def by_columns(self, start: Value, rows: Value) -> Matrix:
        """A dense matrix column by column, as LAPACK has it."""
        return Matrix(start, self.constant(I64, 1), rows)


class Running:
    """A number that changes.

    Args:
        body: what it is in.
        first: what it is at first.
    """

    def __init__(self, body: MatrixBody, first: Register) -> None:
        self._parts = [body.variable(part.type, part) for part in _parts(first)]

    def get(self) -> Register:
        """What it is now."""
        values = [part.get() for part in self._parts]
        return Complex(*values) if len(values) > 1 else values[0]

    def set(self, value: Register) -> None:
        """Change it."""
        for variable, part in zip(self._parts, _parts(value), strict=True):
            variable.set(part)


def _parts(value: Register) -> tuple[Value, ...]:
    return tuple(value) if isinstance(value, Complex) else (value,)


def less_product(total: Register, x: Register, y: Register) -> Register:
    """total - x y."""
    if isinstance(total, Value) and isinstance(x, Value) and isinstance(y, Value):
        return fma(-x, y, total)
    return _minus(_complex(total), multiply(_complex(x), _complex(y)))


def _complex(x: Register) -> Complex:
    return x if isinstance(x, Complex) else Complex(x, x.function.constant(x.type, 0.0))


def _minus(x: Complex, y: Complex) -> Complex:
    return Complex(x.real - y.real, x.imag - y.imag)


def quotient(x: Register, y: Register) -> Register:
    """x / y."""
    return divide(_complex(x), _complex(y)) if isinstance(x, Complex) else x / y  # type: ignore[operator]


def extent(x: Register) -> Value:
    """|re| + |im|."""
    return absolute(x.real) + absolute(x.imag) if isinstance(x, Complex) else absolute(x)


def conjugate(x: Register) -> Register:
    """The conjugate."""
    return Complex(x.real, -x.imag) if isinstance(x, Complex) else x


def real_part(x: Register) -> Value:
    """The real part."""
    return x.real if isinstance(x, Complex) else x


def is_zero(x: Register) -> Value:
    """Whether a number is 0."""
    return extent(x).compare("eq", 0.0)
