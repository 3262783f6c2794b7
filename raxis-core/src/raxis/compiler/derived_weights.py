"""Derived weights: what compiled functions compute from weights alone is computed once and kept.

They are found again by what computes them and from which storages, and are valid while these have the same version:
a write in place makes them anew. Never by an address, which another tensor may have later.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.backends.api import Executable
from raxis.layout import contiguous_strides
from raxis.ptir.passes.derived import Split
from raxis.ptir.program import Program
from raxis.storage import Place, Storage

BUDGET = 1 << 30
"""Bytes that derived weights take at most; those not used for longest go first."""


class _Entry(NamedTuple):
    """A kept weight, and the storages it was made from with their versions."""

    buffer: Any
    nbytes: int
    sources: tuple[tuple[weakref.ref[Storage], Any, int], ...]

    def is_valid(self) -> bool:
        """Whether the storages live and were not written since."""
        return all(
            (storage := reference()) is not None and storage.buffer is buffer and storage.version == version
            for reference, buffer, version in self.sources
        )


class WeightStore:
    """Derived weights of all compiled functions, by recipe.

    Args:
        budget: bytes to keep at most.
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._entries: OrderedDict[Any, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Bytes kept at the moment."""
        return sum(entry.nbytes for entry in self._entries.values())

    def get(self, key: Any) -> Any | None:
        """The weight of a recipe; None if there is none, or it is out of date."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            if not entry.is_valid():
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return entry.buffer

    def put(self, key: Any, buffer: Any, nbytes: int, sources: Sequence[Storage]) -> None:
        """Keep a weight; others go if there is no room."""
        known = tuple((weakref.ref(storage), storage.buffer, storage.version) for storage in sources)
        with self._lock:
            self._entries[key] = _Entry(buffer, nbytes, known)
            while len(self._entries) > 1 and self.nbytes > self._budget:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()


STORE = WeightStore()


class DerivedWeights:
    """The derived weights of one program; a call gives ``buffer, offset`` of each, as executables take them.

    Args:
        parts: the program in two parts.
        prologue: the executable of the first.
        storages: what its parameters lie in.
        offsets: where in them, in elements.
        place: where weights are kept.
    """

    def __init__(
        self,
        parts: Split,
        prologue: Executable,
        storages: Sequence[Storage],
        offsets: Sequence[int],
        place: Place,
    ) -> None:
        self._prologue = prologue
        self._results = [result.type for result in parts.prologue.results]
        self._storages = tuple(storages)
        self._offsets = tuple(offsets)
        self._place = place
        position = {source: at for at, source in enumerate(parts.sources)}
        self._recipes = [
            (recipe.program, tuple(position[source] for source in recipe.sources))
            for recipe in parts.recipes()
        ]
        self._seen: list[tuple[Any, int]] = []
        self._arguments: tuple[Any, ...] = ()

    @property
    def programs(self) -> tuple[Program, ...]:
        """What computes each of them."""
        return tuple(program for program, _ in self._recipes)

    @property
    def nbytes(self) -> int:
        """The memory that they take."""
        return sum(type.nbytes for type in self._results)

    def __call__(self) -> tuple[Any, ...]:
        seen = [(storage.buffer, storage.version) for storage in self._storages]
        if not _same(seen, self._seen):
            self._arguments = tuple(part for buffer in self._buffers() for part in (buffer, 0))
            self._seen = seen
        return self._arguments

    def _buffers(self) -> list[Any]:
        keys = [self._key(program, sources) for program, sources in self._recipes]
        found = [STORE.get(key) for key in keys]
        if any(buffer is None for buffer in found):
            found = self._compute()
            for key, buffer, type, (_, sources) in zip(
                keys, found, self._results, self._recipes, strict=True
            ):
                STORE.put(key, buffer, type.nbytes, [self._storages[source] for source in sources])
        return found

    def _key(self, program: Program, sources: tuple[int, ...]) -> Any:
        places = tuple((id(self._storages[source]), self._offsets[source]) for source in sources)
        return program, places, id(self._place)

    def _compute(self) -> list[Any]:
        made = [self._place.backend.allocate(type.nbytes, self._place.index) for type in self._results]
        arguments: list[Any] = []
        for storage, offset in zip(self._storages, self._offsets, strict=True):
            arguments += [storage.buffer, offset]
        for buffer in made:
            arguments += [buffer, 0]
        self._prologue(*arguments)
        return made


def _same(one: Sequence[tuple[Any, int]], other: Sequence[tuple[Any, int]]) -> bool:
    return len(one) == len(other) and all(
        first[0] is second[0] and first[1] == second[1] for first, second in zip(one, other, strict=True)
    )


def result_strides(program: Program) -> list[tuple[int, ...]]:
    """Derived weights are row-major."""
    return [contiguous_strides(result.type.shape) for result in program.results]
