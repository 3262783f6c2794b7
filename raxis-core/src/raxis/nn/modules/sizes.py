"""Sizes given as one int or as one int a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

SizeLike: TypeAlias = "int | Sequence[int]"


def repeated(size: SizeLike, count: int) -> tuple[int, ...]:
    """`size` as a tuple, a single int repeated `count` times."""
    return tuple(size) if isinstance(size, Sequence) else (size,) * count
