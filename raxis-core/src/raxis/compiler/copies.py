"""Copies of what is a view without `raxis.compile`: ``x[i]`` for a tensor `i` of no dimensions.

A view needs the value of `i`, which a recording has not. A copy is the same as long as neither it nor `x` is written
while the other is still used; the one write allowed is that of ``x[i] += value``, which Python follows by
``x[i] = copy``.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raxis.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from raxis.compiler.log import Call
    from raxis.compiler.memory import Memory

ADVICE = "Write x[i] = value instead of into x[i], and clone() what is needed after such a write."
READ_LATE = "x[i], where i is a tensor, was used after x was written"


@dataclass
class _Copy:
    source: Memory | None
    index: tuple[Any, ...]
    written: str | None = None
    """The user's line that wrote the copy and not `source`."""
    returns: bool = False
    """Whether the next write to `source` makes both equal again."""
    stale: bool = False
    """Whether `source` was written since."""


class Copies:
    """Those of one recording."""

    def __init__(self) -> None:
        self._known: dict[Memory, _Copy] = {}

    def note(self, copy: Memory | None, source: Memory | None, index: Any) -> None:
        """`copy` is that of ``source[index]``."""
        if copy is not None:
            self._known[copy] = _Copy(source, _key(index))

    def put_back(self, copy: Memory | None, source: Memory | None, index: Any) -> None:
        """``source[index] = copy`` is about to run."""
        known = None if copy is None else self._known.get(copy)
        if known is not None and known.source is source and _is_same(known.index, index):
            known.written, known.returns = None, True

    def conflict(self, call: Call) -> str | None:
        """Why a kernel that is about to be noted would see or leave other values than with views."""
        if not self._known:
            return None
        touched = set(call.memories)
        reason = _first_lost(each for each in self._known.values() if each.source in touched)
        reason = reason or self.outdated(touched)
        for memory, _ in call.results:
            self._note_write(memory, call.line)
        return reason

    def outdated(self, memories: Iterable[Memory]) -> str | None:
        """Why these cannot be used any more."""
        known = (self._known.get(memory) for memory in memories)
        return READ_LATE if any(copy is not None and copy.stale for copy in known) else None

    @property
    def unreturned(self) -> str | None:
        """Why the recording must not end now."""
        return _first_lost(self._known.values())

    def _note_write(self, memory: Memory, line: str) -> None:
        if memory in self._known:
            self._known[memory].written = line
        for copy in self._known.values():
            if copy.source is memory:
                copy.stale, copy.returns = copy.stale or not copy.returns, False


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _key(index: Any) -> tuple[Any, ...]:
    """An index, of which no tensor is kept alive."""
    return tuple([weakref.ref(part) if isinstance(part, Tensor) else part for part in _parts(index)])


def _is_same(key: tuple[Any, ...], index: Any) -> bool:
    """Whether an index has the same tensors and numbers as that of a key."""
    parts = _parts(index)
    return len(key) == len(parts) and all(map(_is_same_part, key, parts))


def _is_same_part(known: Any, part: Any) -> bool:
    if isinstance(part, Tensor):
        return isinstance(known, weakref.ref) and known() is part
    return bool(known == part)


def _first_lost(copies: Iterable[_Copy]) -> str | None:
    line = next((copy.written for copy in copies if copy.written is not None), None)
    return None if line is None else f"x[i], where i is a tensor, was written in place at {line}"
