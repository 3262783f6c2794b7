"""Shapes as values."""

from __future__ import annotations

from typing import Any

from raxis import layout
from raxis.ops.table import composed
from raxis.size import Size


@composed("broadcast_shapes(*shapes) -> Size", method=False, out=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes broadcast to.

    Args:
        shapes: sequences of ints, or ints for one dimension.

    Raises:
        RuntimeError: if they do not broadcast, or a size is negative.

    Example:
        >>> import raxis
        >>> raxis.broadcast_shapes((2, 1), 3)
        raxis.Size([2, 3])
    """
    given = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    for shape in given:
        if any(size < 0 for size in shape):
            raise RuntimeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    return Size(layout.broadcast_shapes(*given))
