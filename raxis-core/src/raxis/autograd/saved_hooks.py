"""Hooks on what autograd saves: `saved_tensors_hooks`, `save_on_cpu`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from raxis.autograd.grad_mode import ever

Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]


class _Stack(threading.local):
    """The (pack, unpack) pairs in force in this thread, innermost last."""

    hooks: tuple[Hooks, ...] = ()


stack = _Stack()


class saved_tensors_hooks:
    """``with saved_tensors_hooks(pack, unpack):`` tensors saved inside go through `pack` and come back by `unpack`.

    Args:
        pack_hook: called with the tensor; what it returns is kept.
        unpack_hook: called with that value when backward needs the tensor; returns the tensor.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        ever.observed = True
        self._hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        stack.hooks = (*stack.hooks, self._hooks)

    def __exit__(self, *exception: Any) -> None:
        stack.hooks = stack.hooks[:-1]
