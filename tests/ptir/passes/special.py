"""Special numbers of every dtype, comparison by bits, and programs from the sides of algebraic rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir import Builder, Program, TensorType, Value
from raxis.ptir.passes.rewrites import Expression, Letter, Number, Term

FLOATS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -1.5, 2.5, 3.0, 0.1, np.inf, -np.inf, np.nan)
CONSTANTS = {
    Category.BOOL: (True,),
    Category.INTEGER: (3, 100),
    Category.FLOAT: (0.75, -3.0),
    Category.COMPLEX: (2j,),
}


def extremes(dtype: DType) -> list[float]:
    """Smallest, denormal and greatest numbers of a float dtype."""
    zero, one = np.zeros((), dtype.numpy), np.ones((), dtype.numpy)
    denormal = np.nextafter(zero, one)
    bits = np.dtype(f"u{dtype.itemsize}")
    greatest = (np.asarray(np.inf).astype(dtype.numpy).view(bits) - 1).astype(bits).view(dtype.numpy)
    return [float(number) for number in (denormal, -denormal, greatest, -greatest, np.nextafter(one, zero))]


def numbers(dtype: DType) -> np.ndarray:
    """Numbers of `dtype` on which rules break."""
    if dtype.category is Category.BOOL:
        return np.array([False, True])
    if dtype.category is Category.INTEGER:
        limits = np.iinfo(dtype.numpy)
        found = [
            limits.min,
            limits.min + 1,
            limits.max,
            0,
            1,
            2,
            3,
            5,
            7,
            *([-1, -2, -5] if dtype.is_signed else []),
        ]
        return np.array(found, dtype.numpy)
    if dtype.is_complex:
        parts = (0.0, -0.0, 1.0, -2.5, np.inf, np.nan)
        return np.array([complex(real, imag) for real, imag in product(parts, repeat=2)], dtype.numpy)
    return np.array([*FLOATS, *extremes(dtype)]).astype(dtype.numpy)


def combinations(types: Sequence[DType]) -> list[np.ndarray]:
    """One array per dtype that together hold every combination of special numbers."""
    grids = np.meshgrid(*(np.arange(numbers(dtype).size) for dtype in types), indexing="ij")
    return [numbers(dtype)[grid.reshape(-1)] for dtype, grid in zip(types, grids, strict=True)]


def assert_same_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal dtype, shape and bits, where any NaN equals any NaN."""
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    if actual.dtype.kind == "c":
        assert_same_bits(actual.real, expected.real)
        assert_same_bits(actual.imag, expected.imag)
        return
    both_nan = np.zeros(actual.shape, bool)
    if actual.dtype.kind in "fV":
        both_nan = np.isnan(actual) & np.isnan(expected)
    bits = np.dtype(f"u{actual.dtype.itemsize}")
    left, right = (
        np.ascontiguousarray(array).view(bits).reshape(array.shape) for array in (actual, expected)
    )
    np.testing.assert_array_equal(np.where(both_nan, 0, left), np.where(both_nan, 0, right))


def letters(expression: Expression) -> list[str]:
    """The letters of an expression, in order of first use."""
    if isinstance(expression, Term):
        found = [name for operand in expression.operands for name in letters(operand)]
        return list(dict.fromkeys(found))
    return [expression.name] if isinstance(expression, Letter) else []


def program_of(left: Term, dtype: DType) -> Program:
    """The left side of a rule on vectors that hold every combination of special numbers, letters as parameters."""
    kinds = _dtypes(left, dtype)
    small = [name for name in letters(left) if name.islower()]
    size = combinations([kinds[name] for name in small])[0].size if small else 3
    builder = Builder("rule")
    values = {name: builder.parameter(TensorType(kinds[name], (size,)), name=name) for name in small}
    return builder.build([_emit(builder, left, dtype, values, (size,))])


def inputs_of(left: Term, dtype: DType) -> list[np.ndarray]:
    """Arrays for the parameters of `program_of`."""
    kinds = _dtypes(left, dtype)
    return combinations([kinds[name] for name in letters(left) if name.islower()])


def _dtypes(left: Term, dtype: DType) -> dict[str, DType]:
    found: dict[str, DType] = {}
    _assign(left, dtype, found)
    return found


def _operand_dtypes(term: Term, dtype: DType) -> list[DType]:
    if term.primitive == "select":
        return [dtypes.bool_, dtype, dtype]
    if term.primitive == "make_complex":
        return [dtype.to_real()] * 2
    return [dtype] * len(term.operands)


def _assign(expression: Expression, dtype: DType, found: dict[str, DType]) -> None:
    if isinstance(expression, Letter):
        found[expression.name] = dtype
    elif isinstance(expression, Term):
        for operand, own in zip(expression.operands, _operand_dtypes(expression, dtype), strict=True):
            _assign(operand, own, found)


def _emit(
    builder: Builder, expression: Expression, dtype: DType, values: dict[str, Value], shape: tuple[int, ...]
) -> Value:
    if isinstance(expression, Number):
        return builder.constant(expression.value, dtype, shape)
    if isinstance(expression, Letter):
        if expression.name not in values:
            choices = CONSTANTS[dtype.category]
            values[expression.name] = builder.constant(choices[len(values) % len(choices)], dtype, shape)
        return values[expression.name]
    own = _operand_dtypes(expression, dtype)
    operands = [
        _emit(builder, part, kind, values, shape) for part, kind in zip(expression.operands, own, strict=True)
    ]
    return builder.emit_all(expression.primitive, operands, {})[0]
