"""Size: the tuple of a tensor's sizes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable


def _checked(size: int) -> int:
    try:
        return operator.index(size)
    except TypeError:
        raise TypeError(
            f"raxis.Size() takes an iterable of ints, but one of them is a {type(size).__name__}"
        ) from None


class Size(tuple[int, ...]):
    """A tuple of sizes that prints like PyTorch's.

    Example:
        >>> import raxis
        >>> raxis.zeros(2, 3).shape
        raxis.Size([2, 3])
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[int] = ()) -> Size:
        if type(sizes) is tuple and all(type(size) is int for size in sizes):
            return tuple.__new__(cls, sizes)
        return tuple.__new__(cls, map(_checked, sizes))

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"raxis.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        return Size(tuple.__add__(self, other))
