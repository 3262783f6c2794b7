"""What one primitive is: operands, attributes, result types, meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir.attributes import Attribute
from raxis.ptir.program import Region
from raxis.ptir.types import SHORT_NAMES, TensorType

Types = Sequence[TensorType]
Attributes = Mapping[str, Any]
Regions = Sequence[Region]
Results = tuple[TensorType, ...]
Rule = Callable[[Types, Attributes, Regions], Results]
Kind = Literal["bool", "dtype", "int", "ints", "numbers", "pairs", "str"]

BOOL = frozenset({dtypes.bool_})
INTEGER = frozenset(dtype for dtype in dtypes.ALL if dtype.category is Category.INTEGER)
FLOAT = frozenset(dtype for dtype in dtypes.ALL if dtype.is_floating_point)
COMPLEX = frozenset(dtype for dtype in dtypes.ALL if dtype.is_complex)
REAL = INTEGER | FLOAT
NUMERIC = REAL | COMPLEX
ANY = NUMERIC | BOOL
ORDERED = BOOL | REAL
BITS = BOOL | INTEGER


class PrimitiveError(RuntimeError):
    """A primitive was applied to operands, attributes or regions that it does not admit."""


class UnsupportedDtypeError(PrimitiveError, NotImplementedError):
    """A primitive was applied to a dtype that it does not admit."""


def as_is(attributes: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """Attributes that have one form only."""
    return attributes


@dataclass(frozen=True)
class Primitive:
    """One primitive of the closed table.

    Attributes:
        name: how programs name it.
        doc: its meaning, also for NaN, infinities, empty and rank-0 operands.
        rule: result types from operand types, attributes and regions; raises `PrimitiveError`.
        admitted: the dtypes of the operand at `data_operand`, or of the result where that is None.
        arity: the number of operands; None when it varies.
        data_operand: the operand that `admitted` restricts.
        attributes: kind of each attribute, by name.
        regions: the number of regions.
        several_results: whether it can have other than one result.
        effect: "random" where passes must neither fold nor reorder draws, else "pure".
        open_attributes: whether attributes beyond `attributes` are allowed.
        canonical: brings attributes into their one canonical form.
    """

    name: str
    doc: str
    rule: Rule
    admitted: frozenset[DType] = ANY
    arity: int | None = 1
    data_operand: int | None = 0
    attributes: Mapping[str, Kind] = field(default_factory=dict)
    regions: int = 0
    several_results: bool = False
    effect: Literal["pure", "random"] = "pure"
    open_attributes: bool = False
    canonical: Callable[[Mapping[str, Attribute]], Mapping[str, Attribute]] = as_is

    def infer(
        self,
        operands: Sequence[TensorType],
        attributes: Mapping[str, Attribute],
        regions: Sequence[Region] = (),
    ) -> tuple[TensorType, ...]:
        """The result types.

        Raises:
            PrimitiveError: naming the primitive, what it was given and what it expects.
        """
        if self.arity is not None and len(operands) != self.arity:
            raise PrimitiveError(f"{self.name} expected {self.arity} operands, but got {len(operands)}.")
        if len(regions) != self.regions:
            raise PrimitiveError(f"{self.name} expected {self.regions} regions, but got {len(regions)}.")
        self._check_attributes(attributes)
        if self.data_operand is not None and self.data_operand < len(operands):
            self._check_dtype(operands[self.data_operand].dtype)
        results = self.rule(operands, attributes, regions)
        if self.data_operand is None and self.admitted is not ANY:
            self._check_dtype(results[0].dtype)
        return results

    def _check_attributes(self, attributes: Mapping[str, Attribute]) -> None:
        missing = sorted(self.attributes.keys() - attributes.keys())
        unknown = [] if self.open_attributes else sorted(attributes.keys() - self.attributes.keys())
        if missing or unknown:
            expected = ", ".join(self.attributes) or "none"
            raise PrimitiveError(
                f"{self.name} expected the attributes: {expected}; missing: {', '.join(missing) or 'none'}; "
                f"unknown: {', '.join(unknown) or 'none'}."
            )
        for name, kind in self.attributes.items():
            if not _KIND_TESTS[kind](attributes[name]):
                raise PrimitiveError(
                    f"{self.name} expected attribute {name} of kind {kind}, but got {attributes[name]!r}."
                )

    def _check_dtype(self, dtype: DType) -> None:
        if dtype not in self.admitted:
            names = ", ".join(SHORT_NAMES[known] for known in dtypes.ALL if known in self.admitted)
            raise UnsupportedDtypeError(
                f'"{self.name}" not implemented for {dtype.name}. The dtypes it admits are: {names}.'
            )


def _is_int(value: object) -> bool:
    return type(value) is int


def _is_ints(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value))


def _is_pairs(value: object) -> bool:
    return isinstance(value, tuple) and all(_is_ints(pair) and len(pair) == 2 for pair in value)


def _is_numbers(value: object) -> bool:
    numbers = value if isinstance(value, tuple) else (value,)
    return all(isinstance(number, complex | float | int) for number in numbers)


_KIND_TESTS: dict[Kind, Callable[[object], bool]] = {
    "bool": lambda value: isinstance(value, bool),
    "dtype": lambda value: isinstance(value, DType),
    "int": _is_int,
    "ints": _is_ints,
    "numbers": _is_numbers,
    "pairs": _is_pairs,
    "str": lambda value: isinstance(value, str),
}
