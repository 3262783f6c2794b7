"""Attribute values of instructions and programs: immutable, hashable, compared with their types.

Python's own equality identifies ``1``, ``1.0`` and ``True``, identifies ``0.0`` with ``-0.0``, and separates
NaN from itself. Programs differ in all of these, so they compare `attribute_key` instead.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np

from raxis.dtypes import Category, DType

Attribute: TypeAlias = "bool | int | float | complex | str | DType | tuple[Attribute, ...]"

_NUMBER_TYPES: dict[Category, type] = {
    Category.BOOL: bool,
    Category.INTEGER: int,
    Category.FLOAT: float,
    Category.COMPLEX: complex,
}


def number_type(dtype: DType) -> type:
    """The Python type of a number of this dtype (``float`` for ``float32``)."""
    return _NUMBER_TYPES[dtype.category]


def canonical(value: object) -> Attribute:
    """`value` with lists as tuples and NumPy scalars as Python numbers.

    Raises:
        TypeError: if the value cannot be an attribute.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return tuple(canonical(item) for item in value)
    if isinstance(value, (bool, int, float, complex, str, DType)):
        return value
    raise TypeError(
        f"an attribute must be a number, a string, a dtype or a tuple of these, but got {type(value).__name__}."
    )


def attribute_key(value: Attribute) -> Hashable:
    """A key that is equal exactly for identical attributes (all NaNs are identical)."""
    if isinstance(value, tuple):
        return _tuple_key(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, complex):
        return complex, float_text(value.real), float_text(value.imag)
    return type(value), value


def _tuple_key(value: tuple[Attribute, ...]) -> Hashable:
    """Long tuples are the elements of constants, of one type: quick for these."""
    kinds = set(map(type, value))
    if kinds in ({int}, {bool}):
        return kinds.pop(), value
    if kinds == {float}:
        numbers = np.array(value, np.float64)
        numbers[np.isnan(numbers)] = math.nan
        return float, numbers.tobytes()
    return tuple(attribute_key(item) for item in value)


def attributes_key(attributes: Mapping[str, Any]) -> Hashable:
    """The key of a whole attribute mapping."""
    return tuple((name, attribute_key(attributes[name])) for name in sorted(attributes))


def float_text(value: float) -> str:
    """The exact spelling of a float: hexadecimal, ``inf``, ``-inf`` or ``nan``."""
    return "nan" if math.isnan(value) else value.hex()
