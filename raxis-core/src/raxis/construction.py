"""``Tensor(...)``: PyTorch's old constructor, which reads integers as sizes and everything else as data."""

from __future__ import annotations

from typing import Any

from raxis.device import Device
from raxis.size import Size
from raxis.tensor import Tensor, wrap


def constructed(arguments: tuple[Any, ...], device: Device | str | None) -> Tensor:
    """A tensor of the default dtype: of these sizes and uninitialised, or with the elements of a sequence.

    Raises:
        TypeError: if the argument is neither.
        RuntimeError: if a size is negative.
    """
    from raxis.ops.definitions.creation import empty
    from raxis.ops.definitions.literals import tensor
    from raxis.ops.promotion import get_default_dtype

    made: Tensor
    first = arguments[0] if len(arguments) == 1 else None
    if isinstance(first, Tensor):
        return wrap(first._storage, first._offset, first._layout)
    if isinstance(first, (str, bytes, float, complex)) or (first is None and len(arguments) == 1):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    if first is None or isinstance(first, (int, Size)):
        made = empty(first if isinstance(first, Size) else arguments or (0,), device=device)
    else:
        made = tensor(first, dtype=get_default_dtype(), device=device)
    return made
