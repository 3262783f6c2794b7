"""Products of narrow dtypes as products in wider ones, where the library has no kernel for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from raxis import dtypes
from raxis.dtypes import HALF, DType
from raxis.ptir.program import Instruction, Parameter, Program, Value
from raxis_cpu.library.problems import NARROW_INTEGERS

_WIDER = {**dict.fromkeys(NARROW_INTEGERS, dtypes.int32), **dict.fromkeys(HALF, dtypes.float32)}
"""Sums of int32 end in the bits that sums of narrower integers have; those of float32 are rounded once."""


def widened_product(product: Instruction, by_value: Sequence[bool]) -> Program:
    """A product of narrow dtypes as a program of its own, which computes it in a wider one.

    Args:
        product: what to compute.
        by_value: which of its operands are numbers.

    Example:
        >>> import raxis
        >>> from raxis.ptir.builder import Builder
        >>> from raxis.ptir.types import TensorType
        >>> builder = Builder("square")
        >>> x = builder.parameter(TensorType(raxis.int8, (2, 2)))
        >>> dims = {"lhs_contract": (1,), "rhs_contract": (0,), "lhs_batch": (), "rhs_batch": ()}
        >>> program = builder.build([builder.emit("dot_general", x, x, **dims)])
        >>> [item.primitive for item in widened_product(program.instructions[0], [False, False]).instructions]
        ['cast', 'cast', 'dot_general', 'cast']
    """
    parameters = tuple(
        Parameter(place, value.type, by_value=given)
        for place, (value, given) in enumerate(zip(product.operands, by_value, strict=True))
    )
    result = Value(len(parameters), product.results[0].type)
    own = replace(product, operands=parameters, results=(result,))
    return Program("product", parameters, tuple(_parts(own, count(result.id + 1))), (result,))


def is_narrow_product(item: Instruction) -> bool:
    """Whether it is a product of narrow dtypes, for which there may be no kernel."""
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
