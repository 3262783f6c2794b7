"""Products of narrow dtypes as products in wider ones, where the library has no kernel for them."""

from __future__ import annotations

from collections.abc import Sequence

from raxis import dtypes
from raxis.dtypes import HALF, DType
from raxis.ptir.builder import Builder
from raxis.ptir.program import Instruction, Program, Value
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
    builder, narrow = Builder("product"), product.results[0].type.dtype
    operands = [
        builder.parameter(value.type, by_value=given)
        for value, given in zip(product.operands, by_value, strict=True)
    ]
    wide = [_cast(builder, operand, _WIDER[narrow]) for operand in operands]
    (total,) = builder.emit_all("dot_general", wide, product.attributes)
    return builder.build([_cast(builder, total, narrow)])


def _cast(builder: Builder, value: Value, dtype: DType) -> Value:
    return builder.emit_all("cast", [value], {"dtype": dtype})[0]


def is_narrow_product(item: Instruction) -> bool:
    """Whether it is a product of narrow dtypes, for which there may be no kernel."""
    return item.primitive == "dot_general" and item.results[0].type.dtype in _WIDER
