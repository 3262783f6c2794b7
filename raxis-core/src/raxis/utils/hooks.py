"""The handle returned by every `register_*hook` method."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

# Process-wide so that an id is never used twice, even after its hook is removed; `next` on it is atomic.
_ids: Iterator[int] = itertools.count()


class RemovableHandle:
    """Remembers one registered hook so that it can be removed again.

    The handle holds the hook table weakly: it never keeps a module or an optimizer alive. `also_from` names further
    tables whose entries for this hook are to be removed with it.

    >>> table = OrderedDict()
    >>> handle = RemovableHandle(table)
    >>> table[handle.id] = print
    >>> handle.remove()
    >>> len(table)
    0
    """

    def __init__(self, hooks: OrderedDict[int, Any], also_from: Iterable[OrderedDict[int, Any]] = ()) -> None:
        self.id = next(_ids)
        self._tables = [weakref.ref(table) for table in (hooks, *also_from)]

    def remove(self) -> None:
        """Unregister the hook; a second call does nothing."""
        for reference in self._tables:
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def __getstate__(self) -> dict[str, Any]:
        # A copy belongs to no table: the copied module has handles of its own only if hooks are registered anew.
        return {"id": self.id, "_tables": []}
