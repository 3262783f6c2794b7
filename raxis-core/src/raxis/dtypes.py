"""Element types, their NumPy counterparts and the promotion lattice.

Source of the rules: PyTorch's documented type promotion (the tests compare every pair with torch).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import ml_dtypes
import numpy as np


class Category(IntEnum):
    """Promotion category; a higher one always wins over a lower one."""

    BOOL = 0
    INTEGER = 1
    FLOAT = 2
    COMPLEX = 3


class DType:
    """An element type.

    Attributes:
        name: canonical name, as in ``raxis.float32``.
        numpy: the matching ``numpy.dtype``.
        itemsize: bytes per element.
        category: promotion category.

    Example:
        >>> import raxis
        >>> raxis.float32.itemsize, raxis.bfloat16.is_floating_point
        (4, True)
    """

    __slots__ = ("category", "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")

    def __init__(self, name: str, numpy: np.dtype, category: Category, *, is_signed: bool = True) -> None:
        self.name = name
        self.numpy = numpy
        self.itemsize: int = numpy.itemsize
        self.category = category
        self.is_floating_point = category is Category.FLOAT
        self.is_complex = category is Category.COMPLEX
        self.is_signed = is_signed

    def __repr__(self) -> str:
        return f"raxis.{self.name}"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (by_name, (self.name,))

    def to_real(self) -> DType:
        """The dtype of one component: ``complex64 -> float32``; real dtypes map to themselves."""
        return _REAL_OF_COMPLEX.get(self.name, self)

    def to_complex(self) -> DType:
        """The complex dtype whose components hold this dtype (``float32 -> complex64``)."""
        if self.is_complex:
            return self
        return complex128 if self is float64 else complex64


bool_ = DType("bool", np.dtype(np.bool_), Category.BOOL, is_signed=False)
uint8 = DType("uint8", np.dtype(np.uint8), Category.INTEGER, is_signed=False)
int8 = DType("int8", np.dtype(np.int8), Category.INTEGER)
int16 = DType("int16", np.dtype(np.int16), Category.INTEGER)
int32 = DType("int32", np.dtype(np.int32), Category.INTEGER)
int64 = DType("int64", np.dtype(np.int64), Category.INTEGER)
float16 = DType("float16", np.dtype(np.float16), Category.FLOAT)
bfloat16 = DType("bfloat16", np.dtype(ml_dtypes.bfloat16), Category.FLOAT)
float32 = DType("float32", np.dtype(np.float32), Category.FLOAT)
float64 = DType("float64", np.dtype(np.float64), Category.FLOAT)
complex64 = DType("complex64", np.dtype(np.complex64), Category.COMPLEX)
complex128 = DType("complex128", np.dtype(np.complex128), Category.COMPLEX)

ALL: tuple[DType, ...] = (
    bool_,
    uint8,
    int8,
    int16,
    int32,
    int64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
)
HALF: frozenset[DType] = frozenset({float16, bfloat16})
_OF_PYTHON_TYPE: dict[type, DType] = {bool: bool_, int: int64, float: float64, complex: complex128}

_BY_NAME = {dtype.name: dtype for dtype in ALL}
_BY_NUMPY = {dtype.numpy: dtype for dtype in ALL}
_REAL_OF_COMPLEX = {"complex64": float32, "complex128": float64}
PYTHON_CATEGORIES: dict[type, Category] = {
    bool: Category.BOOL,
    int: Category.INTEGER,
    float: Category.FLOAT,
    complex: Category.COMPLEX,
}
"""The category of each of Python's own number types."""


def by_name(name: str) -> DType:
    """The dtype called `name` (``"float32"``, ``"bool"``, ...); ``KeyError`` for other names."""
    return _BY_NAME[name]


def from_numpy_dtype(dtype: np.dtype) -> DType:
    """The dtype for a NumPy dtype.

    Raises:
        TypeError: if no Raxis dtype has the same elements.
    """
    found = _BY_NUMPY.get(dtype)
    if found is None:
        names = ", ".join(known.name for known in ALL)
        raise TypeError(f"can't convert np.ndarray of type {dtype}. The only supported types are: {names}.")
    return found


def scalar_category(scalar_type: type) -> Category:
    """The category of a Python number type (``int -> INTEGER``).

    Raises:
        TypeError: if the type is not a Python or NumPy number.
    """
    found = PYTHON_CATEGORIES.get(scalar_type)
    if found is not None:
        return found
    for base, category in ((np.bool_, Category.BOOL), (np.integer, Category.INTEGER)):
        if issubclass(scalar_type, base):
            return category
    for python_type in (bool, int, float, complex):
        if issubclass(scalar_type, python_type):
            return PYTHON_CATEGORIES[python_type]
    if issubclass(scalar_type, np.floating):
        return Category.FLOAT
    if issubclass(scalar_type, np.complexfloating):
        return Category.COMPLEX
    if scalar_type is ml_dtypes.bfloat16:  # no subclass of np.floating
        return Category.FLOAT
    raise TypeError(f"expected a Tensor or a Python number, but got {scalar_type.__name__}.")


def as_dtype(value: Any) -> DType:
    """A dtype argument: a DType, or one of Python's own types (``float`` is float64, ``int`` is int64).

    Raises:
        TypeError: for anything else.
    """
    if isinstance(value, DType):
        return value
    found = _OF_PYTHON_TYPE.get(value) if isinstance(value, type) else None
    if found is None:
        raise TypeError(f"argument 'dtype' must be raxis.dtype, not {type(value).__name__}")
    return found


def promote_types(first: DType, second: DType) -> DType:
    """The smallest dtype to which both can be converted, by PyTorch's lattice.

    Example:
        >>> import raxis
        >>> raxis.promote_types(raxis.float16, raxis.bfloat16)
        raxis.float32
    """
    first, second = as_dtype(first), as_dtype(second)
    if first is second:
        return first
    low, high = (first, second) if first.category <= second.category else (second, first)
    if low.category < high.category:
        if high is complex64 and low is float64:
            return complex128
        return high
    return _promote_within_category(low, high)


def _promote_within_category(first: DType, second: DType) -> DType:
    if first.itemsize == second.itemsize:
        # uint8 with int8, or float16 with bfloat16: neither holds the other.
        return int16 if first.category is Category.INTEGER else float32
    wide, narrow = (first, second) if first.itemsize > second.itemsize else (second, first)
    return wide if wide.is_signed or not narrow.is_signed else int16


def can_cast(from_: DType, to: DType) -> bool:
    """Whether values of `from_` may be written into `to` (never to a lower category).

    Example:
        >>> import raxis
        >>> raxis.can_cast(raxis.float64, raxis.float32), raxis.can_cast(raxis.float32, raxis.int64)
        (True, False)
    """
    from_, to = as_dtype(from_), as_dtype(to)
    if to is bool_ and from_ is not bool_:
        return False
    return from_.category <= to.category


def end_of_range(dtype: DType, sign: int) -> bool | int | float:
    """The greatest (`sign` 1) or least (-1) number of a dtype."""
    if dtype.category is Category.BOOL:
        return sign > 0
    if dtype.category is Category.FLOAT:
        return sign * np.inf
    limits = np.iinfo(dtype.numpy)
    return int(limits.max if sign > 0 else limits.min)
