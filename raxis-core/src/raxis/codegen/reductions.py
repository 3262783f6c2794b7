"""Reductions of rows: variables that take in one element after another, and put two parts together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from raxis import dtypes
from raxis.codegen.dialect import Dialect
from raxis.codegen.expressions import expression, literal, register_type, rounded
from raxis.dtypes import HALF, DType
from raxis.schedule.loops import Node

_COMBINE = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "maximum",
    "reduce_min": "minimum",
    "reduce_and": "and",
    "reduce_or": "or",
}


class Reduction(NamedTuple):
    """The lines of one reduction.

    Attributes:
        parts: its variables and their types.
        start: declares them.
        take: takes in a value at a place in the row.
        merge: puts, of arrays with the variables of all work-items, element two into element one.
        finish: declares the result.
    """

    parts: tuple[tuple[str, str], ...]
    start: list[str]
    take: Callable[[str, str], list[str]]
    merge: Callable[[str, str], list[str]]
    finish: list[str]


def reduction(dialect: Dialect, node: Node, operand: DType, number: int) -> Reduction:
    """The reduction that is node `number`, of elements of dtype `operand`."""
    if node.op in ("argmax", "argmin"):
        return _search(dialect, node, operand, number)
    type, total = register_type(node.dtype), f"r{number}"
    wide = dtypes.float32 if node.dtype in HALF else node.dtype

    def combined(x: str, y: str) -> str:
        return f"{x} = {expression(dialect, _COMBINE[node.op], wide, wide, (x, y))};"

    return Reduction(
        ((total, type),),
        [f"{type} {total} = {literal(dialect, wide, _identity(node.op, wide))};"],
        lambda value, _: [combined(total, value)],
        lambda one, two: [combined(f"{total}_all[{one}]", f"{total}_all[{two}]")],
        [f"const {type} v{number} = {rounded(node.dtype, total)};"],
    )


def _identity(op: str, dtype: DType) -> complex:
    """What a reduction over no elements gives."""
    if op in ("reduce_max", "reduce_min"):
        return _least(dtype) if op == "reduce_max" else _greatest(dtype)
    return {"reduce_sum": 0, "reduce_prod": 1, "reduce_or": 0}.get(op, 1 if dtype is dtypes.bool_ else -1)


def _least(dtype: DType) -> float:
    if dtype.is_floating_point:
        return float("-inf")
    return -(1 << (8 * dtype.itemsize - 1)) if dtype.is_signed else 0


def _greatest(dtype: DType) -> float:
    if dtype.is_floating_point:
        return float("inf")
    if dtype is dtypes.bool_:
        return 1
    return (1 << (8 * dtype.itemsize - int(dtype.is_signed))) - 1


def _search(dialect: Dialect, node: Node, operand: DType, number: int) -> Reduction:
    type, best, at = register_type(operand), f"r{number}", f"p{number}"
    before = f"rx_before_{node.op[3:]}_{type}"

    def merge(one: str, two: str) -> list[str]:
        first = f"{best}_all[{one}], {at}_all[{one}]"
        return [
            f"if ({before}({best}_all[{two}], {at}_all[{two}], {first})) {{",
            f"    {best}_all[{one}] = {best}_all[{two}];",
            f"    {at}_all[{one}] = {at}_all[{two}];",
            "}",
        ]

    return Reduction(
        ((best, type), (at, "i64")),
        [f"{type} {best} = {literal(dialect, operand, 0)};", f"i64 {at} = -1;"],
        lambda value, place: [
            f"if ({before}({value}, {place}, {best}, {at})) {{ {best} = {value}; {at} = {place}; }}"
        ],
        merge,
        [f"const i64 v{number} = {at};"],
    )
