"""Types of program values: an element type and a shape."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

from raxis import dtypes
from raxis.dtypes import DType

SHORT_NAMES: dict[DType, str] = {
    dtypes.bool_: "bool",
    dtypes.uint8: "u8",
    dtypes.int8: "i8",
    dtypes.int16: "i16",
    dtypes.int32: "i32",
    dtypes.int64: "i64",
    dtypes.float16: "f16",
    dtypes.bfloat16: "bf16",
    dtypes.float32: "f32",
    dtypes.float64: "f64",
    dtypes.complex64: "c64",
    dtypes.complex128: "c128",
}
"""How programs spell the element types."""

BY_SHORT_NAME: dict[str, DType] = {name: dtype for dtype, name in SHORT_NAMES.items()}


@dataclass(frozen=True, slots=True)
class TensorType:
    """The static type of a value: every dimension is known.

    Example:
        >>> import raxis
        >>> str(TensorType(raxis.float32, (2, 3)))
        'f32[2,3]'
    """

    dtype: DType
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, dense."""
        return self.size * self.dtype.itemsize

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def __str__(self) -> str:
        return f"{SHORT_NAMES[self.dtype]}[{','.join(map(str, self.shape))}]"


_TYPE = re.compile(r"(\w+)\[((?:\d+(?:,\d+)*)?)\]", re.ASCII)


def parse_type(text: str) -> TensorType:
    """The type that `str` spells like that.

    Raises:
        ValueError: if `text` spells none.

    Example:
        >>> parse_type("f32[2,3]").shape
        (2, 3)
    """
    match = _TYPE.fullmatch(text)
    if match is None or match[1] not in BY_SHORT_NAME:
        raise ValueError(f"expected a type such as f32[2,3], but got {text!r}.")
    return TensorType(BY_SHORT_NAME[match[1]], tuple(map(int, match[2].split(","))) if match[2] else ())
