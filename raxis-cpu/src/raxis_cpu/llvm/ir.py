"""A builder of LLVM IR text: typed values with Python operators, loops and branches.

Values have `lanes` elements: one is a scalar, more are a vector. Mutable state lives in variables (allocas in the
entry block), which LLVM turns into registers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

Number = bool | int | float


class Type(NamedTuple):
    """An LLVM type: `element` is ``i1``, ``i32``, ``float``, ``ptr``, ...; more lanes make it a vector."""

    element: str
    lanes: int = 1

    def __str__(self) -> str:
        return self.element if self.lanes == 1 else f"<{self.lanes} x {self.element}>"

    @property
    def suffix(self) -> str:
        """How intrinsics name the type: ``v8f32``."""
        element = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}.get(
            self.element, self.element
        )
        return element if self.lanes == 1 else f"v{self.lanes}{element}"

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return {"float": 32, "double": 64, "half": 16, "ptr": 64}.get(self.element) or int(self.element[1:])

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.element in {"float", "double", "half"}

    def of(self, element: str) -> Type:
        """As many lanes of another element type."""
        return Type(element, self.lanes)

    @property
    def integer(self) -> Type:
        """Integers of the same width."""
        return self.of(f"i{self.bits}")


I1, I8, I32, I64, PTR, DOUBLE = (Type(name) for name in ("i1", "i8", "i32", "i64", "ptr", "double"))

_FLOAT_OPS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_FLOAT_PREDICATES = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_INTEGER_OPS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "shl",
    ">>": "lshr",
}


def literal(type: Type, number: Number) -> str:
    """The text of a constant, repeated in all lanes."""
    element = _float_literal(type, float(number)) if type.is_float else _integer_literal(type, int(number))
    return element if type.lanes == 1 else f"splat ({type.element} {element})"


def _float_literal(type: Type, number: float) -> str:
    if type.element == "float":
        number = single(number)
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def single(number: float) -> float:
    """`number` rounded to float32."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _integer_literal(type: Type, number: int) -> str:
    if type.element == "i1":
        return "true" if number & 1 else "false"
    number &= (1 << type.bits) - 1
    return str(number - (1 << type.bits) if number >> (type.bits - 1) else number)


class Value:
    """An SSA value or constant. Operators are the plain IEEE or wrapping ones; ``>>`` is the logical shift."""

    __slots__ = ("function", "name", "type")

    def __init__(self, function: Function, type: Type, name: str) -> None:
        self.function = function
        self.type = type
        self.name = name

    def __str__(self) -> str:
        return f"{self.type} {self.name}"

    def _lift(self, other: Value | Number) -> Value:
        if isinstance(other, Value):
            return other
        return self.function.constant(self.type, other)

    def _binary(self, symbol: str, left: Value | Number, right: Value | Number) -> Value:
        left, right = self._lift(left), self._lift(right)
        operation = (_FLOAT_OPS if self.type.is_float else _INTEGER_OPS)[symbol]
        return self.function.emit(self.type, f"{operation} {left}, {right.name}")

    def __add__(self, other: Value | Number) -> Value:
        return self._binary("+", self, other)

    def __radd__(self, other: Number) -> Value:
        return self._binary("+", other, self)

    def __sub__(self, other: Value | Number) -> Value:
        return self._binary("-", self, other)

    def __rsub__(self, other: Number) -> Value:
        return self._binary("-", other, self)

    def __mul__(self, other: Value | Number) -> Value:
        return self._binary("*", self, other)

    def __rmul__(self, other: Number) -> Value:
        return self._binary("*", other, self)

    def __truediv__(self, other: Value | Number) -> Value:
        return self._binary("/", self, other)

    def __rtruediv__(self, other: Number) -> Value:
        return self._binary("/", other, self)

    def __and__(self, other: Value | Number) -> Value:
        return self._binary("&", self, other)

    def __or__(self, other: Value | Number) -> Value:
        return self._binary("|", self, other)

    def __xor__(self, other: Value | Number) -> Value:
        return self._binary("^", self, other)

    def __lshift__(self, other: Value | Number) -> Value:
        return self._binary("<<", self, other)

    def __rshift__(self, other: Value | Number) -> Value:
        return self._binary(">>", self, other)

    def __invert__(self) -> Value:
        return self ^ -1

    def __neg__(self) -> Value:
        return self.function.emit(self.type, f"fneg {self}") if self.type.is_float else 0 - self

    def arithmetic_shift(self, count: Value | Number) -> Value:
        """Shifted right, keeping the sign."""
        return self.function.emit(self.type, f"ashr {self}, {self._lift(count).name}")

    def compare(self, predicate: str, other: Value | Number) -> Value:
        """``eq ne lt le gt ge``: signed; for floats, NaN makes them false but for ``ne``.

        With ``u`` before them: unsigned; for floats, true with NaN.
        """
        if self.type.is_float:
            text = f"fcmp {_FLOAT_PREDICATES.get(predicate, predicate)}"
        elif predicate in {"eq", "ne"} or predicate.startswith("u"):
            text = f"icmp {predicate}"
        else:
            text = f"icmp s{predicate}"
        return self.function.emit(self.type.of("i1"), f"{text} {self}, {self._lift(other).name}")

    def select(self, yes: Value | Number, no: Value | Number, *, unpredictable: bool = False) -> Value:
        """`yes` where this is true, else `no`; at least one is a Value.

        It may become a branch, unless it is `unpredictable`.
        """
        model = yes if isinstance(yes, Value) else no
        if not isinstance(model, Value):
            raise TypeError("select needs the type of at least one Value.")
        yes, no = model._lift(yes), model._lift(no)
        mark = ", !unpredictable !{}" if unpredictable else ""
        return self.function.emit(model.type, f"select {self}, {yes}, {no}{mark}")

    def convert(self, operation: str, element: str) -> Value:
        """A conversion instruction, such as ``fpext`` or ``bitcast``, to another element type."""
        target = self.type.of(element)
        return self if target == self.type else self.function.emit(target, f"{operation} {self} to {target}")

    def bits(self) -> Value:
        """The bit pattern as integers."""
        return self.convert("bitcast", self.type.integer.element)

    def intrinsic(self, name: str, *others: Value | Number) -> Value:
        """``llvm.<name>`` over operands of this type."""
        operands = ", ".join(str(self._lift(other)) for other in (self, *others))
        return self.function.emit(self.type, f"call {self.type} @llvm.{name}.{self.type.suffix}({operands})")

    def splat(self, lanes: int) -> Value:
        """This scalar in all lanes."""
        if lanes == self.type.lanes:
            return self
        if not self.name.startswith("%"):
            return Value(self.function, Type(self.type.element, lanes), f"splat ({self})")
        target = Type(self.type.element, lanes)
        one = self.function.emit(target, f"insertelement {target} poison, {self}, i64 0")
        return self.function.emit(
            target, f"shufflevector {one}, {target} poison, <{lanes} x i32> zeroinitializer"
        )

    def part(self, first: int, count: int) -> Value:
        """`count` lanes from `first` on."""
        if count == 1:
            return self.function.emit(Type(self.type.element), f"extractelement {self}, i64 {first}")
        lanes = ", ".join(f"i32 {lane}" for lane in range(first, first + count))
        target = Type(self.type.element, count)
        return self.function.emit(
            target, f"shufflevector {self}, {self.type} poison, <{count} x i32> <{lanes}>"
        )


def is_null(address: Value) -> Value:
    """Whether an address is that of nothing."""
    return address.function.emit(I1, f"icmp eq {address}, null")


def fma(x: Value, y: Value | Number, z: Value | Number) -> Value:
    """x * y + z with one rounding."""
    return x.intrinsic("fma", y, z)


def multiply_add(x: Value, y: Value, z: Value) -> Value:
    """x * y + z, with one rounding of floats; integers wrap."""
    return fma(x, y, z) if x.type.is_float else x * y + z


def multiply_add_ir(vector: Type) -> str:
    """What `multiply_add` of such vectors calls."""
    return (
        f"declare {vector} @llvm.fma.{vector.suffix}({vector}, {vector}, {vector})" if vector.is_float else ""
    )


def polynomial(x: Value, coefficients: Sequence[Value | float]) -> Value:
    """Pairs of terms, then Horner's scheme in the square, with fused steps; the lowest power comes first.

    One instruction more than Horner's scheme in x, with half as many to wait for.
    """
    pairs: list[Value | float] = []
    for low in range(0, len(coefficients) - 1, 2):
        pairs.append(fma(x, coefficients[low + 1], coefficients[low]))
    if len(coefficients) % 2:
        pairs.append(coefficients[-1])
    total, square = pairs.pop(), x * x
    while pairs:
        total = fma(square, total, pairs.pop())
    return total if isinstance(total, Value) else x.function.constant(x.type, total)


def horner(x: Value, coefficients: Sequence[Value | float]) -> Value:
    """Horner's scheme with fused steps, the fewest instructions; the lowest power comes first."""
    total = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = fma(x, total, coefficient)
    return total if isinstance(total, Value) else x.function.constant(x.type, total)


class Function:
    """One function being written.

    `scales` if the machine has AVX-512, which takes numbers apart and scales them in one instruction; `permutes` if it
    has AVX2.
    """

    def __init__(self, header: str, *, scales: bool = False, permutes: bool = False) -> None:
        self.header = header
        self.scales = scales
        self.permutes = permutes
        self._entry: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self.helpers: dict[str, Callable[[], str]] = {}

    def fresh(self, prefix: str = "v") -> str:
        """A new name."""
        self._count += 1
        return f"{prefix}{self._count}"

    def line(self, text: str) -> None:
        """Append an instruction without a result."""
        self._lines.append(f"  {text}")

    def emit(self, type: Type, text: str) -> Value:
        """Append an instruction; its result."""
        name = f"%{self.fresh()}"
        self.line(f"{name} = {text}")
        return Value(self, type, name)

    def constant(self, type: Type, number: Number) -> Value:
        """A constant in all lanes."""
        return Value(self, type, literal(type, number))

    def argument(self, type: Type, name: str) -> Value:
        """A parameter of the function."""
        return Value(self, type, f"%{name}")

    def label(self, name: str) -> None:
        """Begin a block, from the one before if that has not ended."""
        self._lines.append(f"{name}:")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        """End the block."""
        self.line(f"br i1 {condition.name}, label %{yes}, label %{no}")

    def jump(self, label: str) -> None:
        """End the block."""
        self.line(f"br label %{label}")

    def variable(self, type: Type, initial: Value | Number | None = None, align: int = 0) -> Variable:
        """Mutable state, or room for one value in memory."""
        name = f"%{self.fresh('m')}"
        self._entry.append(f"  {name} = alloca {type}" + (f", align {align}" if align else ""))
        variable = Variable(self, type, name)
        if initial is not None:
            variable.set(initial if isinstance(initial, Value) else self.constant(type, initial))
        return variable

    def room(self, type: Type) -> Value:
        """The address of zeroed memory for one value."""
        variable = self.variable(type, align=64)
        self._entry.append(f"  store {type} zeroinitializer, ptr {variable.name}, align 64")
        return variable.address

    def load(self, type: Type, address: Value, align: int = 0) -> Value:
        """Read memory, by default at any address that suits one element."""
        return self.emit(type, f"load {type}, {address}, align {align or max(1, type.bits // 8)}")

    def store(self, value: Value, address: Value, align: int = 0) -> None:
        """Write memory."""
        self.line(f"store {value}, {address}, align {align or max(1, value.type.bits // 8)}")

    def advance(self, address: Value, count: Value | int, size: int) -> Value:
        """The address `count` elements of `size` bytes further on."""
        index = count if isinstance(count, Value) else self.constant(I64, count)
        type = index.type.of("ptr")
        return self.emit(type, f"getelementptr i{8 * size}, {address}, {index}")

    def call(self, type: Type, target: str, *arguments: Value) -> Value:
        """Call a function that returns something."""
        return self.emit(type, f"call {type} {target}({', '.join(map(str, arguments))})")

    @contextmanager
    def hoisted(self) -> Iterator[None]:
        """Write instructions in the entry block: for values that are the same everywhere in the function."""
        lines, self._lines = self._lines, self._entry
        yield
        self._lines = lines

    @contextmanager
    def loop(self, start: Value | int, stop: Value, step: Value | int = 1) -> Iterator[Value]:
        """Run the body for every index from `start` below `stop`."""
        index = self.variable(I64, start)
        head, body, done = self.fresh("head"), self.fresh("body"), self.fresh("done")
        self.jump(head)
        self.label(head)
        now = index.get()
        self.branch(now.compare("lt", stop), body, done)
        self.label(body)
        yield now
        index.set(now + step)
        self.jump(head)
        self.label(done)

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Run the body if the scalar condition holds."""
        then, done = self.fresh("then"), self.fresh("done")
        self.branch(condition, then, done)
        self.label(then)
        yield
        self.jump(done)
        self.label(done)

    @contextmanager
    def repeat_while(self) -> Iterator[Repetition]:
        """Run the body as long as the condition given to `Repetition.test` holds."""
        repetition = Repetition(self)
        self.jump(repetition.head)
        self.label(repetition.head)
        yield repetition
        self.jump(repetition.head)
        self.label(repetition.done)

    @property
    def text(self) -> str:
        """The definition."""
        return "\n".join([f"define {self.header} {{", "entry:", *self._entry, *self._lines, "}"])


class Repetition:
    """A loop whose condition is computed in its body."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self.head, self.done = function.fresh("head"), function.fresh("done")

    def test(self, condition: Value) -> None:
        """Leave the loop unless the condition holds."""
        body = self._function.fresh("body")
        self._function.branch(condition, body, self.done)
        self._function.label(body)


class Variable:
    """Mutable state."""

    def __init__(self, function: Function, type: Type, name: str) -> None:
        self._function = function
        self.type = type
        self.name = name

    @property
    def address(self) -> Value:
        """Where it is."""
        return Value(self._function, PTR, self.name)

    def get(self) -> Value:
        """Its value now."""
        return self._function.emit(self.type, f"load {self.type}, ptr {self.name}")

    def set(self, value: Value | Number) -> None:
        """Change it."""
        new = value if isinstance(value, Value) else self._function.constant(self.type, value)
        self._function.line(f"store {new}, ptr {self.name}")
