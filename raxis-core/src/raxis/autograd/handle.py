"""Handles that remove a registered hook."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any

from raxis.interception import anyone

_next_id = count().__next__


class RemovableHandle:
    """Returned by every ``register_*hook``; `remove` takes the hook out again (also on leaving ``with``)."""

    def __init__(self, hooks: OrderedDict[int, Any]) -> None:
        self.id = _next_id()
        self._hooks: OrderedDict[int, Any] | None = hooks

    @classmethod
    def attach(cls, hooks: OrderedDict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
        """Put `hook` at the end of `hooks`."""
        anyone.changes += 1
        handle = cls(hooks)
        hooks[handle.id] = hook
        return handle

    def remove(self) -> None:
        """Take the hook out; doing so twice is harmless."""
        if self._hooks is not None:
            anyone.changes += 1
            self._hooks.pop(self.id, None)
            self._hooks = None

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.remove()
