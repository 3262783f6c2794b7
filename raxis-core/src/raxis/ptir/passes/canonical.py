"""Canonical forms: one spelling for what can be written in several ways."""

from __future__ import annotations

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir.passes.record import Pass
from raxis.ptir.passes.rewriter import Rewriter, Rule, RuleTable, sweep
from raxis.ptir.passes.rewrites import COMMUTATIVE, commutes
from raxis.ptir.passes.views import RULES as _VIEW_RULES
from raxis.ptir.primitives.record import INTEGER
from raxis.ptir.program import Instruction, Value

_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}

_SIGNIFICAND_BITS = {
    dtypes.bfloat16: 8,
    dtypes.float16: 11,
    dtypes.float32: 24,
    dtypes.float64: 53,
    dtypes.complex64: 24,
    dtypes.complex128: 53,
}
"""Integers of up to so many bits are exact."""

_EXACT_FLOATS = {
    dtypes.bfloat16: {dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128},
    dtypes.float16: {dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128},
    dtypes.float32: {dtypes.float64, dtypes.complex64, dtypes.complex128},
    dtypes.float64: {dtypes.complex128},
    dtypes.complex64: {dtypes.complex128},
}
"""To which dtypes floats and complex numbers convert without loss."""


def is_lossless(source: DType, target: DType) -> bool:
    """Whether every number of `source` is one of `target`."""
    if source is target or source.category is Category.BOOL:
        return True
    if source.category is not Category.INTEGER:
        return target in _EXACT_FLOATS.get(source, ())
    if target.category is Category.INTEGER:
        return _value_bits(source) <= _value_bits(target) and (target.is_signed or not source.is_signed)
    return target.category > Category.INTEGER and _value_bits(source) <= _SIGNIFICAND_BITS[target]


def _value_bits(dtype: DType) -> int:
    return 8 * dtype.itemsize - dtype.is_signed


def _keeps_low_bits(source: DType, target: DType) -> bool:
    """Whether the cast takes the low bits of an integer, so that a narrower one may follow directly."""
    return source in INTEGER and target in INTEGER


def _cast(_: Rewriter, instruction: Instruction) -> Value | None:
    (operand,), target = instruction.operands, instruction.attributes["dtype"]
    return operand if operand.type.dtype is target else None


def _cast_of_cast(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    (operand,), target = instruction.operands, instruction.attributes["dtype"]
    (source,), middle = rewriter.producer[operand].operands, operand.type.dtype
    narrows = _keeps_low_bits(source.type.dtype, middle) and _keeps_low_bits(middle, target)
    if is_lossless(source.type.dtype, middle) or (narrows and target.itemsize <= middle.itemsize):
        return rewriter.emit("cast", source, dtype=target)
    return None


def _in_order(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """Operands of commutative primitives: earlier values first, constants last."""
    if not commutes(instruction):
        return None
    left, right = instruction.operands
    makers = [rewriter.maker(value) == "constant" for value in (left, right)]
    if makers[0] < makers[1] or (makers[0] == makers[1] and rewriter.order[left] <= rewriter.order[right]):
        return None
    return rewriter.emit_as(instruction.results[0].type, instruction.primitive, right, left)


def _constant_last(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """Comparisons with a constant have it at the right."""
    left, right = instruction.operands
    if rewriter.maker(right) == "constant":
        return None
    return rewriter.emit_as(instruction.results[0].type, _MIRRORED[instruction.primitive], right, left)


_EXACT_FOLDS = ("reduce_max", "reduce_min", "reduce_and", "reduce_or")


def _reduction(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """Reductions of nothing but single elements move them; those of reductions go over all dims at once.

    Sums of floats are left as they are: 0 + x is not x for -0, and they round in an order of their own.
    """
    (operand,), dims = instruction.operands, instruction.attributes["dims"]
    exact = instruction.primitive in _EXACT_FOLDS or operand.type.dtype in INTEGER
    if not dims and (exact or instruction.primitive == "reduce_prod"):
        return operand
    if exact and all(operand.type.shape[dim] == 1 for dim in dims):
        return rewriter.emit("reshape", operand, shape=instruction.results[0].type.shape)
    inner = rewriter.made_by(operand, instruction.primitive)
    if inner is None or not exact:
        return None
    gone = inner.attributes["dims"]
    kept = [dim for dim in range(inner.operands[0].type.rank) if dim not in gone]
    both = tuple(sorted((*gone, *(kept[dim] for dim in dims))))
    return rewriter.emit(instruction.primitive, inner.operands[0], dims=both)


def _take_of_iota(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """The first n slices, in order, are one slice."""
    (operand, index), dim = instruction.operands, instruction.attributes["dim"]
    if index.type.rank != 1 or index.type.dtype is not dtypes.int64:
        return None
    (count,) = index.type.shape
    if count > operand.type.shape[dim]:
        return None
    stop = tuple(count if axis == dim else size for axis, size in enumerate(operand.type.shape))
    return rewriter.emit("slice", operand, start=(0,) * len(stop), stop=stop, step=(1,) * len(stop))


_RULES = (
    *_VIEW_RULES,
    Rule("cast to its own dtype", ("cast",), _cast),
    Rule("cast of cast", ("cast",), _cast_of_cast, ("cast",)),
    Rule("operand order", tuple(sorted(COMMUTATIVE)), _in_order),
    Rule("constant operand last", tuple(_MIRRORED), _constant_last, ("constant", "")),
    Rule("reduction", (*_EXACT_FOLDS, "reduce_sum", "reduce_prod"), _reduction),
    Rule("take of iota", ("take",), _take_of_iota, ("", "iota")),
)
_TABLE = RuleTable(_RULES)

CANONICALISE = Pass(
    "canonicalise",
    "chains of views and casts become one step, no-ops go, operands get one order",
    lambda program, context: sweep(program, _TABLE, context),
)
