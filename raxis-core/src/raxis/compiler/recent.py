"""A dictionary that keeps what was used last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values by key; those not used for longest go first.

    Args:
        limit: how many are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """The value of a key; None if there is none."""
        with self._lock:
            found = self._items.get(key)
            if found is not None:
                self._items.move_to_end(key)
            return found

    def put(self, key: Hashable, value: Value) -> Hashable | None:
        """Keep a value; the key of another that had to go, None if there is none."""
        with self._lock:
            self._items[key] = value
            self._items.move_to_end(key)
            if len(self._items) <= self._limit:
                return None
            return self._items.popitem(last=False)[0]

    def items(self) -> Iterator[tuple[Hashable, Value]]:
        """Keys and values, those used last at the end."""
        return iter(list(self._items.items()))

    def values(self) -> Iterator[Value]:
        """The values, those used last at the end."""
        return iter(list(self._items.values()))
