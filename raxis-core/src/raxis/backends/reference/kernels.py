"""The one table from primitive to NumPy kernel, and what the compiler must know about kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from raxis.backends.reference import (
    contraction,
    elementwise,
    factorizations,
    indexing,
    random,
    reductions,
    shaping,
    transforms,
)
from raxis.backends.reference.casting import Kernel
from raxis.dtypes import Category
from raxis.ptir.program import Instruction

KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {
    **dict.fromkeys(elementwise.PRIMITIVES, elementwise.kernel),
    **shaping.KERNELS,
    **reductions.KERNELS,
    **contraction.KERNELS,
    **factorizations.KERNELS,
    **transforms.KERNELS,
    **indexing.KERNELS,
    **random.KERNELS,
}
"""Kernel factories of all primitives without regions (those are in `control`, composites in the compiler)."""

_SILENT = frozenset(
    {
        *shaping.KERNELS,
        "gather",
        "take",
        "select",
        "sort",
        "random_bits",
        "real",
        "imag",
        "pivots_to_permutation",
    }
)
_WARNING_INTEGER_ARITHMETIC = frozenset({"div", "floor_divide", "remainder", "fmod", "pow"})


def may_warn(instruction: Instruction) -> bool:
    """Whether NumPy may report a floating-point or division condition while running it."""
    if instruction.primitive in _SILENT:
        return False
    if instruction.regions or instruction.primitive in _WARNING_INTEGER_ARITHMETIC:
        return True
    values = (*instruction.operands, *instruction.results)
    return any(value.type.dtype.category >= Category.FLOAT for value in values)
