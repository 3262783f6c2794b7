"""Torch's operator database, and the raxis callables its entries stand for."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

import raxis
from raxis.tensor import Tensor

torch.set_num_threads(1)

ENTRIES: dict[str, Any] = {
    f"{entry.name}:{entry.variant_test_name}" if entry.variant_test_name else entry.name: entry
    for entry in op_db
}
"""Entries by ``name`` or ``name:variant``."""


def entries_of(name: str) -> dict[str, Any]:
    """All variants of `name`, or the one that ``name:variant`` names.

    Raises:
        KeyError: if the database has none.
    """
    found = {key: entry for key, entry in ENTRIES.items() if name in (key, entry.name)}
    if not found:
        raise KeyError(f"torch's op_db has no entry {name!r}")
    return found


def lookup(name: str) -> Callable[..., Any] | None:
    """The public raxis function of a dotted name, else the Tensor method; None if there is neither."""
    found: Any = raxis
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found) or isinstance(found, type):
        found = getattr(Tensor, name, None)
    return found if callable(found) else None


def _slice(input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    """Python's slicing, which the database lists under the name of torch's internal op."""
    return input[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)]


_UNNAMED: dict[str, Callable[..., Any]] = {"slice": _slice, "_segment_reduce": raxis.segment_reduce}
"""Entries for ops that neither framework has under that name."""


def function_of(entry: Any) -> Callable[..., Any] | None:
    """The raxis callable for an entry, taking the entry's sample arguments."""
    if entry.name in _UNNAMED:
        return _UNNAMED[entry.name]
    return counterpart(entry.op) if _is_database_lambda(entry.op) else lookup(entry.name)


def counterpart(function: Any) -> Callable[..., Any] | None:
    """What a callable of the database is in raxis; its lambdas run with `torch` standing for raxis."""
    if isinstance(function, functools.partial):
        inner = counterpart(function.func)
        return None if inner is None else functools.partial(inner, *function.args, **function.keywords)
    if _is_database_lambda(function):
        return _with_raxis(function)
    module = getattr(function, "__module__", None) or ""
    prefix = "nn.functional." if module == "torch.nn.functional" else ""
    return lookup(prefix + function.__name__)


def _is_database_lambda(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing.")


def _with_raxis(function: types.FunctionType) -> Callable[..., Any]:
    names = {**function.__globals__, "torch": raxis}
    made = types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made
