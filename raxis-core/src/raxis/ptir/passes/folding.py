"""Constant folding: what is known when compiling is computed then, by the reference kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from raxis.dtypes import HALF, DType
from raxis.ptir.passes.record import Pass
from raxis.ptir.passes.rewriter import Rewriter, Rule, RuleTable, sweep
from raxis.ptir.primitives import PRIMITIVES
from raxis.ptir.primitives.elementwise import PRIMITIVES as _ELEMENTWISE
from raxis.ptir.program import Instruction, Value

LARGEST_RESULT = 256
"""Elements of a constant that folding may make; one number for all elements counts as one."""

LARGEST_OPERAND = 1 << 14
"""Elements of an operand that folding looks at."""

_BY_ELEMENT = frozenset(primitive.name for primitive in _ELEMENTWISE)


def _fold(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    attributes = [rewriter.producer[operand].attributes for operand in instruction.operands]
    uniform = not any(isinstance(each["value"], tuple) for each in attributes)
    if uniform and instruction.primitive in _BY_ELEMENT:
        arrays = [_array(each["value"], each["dtype"], ()) for each in attributes]
    elif _is_small(instruction):
        arrays = [_array(each["value"], each["dtype"], each["shape"]) for each in attributes]
    else:
        return None
    result = _computed(instruction, arrays)
    if result is None:
        return None
    return rewriter.constant(_numbers(result, instruction.results[0].type.dtype), instruction.results[0].type)


def _is_small(instruction: Instruction) -> bool:
    sizes = [operand.type.size for operand in instruction.operands]
    return instruction.results[0].type.size <= LARGEST_RESULT and max(sizes, default=0) <= LARGEST_OPERAND


def _array(value: Any, dtype: DType, shape: tuple[int, ...]) -> Any:
    from raxis.backends.reference.shaping import constant_array

    array = constant_array(value, dtype.numpy)
    return np.broadcast_to(array, shape) if array.ndim == 0 else array.reshape(shape)


def _computed(instruction: Instruction, arrays: list[Any]) -> Any:
    """The reference's result; None where it raises, which is left to the run."""
    from raxis.backends.reference.kernels import KERNELS

    try:
        with np.errstate(all="ignore"):
            return np.asarray(KERNELS[instruction.primitive](instruction)(*arrays))
    except (RuntimeError, IndexError):
        return None


def _numbers(array: Any, dtype: DType) -> Any:
    """The elements as Python numbers: one, or a flat tuple."""
    exact = array.astype(np.float32) if dtype in HALF else array
    return exact.item() if array.ndim == 0 else tuple(exact.reshape(-1).tolist())


_TABLE = RuleTable(
    Rule("folded", (primitive.name,), _fold, ("constant",) * (primitive.arity or 0))
    for primitive in PRIMITIVES.values()
    if primitive.effect == "pure"
    and not primitive.regions
    and not primitive.several_results
    and primitive.arity
)

FOLD = Pass(
    "fold",
    "instructions on constants are computed when compiling, random numbers never",
    lambda program, context: sweep(program, _TABLE, context),
)
