"""Tables of hooks, as modules and optimizers keep them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from raxis.autograd.handle import RemovableHandle

__all__ = ["RemovableHandle", "attach"]


def attach(table: OrderedDict[int, Any], entry: Any, first: bool = False) -> RemovableHandle:
    """Put `entry` at the end of `table`, or before all others, and return the handle that removes it.

    Example:
        >>> from collections import OrderedDict
        >>> from raxis.utils.hooks import attach
        >>> table = OrderedDict()
        >>> with attach(table, print):
        ...     len(table)
        1
        >>> len(table)
        0
    """
    handle = RemovableHandle.attach(table, entry)
    if first:
        table.move_to_end(handle.id, last=False)
    return handle
