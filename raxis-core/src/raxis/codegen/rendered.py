"""A kernel as text, and what its run-time numbers are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from raxis.codegen.dialect import Dialect
from raxis.codegen.expressions import memory_type, register_type
from raxis.codegen.helpers import definitions
from raxis.dtypes import DType


class Entry(NamedTuple):
    """One run-time number: `value`, plus where buffer slot `slot` begins, or the bits of by-value number `scalar`."""

    value: int = 0
    slot: int | None = None
    scalar: int | None = None
    dtype: DType | None = None
    part: int = 0


class Rendered(NamedTuple):
    """A kernel in a language of the C family.

    Attributes:
        name: the function's.
        source: everything the compiler needs; equal for kernels that differ in sizes, strides and offsets only.
        entries: what the run-time numbers are, in order; a call passes them as 64-bit integers.
        work_items: how many points or, with `grouped`, work-groups there are.
        grouped: whether a whole work-group shares each of them.
    """

    name: str
    source: str
    entries: tuple[Entry, ...]
    work_items: int
    grouped: bool = False


class Numbers:
    """Collects the run-time numbers of a kernel.

    Strides of 0 are part of its text; with `dense` those of 1, too, which makes dense loops simple and kernels many.
    """

    def __init__(self, dialect: Dialect, *, dense: bool = False) -> None:
        self._dialect = dialect
        self._dense = dense
        self.entries: list[Entry] = []

    def add(self, entry: Entry) -> str:
        """The expression of a number."""
        self.entries.append(entry)
        return self._dialect.number(len(self.entries) - 1)

    def value(self, value: int) -> str:
        """The expression of an integer."""
        return self.add(Entry(value))

    def position(
        self, indices: Sequence[str], strides: Sequence[int], slot: int | None, offset: int = 0
    ) -> str:
        """Where an element lies: where the slot begins plus index times stride."""
        terms = [self.add(Entry(offset, slot))] if offset or slot is not None else []
        for index, stride in zip(indices, strides, strict=True):
            if stride:
                unit = stride == 1 and self._dense
                terms.append(index if unit else f"{index} * {self.value(stride)}")
        return " + ".join(terms) or "0"


def assembled(
    dialect: Dialect, name: str, buffers: Sequence[str], numbers: Numbers, body: Sequence[str]
) -> str:
    """The source of one kernel with this body."""
    lines = "\n".join(f"    {line}" for line in body)
    kernel = f"{dialect.kernel} {name}({dialect.parameters(buffers)})\n{{\n{lines}\n}}"
    parts = [dialect.prelude, dialect.numbers_type(max(1, len(numbers.entries)))]
    parts += [definitions(dialect, kernel), kernel]
    return "\n".join(part for part in parts if part) + "\n"


def memory_types(dtypes: Sequence[DType]) -> list[str]:
    """The element types of buffer slots."""
    return [memory_type(dtype) for dtype in dtypes]


def scalar_expression(numbers: Numbers, scalar: int, dtype: DType) -> str:
    """By-value number `scalar` in a register."""
    if dtype.is_complex:
        real = dtype.to_real()
        parts = [numbers.add(Entry(scalar=scalar, dtype=dtype, part=part)) for part in (0, 1)]
        return f"rx_make_{register_type(dtype)}({', '.join(_from_bits(part, real) for part in parts)})"
    number = numbers.add(Entry(scalar=scalar, dtype=dtype))
    return _from_bits(number, dtype) if dtype.is_floating_point else f"({register_type(dtype)}){number}"


def _from_bits(number: str, dtype: DType) -> str:
    """float64 numbers are passed as their bits, others as those of float32."""
    suffix = register_type(dtype)
    return f"rx_real_{suffix}(({'u64' if suffix == 'f64' else 'u32'}){number})"
