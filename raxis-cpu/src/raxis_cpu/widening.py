"""Products in half precision as products in float32, between conversions that become loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from raxis.dtypes import HALF, DType, float32
from raxis.ptir.program import Instruction, Program, Value


def widened(program: Program) -> Program:
    """The program with every ``dot_general`` in half precision computed in float32 and rounded once.

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
    if not any(_is_half(item) for item in program.instructions):
        return program
    values = [result for item in program.instructions for result in item.results]
    fresh = count(1 + max(value.id for value in (*program.parameters, *values)))
    instructions = [
        part for item in program.instructions for part in (_parts(item, fresh) if _is_half(item) else [item])
    ]
    return replace(program, instructions=tuple(instructions))


def _is_half(item: Instruction) -> bool:
    return item.primitive == "dot_general" and item.results[0].type.dtype in HALF


def _parts(product: Instruction, fresh: Iterator[int]) -> Iterator[Instruction]:
    operands = tuple(_like(value, float32, fresh) for value in product.operands)
    for narrow, wide in zip(product.operands, operands, strict=True):
        yield _cast(narrow, wide)
    (result,) = product.results
    total = _like(result, float32, fresh)
    yield replace(product, operands=operands, results=(total,))
    yield _cast(total, result)


def _like(value: Value, dtype: DType, fresh: Iterator[int]) -> Value:
    return Value(next(fresh), replace(value.type, dtype=dtype))


def _cast(source: Value, target: Value) -> Instruction:
    return Instruction("cast", (source,), {"dtype": target.type.dtype}, (target,))
