"""Whether a program keeps rows apart: row i of its results depends on row i of its operands only.

Two programs of one function are compared, for few rows and for many. Sizes that differ are those that hold rows; all
else must be equal, and no instruction may mix what lies in different rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NamedTuple

from raxis.ptir.attributes import attributes_key
from raxis.ptir.primitives import FAMILIES
from raxis.ptir.program import Instruction, Program, Region, Value


class Rows(NamedTuple):
    """Where a value holds rows.

    Attributes:
        dim: the dimension.
        each: how many of its elements there are for each row.
        outer: into how many parts, each with all rows in order, the dimension falls; None if all its elements are
            equal, so that there is no order to speak of.
    """

    dim: int
    each: int
    outer: int | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Dimension, and elements for each row."""
        return self.dim, self.each


class MixedRowsError(Exception):
    """A program does not keep rows apart, or differs in more than their number; the text is the rest of a sentence.

    Attributes:
        at: the instruction for few rows where that is seen; None if it is none.
    """

    def __init__(self, reason: str, at: Instruction | None = None) -> None:
        super().__init__(reason)
        self.at = at


class Numbers(NamedTuple):
    """How many rows two programs were made for."""

    few: int
    many: int

    def rows_of(self, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> Rows | None:
        """Where values of these two shapes hold rows; None where they hold none.

        Raises:
            MixedRowsError: if the shapes differ in another way.
        """
        few, many = shapes
        if len(few) != len(many):
            raise MixedRowsError("the number of dimensions depends on the number of rows")
        dims = [dim for dim, (less, more) in enumerate(zip(few, many, strict=True)) if less != more]
        if not dims:
            return None
        dim = dims[0]
        if len(dims) > 1 or few[dim] % self.few or few[dim] * self.many != many[dim] * self.few:
            raise MixedRowsError("rows meet rows, or a size does not grow with their number")
        return Rows(dim, few[dim] // self.few)


class Step(NamedTuple):
    """One instruction in both programs, with the rows of its operands and results."""

    few: Instruction
    many: Instruction
    operands: Sequence[Rows | None]
    results: Sequence[Rows | None]

    def same(self, *besides: str) -> bool:
        """Whether both have the same attributes, except for some."""
        few, many = [
            {name: value for name, value in item.attributes.items() if name not in besides}
            for item in (self.few, self.many)
        ]
        return attributes_key(few) == attributes_key(many)

    def is_along(self, name: str, operand: int = 0) -> bool:
        """Whether the attribute `name` is, or holds, the dimension in which an operand has its rows."""
        rows, dims = self.operands[operand], self.few.attributes[name]
        return rows is not None and (rows.dim in dims if isinstance(dims, tuple) else rows.dim == dims)


def check(few: Program, many: Program, numbers: Numbers) -> list[Rows | None]:
    """Where the results hold rows, if both programs do the same to each row.

    Raises:
        MixedRowsError: otherwise.
    """
    given = [
        rows and rows._replace(outer=1) for rows in _types_rows(few.parameters, many.parameters, numbers)
    ]
    return _check_body(few, many, numbers, given)


def _check_body(
    few: Program | Region, many: Program | Region, numbers: Numbers, given: Sequence[Rows | None]
) -> list[Rows | None]:
    """Where the results of a body hold rows, if its parameters hold them where it is `given`."""
    counterpart: dict[Value, Value] = {}
    if len(few.instructions) != len(many.instructions):
        raise MixedRowsError("the operations depend on the number of rows")
    _pair(few.parameters, many.parameters, counterpart)
    held: dict[Value, Rows | None] = dict(zip(few.parameters, given, strict=True))
    for less, more in zip(few.instructions, many.instructions, strict=True):
        _require_uses(less.operands, more.operands, counterpart, less)
        try:
            found = _check_instruction(less, more, numbers, [held[value] for value in less.operands])
        except MixedRowsError as error:
            raise error if error.at is not None else MixedRowsError(str(error), less) from error
        _pair(less.results, more.results, counterpart)
        held.update(zip(less.results, found, strict=True))
    _require_uses(few.results, many.results, counterpart, None)
    return [held[value] for value in few.results]


def _pair(few: Sequence[Value], many: Sequence[Value], counterpart: dict[Value, Value]) -> None:
    if len(few) != len(many) or any(a.type.dtype is not b.type.dtype for a, b in zip(few, many, strict=True)):
        raise MixedRowsError("the operations depend on the number of rows")
    counterpart.update(zip(few, many, strict=True))


def _require_uses(
    few: Sequence[Value], many: Sequence[Value], counterpart: Mapping[Value, Value], at: Instruction | None
) -> None:
    if [counterpart[value] for value in few] != list(many):
        raise MixedRowsError("the operations depend on the number of rows", at)


def _check_instruction(
    few: Instruction, many: Instruction, numbers: Numbers, operands: Sequence[Rows | None]
) -> Sequence[Rows | None]:
    """Where the results hold rows."""
    if few.primitive != many.primitive:
        raise MixedRowsError("the operations depend on the number of rows")
    step = Step(few, many, operands, _types_rows(few.results, many.results, numbers))
    if few.primitive == "composite":
        if not step.same():
            raise MixedRowsError("an attribute depends on the number of rows")
        return _check_body(few.regions[0], many.regions[0], numbers, operands)
    if not any((*operands, *step.results)):
        if not step.same() or [a.key for a in few.regions] != [b.key for b in many.regions]:
            raise MixedRowsError("a number depends on the number of rows")
        return step.results
    orders = {rows.outer for rows in operands if rows is not None} - {None}
    if few.primitive not in _RULES or not _RULES[few.primitive](step) or len(orders) > 1:
        raise MixedRowsError(f"rows are mixed, or depend on their number, in {few.primitive}")
    outer = _OUTER[few.primitive](step) if few.primitive in _OUTER else next(iter(orders), None)
    return [rows and rows._replace(outer=outer) for rows in step.results]


def _types_rows(few: Sequence[Value], many: Sequence[Value], numbers: Numbers) -> list[Rows | None]:
    """Where values of these types hold rows, of unknown order."""
    if len(few) != len(many):
        raise MixedRowsError("the operations depend on the number of rows")
    return [numbers.rows_of((a.type.shape, b.type.shape)) for a, b in zip(few, many, strict=True)]


# ---- what keeps rows apart -----------------------------------------------------------------------------


def _each_element(step: Step) -> bool:
    return step.same()


def _shaped(step: Step) -> bool:
    """Attributes are the same but for the shape, which the types tell."""
    return step.same("shape")


def _constant(step: Step) -> bool:
    return step.same("shape") and not isinstance(step.few.attributes["value"], tuple)


def _reshape(step: Step) -> bool:
    """The elements around the rows fall into whole dimensions again."""
    return _outer_of_reshaped(step) > 0


def _outer_of_reshaped(step: Step) -> int:
    """The number of parts of the result's dimension of rows; 0 if there is none."""
    operand, result = step.operands[0], step.results[0]
    if operand is None or result is None:
        return 0
    shape, made = step.few.operands[0].type.shape, step.few.results[0].type.shape
    before, begun = prod(shape[: operand.dim]) * (operand.outer or 1), prod(made[: result.dim])
    outer, left = divmod(before, begun) if begun else (0, 0)
    if left or not outer or result.each % outer:
        return 0
    after = operand.each // (operand.outer or 1) * prod(shape[operand.dim + 1 :])
    return outer if result.each // outer * prod(made[result.dim + 1 :]) == after else 0


def _outer_of_iota(step: Step) -> int | None:
    """An index along the rows counts rows in order."""
    rows = step.results[0]
    return 1 if rows is not None and step.few.attributes["dim"] == rows.dim else None


def _slice(step: Step) -> bool:
    rows = step.operands[0]
    if rows is None:
        return False
    few, many = [_bounds(item) for item in (step.few, step.many)]
    whole = [(0, item.operands[0].type.shape[rows.dim], 1) for item in (step.few, step.many)]
    return [few.pop(rows.dim), many.pop(rows.dim)] == whole and few == many


def _bounds(item: Instruction) -> list[tuple[int, ...]]:
    return list(zip(*[item.attributes[name] for name in ("start", "stop", "step")], strict=True))


def _pad(step: Step) -> bool:
    rows, fill = step.operands
    margins = ("low", "high", "interior")
    return (
        step.same()
        and fill is None
        and rows is not None
        and all(step.few.attributes[name][rows.dim] == 0 for name in margins)
    )


def _along_others(name: str) -> Callable[[Step], bool]:
    """What works along dimensions, none of which holds rows."""
    return lambda step: step.same() and not any(step.is_along(name, at) for at in range(len(step.operands)))


def _in_last(count: int) -> Callable[[Step], bool]:
    """What works in the last dimensions; all operands hold rows before these."""

    def rule(step: Step) -> bool:
        pairs = zip(step.operands, step.few.operands, strict=True)
        return step.same() and all(
            rows is not None and rows.dim < value.type.rank - count for rows, value in pairs
        )

    return rule


def _dot_general(step: Step) -> bool:
    lhs, rhs = step.operands
    if not step.same() or step.is_along("lhs_contract", 0) or step.is_along("rhs_contract", 1):
        return False
    return lhs is None or rhs is None or (step.is_along("lhs_batch", 0) and step.is_along("rhs_batch", 1))


def _convolution(step: Step) -> bool:
    image, weight = step.operands
    return step.same() and weight is None and image is not None and image.dim == 0


def _alike(step: Step) -> bool:
    """Whether all operands hold rows in the same dimension."""
    return len({rows and rows.place for rows in step.operands}) == 1


def _gather(step: Step) -> bool:
    return step.same() and (
        (step.operands[0] is None and step.is_along("dim", 1)) or (_alike(step) and not step.is_along("dim"))
    )


def _take(step: Step) -> bool:
    return step.same() and not step.is_along("dim")


def _scatter(step: Step) -> bool:
    return step.same() and _alike(step) and not step.is_along("dim")


def _put(step: Step) -> bool:
    operand, index, updates = step.operands
    if operand is None or index is not None or updates is None or step.is_along("dim"):
        return False
    return step.same() and operand.place == updates.place


def _rules() -> dict[str, Callable[[Step], bool]]:
    rules: dict[str, Callable[[Step], bool]] = {
        name: _each_element for name, family in FAMILIES.items() if family == "elementwise"
    }
    rules |= dict.fromkeys(("broadcast", "iota"), _shaped)
    rules |= dict.fromkeys(
        ("argmax", "argmin", "concatenate", "cummax", "cummin", "cumprod", "cumsum", "fft", "irfft", "rfft", "sort",
         "unfold"),
        _along_others("dim"),
    )  # fmt: skip
    rules |= {name: _along_others("dims") for name in FAMILIES if name.startswith("reduce_")}
    rules |= {name: _in_last(2) for name, family in FAMILIES.items() if family == "factorizations"}
    rules |= {
        "constant": _constant,
        "reshape": _reshape,
        "transpose": _each_element,
        "slice": _slice,
        "reverse": _along_others("dims"),
        "pad": _pad,
        "searchsorted": _in_last(1),
        "pivots_to_permutation": _in_last(1),
        "dot_general": _dot_general,
        "convolution": _convolution,
        "gather": _gather,
        "take": _take,
        "scatter": _scatter,
        "put": _put,
    }
    return rules


_RULES = _rules()
"""For each primitive, whether it keeps rows apart; those without an entry never do."""

_OUTER: dict[str, Callable[[Step], int | None]] = {"iota": _outer_of_iota, "reshape": _outer_of_reshaped}
"""What orders rows in the results otherwise than in the operands."""
