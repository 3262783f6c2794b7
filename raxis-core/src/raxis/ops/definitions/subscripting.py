"""The methods behind ``x[index]`` and ``x[index] = value``."""

from __future__ import annotations

from raxis.indexing import get_item, set_item
from raxis.ops.table import composed

composed("__getitem__(Tensor input, index index) -> Tensor", function=False, out=False)(get_item)
composed("__setitem__(Tensor input, index index, Tensor|Scalar value) -> Tensor", function=False, out=False)(
    set_item
)
