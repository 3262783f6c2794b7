"""Conversions named after their target: type, float(), half(), cpu(), cuda() and relatives."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.ops.table import composed
from raxis.placement import as_device
from raxis.tensor import Tensor

_TYPE_NAMES = {
    "bool": "BoolTensor", "uint8": "ByteTensor", "int8": "CharTensor", "int16": "ShortTensor", "int32": "IntTensor",
    "int64": "LongTensor", "float16": "HalfTensor", "bfloat16": "BFloat16Tensor", "float32": "FloatTensor",
    "float64": "DoubleTensor", "complex64": "ComplexFloatTensor", "complex128": "ComplexDoubleTensor",
}  # fmt: skip
_TYPES = {name: dtypes.by_name(key) for key, name in _TYPE_NAMES.items()}


@composed(
    "type(Tensor input, object dtype=None, bool non_blocking=False) -> object", function=False, out=False
)
def type(input: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The type's name, such as ``'raxis.FloatTensor'``; with `dtype` (a dtype or such a name), `input` cast to it.

    Raises:
        ValueError: if there is no such type.

    Example:
        >>> import raxis
        >>> raxis.ones(1).type()
        'raxis.FloatTensor'
    """
    if dtype is None:
        device = input._layout.device.type
        prefix = "raxis" if device == "cpu" else f"raxis.{device}"
        return f"{prefix}.{_TYPE_NAMES[input._layout.dtype.name]}"
    if isinstance(dtype, DType):
        return input.to(dtype)
    *prefix_words, name = str(dtype).split(".")
    if name not in _TYPES:
        raise ValueError(f"invalid type: {dtype!r}")
    return input.to(as_device(prefix_words[1] if len(prefix_words) > 1 else "cpu"), _TYPES[name])


@composed("type_as(Tensor input, Tensor other) -> Tensor", function=False, out=False)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` with `other`'s dtype and device.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).type_as(raxis.zeros(1))
        tensor([1., 2.])
    """
    return input.to(other)


def _publish_casts() -> None:
    """The methods named after dtypes: ``float()``, ``half()``, ..."""
    names = {
        "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
        "half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64", "cfloat": "complex64",
        "cdouble": "complex128",
    }  # fmt: skip
    for name, dtype_name in names.items():
        composed(
            f"{name}(Tensor input, *, memory_format? memory_format=None) -> Tensor", function=False, out=False
        )(_cast_method(dtypes.by_name(dtype_name)))


def _cast_method(target: DType) -> Any:
    def method(input: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
        if input._layout.dtype is target and memory_format is None:
            return input
        return input.to(target, memory_format=memory_format)

    method.__doc__ = f"`input` in {target.name}; itself if it has that dtype."
    return method


_publish_casts()


@composed("cpu(Tensor input) -> Tensor", function=False, out=False)
def cpu(input: Tensor) -> Tensor:
    """`input` in host memory; itself if it is there.

    Example:
        >>> import raxis
        >>> raxis.ones(2).cpu()
        tensor([1., 1.])
    """
    return input.to("cpu")


@composed(
    "cuda(Tensor input, object device=None, bool non_blocking=False) -> Tensor", function=False, out=False
)
def cuda(input: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """`input` on a CUDA device; itself if it is there.

    Raises:
        RuntimeError: if there is no CUDA backend or device.
    """
    if isinstance(device, int):
        device = f"cuda:{device}"
    return input.to("cuda" if device is None else device)
