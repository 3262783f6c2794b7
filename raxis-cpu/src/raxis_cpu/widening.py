"""Products of narrow dtypes as products in wider ones, between conversions that become loops.

Those of narrow integers always are; those in half precision only where the library cannot read their operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from raxis import dtypes
from raxis.dtypes import HALF, DType
from raxis.ptir.program import Instruction, Parameter, Program, Value

_INTEGERS = frozenset({dtypes.uint8, dtypes.int8, dtypes.int16})
_WIDER = {**dict.fromkeys(_INTEGERS, dtypes.int32), **dict.fromkeys(HALF, dtypes.float32)}
"""Sums of int32 end in the bits that sums of narrower integers have; those of float32 are rounded once."""


def widened(program: Program) -> Program:
    """The program with every ``dot_general`` of narrow integers computed in int32.

    Example:
        >>> import raxis
        >>> from raxis.ptir.builder import Builder
        >>> from raxis.ptir.types import TensorType
        >>> builder = Builder("square")
        >>> x = builder.parameter(TensorType(raxis.int8, (2, 2)))
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


def widened_product(product: Instruction, by_value: Sequence[bool]) -> Program:
    """A product in half precision as a program of its own, which computes it in float32.

    Args:
        product: what to compute.
        by_value: which of its operands are numbers.
    """
    parameters = tuple(
        Parameter(place, value.type, by_value=given)
        for place, (value, given) in enumerate(zip(product.operands, by_value, strict=True))
    )
    result = Value(len(parameters), product.results[0].type)
    own = replace(product, operands=parameters, results=(result,))
    return Program("product", parameters, tuple(_parts(own, count(result.id + 1))), (result,))


def is_half_product(item: Instruction) -> bool:
    """Whether it is a product in half precision, for which there may be no kernel."""
    return item.primitive == "dot_general" and item.results[0].type.dtype in HALF


def _is_narrow(item: Instruction) -> bool:
    return item.primitive == "dot_general" and item.results[0].type.dtype in _INTEGERS


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
