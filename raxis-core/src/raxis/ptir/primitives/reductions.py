"""Reductions, scans along a dimension, and sorting.

Sums and products of float16 and bfloat16 accumulate in float32 and round once; those of integers wrap.
"""

from __future__ import annotations

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir.primitives.checks import require, require_dim, require_dims, require_same_dtype
from raxis.ptir.primitives.record import (
    BITS,
    NUMERIC,
    ORDERED,
    REAL,
    Attributes,
    Primitive,
    Regions,
    Results,
    Rule,
    Types,
)
from raxis.ptir.types import TensorType


def _reduction(name: str) -> Rule:
    def rule(operands: Types, attributes: Attributes, _: Regions) -> Results:
        (operand,) = operands
        require_dims(name, attributes["dims"], operand.rank)
        kept = tuple(size for dim, size in enumerate(operand.shape) if dim not in attributes["dims"])
        return (TensorType(operand.dtype, kept),)

    return rule


def _position(name: str) -> Rule:
    def rule(operands: Types, attributes: Attributes, _: Regions) -> Results:
        (operand,) = operands
        dim = attributes["dim"]
        require_dim(name, dim, operand.rank)
        require(operand.shape[dim] > 0, f"{name} expected a non-empty dim {dim}, but got {operand}.")
        return (TensorType(dtypes.int64, operand.shape[:dim] + operand.shape[dim + 1 :]),)

    return rule


def _scan(name: str) -> Rule:
    def rule(operands: Types, attributes: Attributes, _: Regions) -> Results:
        require_dim(name, attributes["dim"], operands[0].rank)
        return (operands[0],)

    return rule


def _sort(operands: Types, attributes: Attributes, _: Regions) -> Results:
    require_dim("sort", attributes["dim"], operands[0].rank)
    return operands[0], TensorType(dtypes.int64, operands[0].shape)


def _searchsorted(operands: Types, _: Attributes, __: Regions) -> Results:
    boundaries, values = operands
    require_same_dtype("searchsorted", operands)
    require(
        boundaries.rank >= 1
        and boundaries.rank == values.rank
        and boundaries.shape[:-1] == values.shape[:-1],
        f"searchsorted expected operands [..., n] and [..., m] that agree in all but the last dim, "
        f"but got {boundaries} and {values}.",
    )
    return (TensorType(dtypes.int64, values.shape),)


def _reduce(name: str, admitted: frozenset[DType], doc: str) -> Primitive:
    return Primitive(name, doc, _reduction(name), admitted, attributes={"dims": "ints"})


def _along(name: str, rule: Rule, admitted: frozenset[DType], doc: str) -> Primitive:
    return Primitive(name, doc, rule, admitted, attributes={"dim": "int"})


PRIMITIVES = (
    _reduce("reduce_sum", NUMERIC, "Sum over dims, which vanish; 0 over no elements."),
    _reduce("reduce_prod", NUMERIC, "Product over dims, which vanish; 1 over no elements."),
    _reduce("reduce_max", ORDERED, "Greatest over dims, NaN if any is NaN; over no elements -inf or the least."),
    _reduce("reduce_min", ORDERED, "Smallest over dims, NaN if any is NaN; over no elements inf or the greatest."),
    _reduce("reduce_and", BITS, "Bitwise (for bool: logical) and over dims; all bits set over no elements."),
    _reduce("reduce_or", BITS, "Bitwise (for bool: logical) or over dims; 0 over no elements."),
    _along("argmax", _position("argmax"), ORDERED, "Index along dim of the first NaN, else of the first greatest."),
    _along("argmin", _position("argmin"), ORDERED, "Index along dim of the first NaN, else of the first smallest."),
    _along("cumsum", _scan("cumsum"), NUMERIC, "Sums of the elements up to and with each, along dim."),
    _along("cumprod", _scan("cumprod"), NUMERIC, "Products of the elements up to and with each, along dim."),
    _along("cummax", _scan("cummax"), ORDERED, "Greatest so far along dim; NaN from the first NaN on."),
    _along("cummin", _scan("cummin"), ORDERED, "Smallest so far along dim; NaN from the first NaN on."),
    Primitive("sort", "Values ordered along dim and the i64 indices they came from; equal ones keep their order, also "
              "when descending (`stable` false permits any order of them). NaN counts as the greatest.",
              _sort, ORDERED, several_results=True,
              attributes={"dim": "int", "descending": "bool", "stable": "bool"}),
    Primitive("searchsorted", "For every value, how many elements of the sorted row of the first operand are below "
              "it (right: not above it); NaN counts as the greatest.",
              _searchsorted, REAL, arity=2, attributes={"right": "bool"}),
)  # fmt: skip
