"""Creation: zeros, ones, full, empty and relatives."""

from __future__ import annotations

from typing import Any

from raxis.device import Device
from raxis.dtypes import DType
from raxis.layout import layout_of
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast
from raxis.placement import DeviceLike, as_device, place_of
from raxis.storage import allocate
from raxis.tensor import Tensor, wrap


@lowered("_filled(int[] size, Scalar value, *, dtype dtype, device device) -> Tensor", method=False, function=False, out=False)
def _filled(size: tuple[int, ...], value: Tensor, dtype: DType, device: Device) -> Any:
    """A new tensor filled with one number."""
    return broadcast(cast(value, dtype), size)


def zeros(*size: Any, dtype: DType | None = None, device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    sizes = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return _filled(tuple(sizes), 0, dtype=dtype or get_default_dtype(), device=as_device(device))


def ones(*size: Any, dtype: DType | None = None, device: DeviceLike | None = None, requires_grad: bool = False) -> Tensor:
    sizes = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    t = _filled(tuple(sizes), 1, dtype=dtype or get_default_dtype(), device=as_device(device))
    if requires_grad:
        t.requires_grad = True
    return t


def empty_strided(size: Any, stride: Any, *, dtype: DType | None = None, device: DeviceLike | None = None) -> Tensor:
    layout = layout_of(dtype or get_default_dtype(), tuple(size), tuple(stride), as_device(device))
    from raxis.layout import extent
    return wrap(allocate(extent(size, stride) * layout.dtype.itemsize, place_of(layout.device)), 0, layout)
