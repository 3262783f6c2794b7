"""How operand dtypes become the computation's dtype.

PyTorch ranks operands: tensors with dimensions, then 0-d tensors, then Python numbers. A lower rank only
decides when its category (bool, integer, float, complex) is higher.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from raxis import dtypes
from raxis.dtypes import Category, DType, promote_types

if TYPE_CHECKING:
    from raxis.tensor import Tensor


class Promotion(Enum):
    """How an op chooses its computation dtype."""

    NONE = "none"
    """Operands keep their dtypes; `lower` checks them."""
    ARITHMETIC = "arithmetic"
    """The operands' result type."""
    FLOAT = "float"
    """The result type, or the default float dtype if that is bool or integer."""


class _DefaultDtype:
    """The float dtype that Python floats become."""

    current: DType = dtypes.float32


def get_default_dtype() -> DType:
    """The dtype of new tensors made from Python floats (float32 unless changed).

    Example:
        >>> import raxis
        >>> raxis.get_default_dtype()
        raxis.float32
    """
    return _DefaultDtype.current


def set_default_dtype(dtype: DType) -> None:
    """Set the dtype that Python floats become.

    Raises:
        TypeError: if `dtype` is not a floating point dtype.
    """
    if not getattr(dtype, "is_floating_point", False):
        raise TypeError(f"only floating-point types are supported as the default type, but got {dtype}.")
    if dtype is not _DefaultDtype.current:
        _DefaultDtype.current = dtype
        from raxis.ops import tables  # plans hold dtypes derived from the default

        tables.clear()


def default_dtype_of(category: Category) -> DType:
    """The dtype a Python number of this category becomes on its own."""
    if category is Category.BOOL:
        return dtypes.bool_
    if category is Category.INTEGER:
        return dtypes.int64
    default = get_default_dtype()
    return default if category is Category.FLOAT else default.to_complex()


def widest_dtype_of(category: Category) -> DType:
    """The dtype that holds every Python number of this category without loss."""
    return (dtypes.bool_, dtypes.int64, dtypes.float64, dtypes.complex128)[category]


def result_type_of(operands: Iterable[Any]) -> DType:
    """The result type of tensors (anything with a `_layout`) and Python numbers."""
    dimensioned: DType | None = None
    zero_dim: DType | None = None
    number: DType | None = None
    for operand in operands:
        layout = getattr(operand, "_layout", None)
        if layout is None:
            number = _join(number, default_dtype_of(dtypes.scalar_category(type(operand))))
        elif layout.ndim:
            dimensioned = _join(dimensioned, layout.dtype)
        else:
            zero_dim = _join(zero_dim, layout.dtype)
    result = _outrank(dimensioned, _outrank(zero_dim, number))
    if result is None:
        raise ValueError("result_type expected at least one tensor or number, but got none.")
    return result


def _join(first: DType | None, second: DType) -> DType:
    return second if first is None else promote_types(first, second)


def _outrank(high: DType | None, low: DType | None) -> DType | None:
    if high is None or low is None:
        return high or low
    if low.category <= high.category:
        return high
    # A complex number meets a float tensor: the tensor's precision decides.
    return high.to_complex() if high.is_floating_point and low.is_complex else low


def computation_dtype(promotion: Promotion, operands: Iterable[Any]) -> DType:
    """The dtype `promotion` chooses for these operands."""
    dtype = result_type_of(operands)
    if promotion is Promotion.FLOAT and dtype.category <= Category.INTEGER:
        return get_default_dtype()
    return dtype


def result_type(tensor1: Tensor | complex, tensor2: Tensor | complex) -> DType:
    """The dtype an arithmetic op on the two operands computes in.

    Example:
        >>> import raxis
        >>> raxis.result_type(raxis.ones(2, dtype=raxis.int32), 1.5)
        raxis.float32
    """
    return result_type_of((tensor1, tensor2))
