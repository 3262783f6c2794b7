"""The tables of plans, and setting them aside while a thread records or is profiled.

A plan in the table is found without asking who calls. So while any thread records or is profiled, the tables are
empty: every call then takes the way of a miss, which asks; plans of threads that run are kept here meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from raxis.interception import active, anyone
from raxis.ops.table import OPS

Plans = dict[Any, Callable[..., Any]]

PLAN_LIMIT = 4096
"""Plans kept per op; beyond it the op's table starts anew (programs of changing shapes stay bounded)."""

_lock = threading.Lock()
_aside: dict[int, Plans] = {}
_recorded: dict[int, Plans] = {}


def set_aside() -> None:
    """Hide all plans until `restore` was called as often."""
    with _lock:
        anyone.records += 1
        if anyone.records == 1:
            for op in OPS.values():
                for plans in op.tables:
                    if plans:
                        _aside[id(plans)] = dict(plans)
                        plans.clear()


def restore() -> None:
    """Undo one `set_aside`."""
    with _lock:
        anyone.records -= 1
        if anyone.records == 0:
            for op in OPS.values():
                for plans in op.tables:
                    plans.update(_aside.get(id(plans), ()))
            _aside.clear()


def find(plans: Plans, key: Any) -> Callable[..., Any] | None:
    """The plan of this thread's kind for a key."""
    if active.recording is not None:
        return _recorded.get(id(plans), {}).get(key)
    return plans.get(key) or (_aside.get(id(plans), {}).get(key) if anyone.records else None)


def remember(plans: Plans, key: Any, run: Callable[..., Any]) -> None:
    """Keep a plan for threads of this thread's kind.

    Raises:
        TypeError: for a key that cannot be hashed.
    """
    hash(key)
    with _lock:
        if active.recording is not None:
            plans = _recorded.setdefault(id(plans), {})
        elif anyone.records:
            plans = _aside.setdefault(id(plans), {})
        if len(plans) >= PLAN_LIMIT:
            plans.clear()
        plans[key] = run


def outdate() -> None:
    """Let compiled functions look again at what their runs depend on."""
    with _lock:
        anyone.generation += 1


def clear() -> None:
    """Forget all plans (defaults they were derived from have changed)."""
    with _lock:
        for op in OPS.values():
            for plans in op.tables:
                plans.clear()
        _aside.clear()
        _recorded.clear()
        anyone.generation += 1
