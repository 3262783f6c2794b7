"""The names that PyTorch's checkpoint format uses for classes and functions."""

from __future__ import annotations

from functools import cache

from raxis import dtypes
from raxis.dtypes import DType


class TorchName:
    """A module-level name of PyTorch, written to pickles without importing PyTorch.

    Pickle wants what it writes as a function to be callable; this one only stands for it.
    """

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self) -> None:
        raise TypeError(f"{self.module}.{self.name} is only a name here; it cannot be called.")


@cache
def torch_name(module: str, name: str) -> TorchName:
    """The one object for a name (pickle refers back to objects by identity)."""
    return TorchName(module, name)


STORAGE_NAMES: dict[DType, str] = {
    dtypes.bool_: "BoolStorage",
    dtypes.uint8: "ByteStorage",
    dtypes.int8: "CharStorage",
    dtypes.int16: "ShortStorage",
    dtypes.int32: "IntStorage",
    dtypes.int64: "LongStorage",
    dtypes.float16: "HalfStorage",
    dtypes.bfloat16: "BFloat16Storage",
    dtypes.float32: "FloatStorage",
    dtypes.float64: "DoubleStorage",
    dtypes.complex64: "ComplexFloatStorage",
    dtypes.complex128: "ComplexDoubleStorage",
}
STORAGE_DTYPES: dict[str, DType] = {name: dtype for dtype, name in STORAGE_NAMES.items()}
