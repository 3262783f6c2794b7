"""Products of narrow dtypes as products in wider ones, between conversions that become loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir.program import Instruction, Program, Value

_WIDER = {
    **dict.fromkeys((dtypes.float16, dtypes.bfloat16), dtypes.float32),
    **dict.fromkeys((dtypes.uint8, dtypes.int8, dtypes.int16), dtypes.int32),
}
"""Sums of float32 are rounded once; those of int32 end in the bits that sums of narrower integers have."""


def widened(program: Program) -> Program:
    """The program with every ``dot_general`` of narrow dtypes computed in a wider one.

    Example:
        >>> import raxis
        >>> from raxis.ptir.builder import Builder
        >>> from raxis.ptir.types import TensorType
        >>> builder = Builder("square")
        >>> x = builder.parameter(TensorType(raxis.bfloat16, (2, 2)))
        >>> dims = {"lhs_contract": (1,), "rhs_contract": (0,), "lhs_batch": (), "rhs_batch": ()}
        >>> program = builder.build([builder.emit("dot_general", x, x, **dims)])
        >>> [item.primitive for item in widened(program).instructions]
        ['cast', 'cast', 'dot_general', 'cast']
    """
    if not any(_is_narrow(item) for item in program.instructions):
        return program
    values = [result for item in program.instructions for result in item.results]
    fresh = count(1 + max(value.id for value in (*program.parameters, *values)))
    instructions = [
        part
        for item in program.instructions
        for part in (_parts(item, fresh) if _is_narrow(item) else [item])
    ]
    return replace(program, instructions=tuple(instructions))


def _is_narrow(item: Instruction) -> bool:
    return item.primitive == "dot_general" and item.results[0].type.dtype in _WIDER


def _parts(product: Instruction, fresh: Iterator[int]) -> Iterator[Instruction]:
    (result,) = product.results
    wide = _WIDER[result.type.dtype]
    operands = tuple(_like(value, wide, fresh) for value in product.operands)
    for narrow, operand in zip(product.operands, operands, strict=True):
        yield _cast(narrow, operand)
    total = _like(result, wide, fresh)
    yield replace(product, operands=operands, results=(total,))
    yield _cast(total, result)


def _like(value: Value, dtype: DType, fresh: Iterator[int]) -> Value:
    return Value(next(fresh), replace(value.type, dtype=dtype))


def _cast(source: Value, target: Value) -> Instruction:
    return Instruction("cast", (source,), {"dtype": target.type.dtype}, (target,))
