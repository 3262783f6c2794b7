"""Rehearsals: a function is run on stand-ins of two sizes, to see what it does with rows.

Nothing is computed, and nothing is left behind. The second run knows the first: whatever the user's code sees of sizes
must be the same in both, or a multiple of the number of rows, which then is given as a `RowCount`. Answers that are the
same for `FEW` and for `MANY` rows are so for all numbers between, because those of Raxis grow with the number of rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from raxis.compiler.breaks import CompileError
from raxis.compiler.memory import RecordedStorage
from raxis.compiler.recording import Recording
from raxis.compiler.sizes import RowCount, WatchedSize, asked_by_user, plain_size
from raxis.compiler.tracing import Traced, trace
from raxis.layout import layout_of
from raxis.storage import Storage
from raxis.tensor import Tensor, wrap
from raxis.utils._pytree import tree_leaves, tree_map

if TYPE_CHECKING:
    from raxis.compiler.compiled import Options
    from raxis.device import Device
    from raxis.ops.definitions.verdicts import Failure
    from raxis.random import Generator

FEW = 3
MANY = 27720
"""Divided by every number up to 12, so that what works for few rows only by divisibility differs."""
_TAKE_SIZES = frozenset({"_reshape_copy", "_view", "expand"})
"""Ops whose numbers are sizes."""


class RowsError(CompileError):
    """A function whose recordings for different numbers of rows may differ in more than that."""


class Rehearsal(Recording):
    """A run on stand-ins.

    Attributes:
        rows: how many there are.
        first: the run before; None if this is the first.
        answers: what was asked about sizes.
        kernels: how many were noted.
        refused: why recordings for other numbers of rows may differ.
    """

    def __init__(self, name: str, options: Options, rows: int, first: Rehearsal | None) -> None:
        super().__init__(name, options)
        self.rows = rows
        self.first = first
        self.answers: list[int] = []
        self.kernels = 0
        self.refused: str | None = None

    def refuse(self, reason: str) -> NoReturn:
        """End the run; the user's code may catch the error, but not change the outcome."""
        self.refused = self.refused or reason
        raise RowsError(reason)

    def shown(self, answer: Any) -> Any:
        if not asked_by_user(sys._getframe(1)):
            return answer
        if not isinstance(answer, tuple):
            return self._watched(answer)
        watched = tuple([self._watched(number) for number in answer])
        return WatchedSize.of(watched) if any(type(number) is RowCount for number in watched) else answer

    def _watched(self, number: int) -> Any:
        return RowCount(number, self.refuse) if self._follows_rows(number) else number

    def _follows_rows(self, number: int) -> bool:
        """Note a number; whether it is not the one of the run before, but the same multiple of the rows."""
        self.answers.append(number)
        if self.first is None:
            return False
        position = len(self.answers) - 1
        before = self.first.answers[position] if position < len(self.first.answers) else None
        if before == number:
            return False
        if before is None or before % self.first.rows or before * self.rows != number * self.first.rows:
            self.refuse("sizes do not grow with the number of rows")
        return True

    def note_made(self, tensor: Tensor) -> None:
        super().note_made(tensor)
        for size in tensor._layout.shape:
            self._follows_rows(size)

    def operands(self, arguments: Sequence[Any], op: str | None = None) -> tuple[Any, ...]:
        if any(type(leaf) in (RowCount, WatchedSize) for leaf in tree_leaves(list(arguments))):
            if op not in _TAKE_SIZES:
                self.refuse(f"the number of rows is an operand of {op}")
            arguments = _plain(list(arguments))
        return super().operands(arguments, op)

    def fixed(self, arguments: Any) -> Any:
        return super().fixed(_plain(arguments))

    def add(self, call: Any) -> None:
        self.kernels += 1
        if self.first is not None and self.kernels > self.first.kernels:
            self.refuse("how many operations run depends on the number of rows")
        super().add(call)

    # ---- what must not be done twice ---------------------------------------------------------------

    def draw(self, generator: Generator, blocks: int) -> tuple[Any, Any]:
        self.refuse("random numbers are drawn")

    def note_seeded(self) -> None:
        self.refuse("a random generator is seeded")

    def note_write(self, tensor: Tensor) -> None:
        if not isinstance(tensor._storage, RecordedStorage) or tensor._storage.buffer.is_outside:
            self.refuse("a tensor from outside of the function is written in place")
        super().note_write(tensor)

    def note_check(self, codes: Tensor, failure: Failure) -> None:
        """Rows that are copies of others fail only if these do."""
        shape = codes._layout.shape
        if not shape or shape[0] % self.rows:
            self.refuse("values are checked that are not those of one row each")

    def note_grad(self, leaf: Tensor) -> None:
        self.refuse("gradients are read or written")

    def note_optimizer(self, optimizer: Any) -> None:
        self.refuse("an optimizer makes a step")


def _plain(arguments: Any) -> Any:
    return tree_map(plain_size, arguments)


def rehearse(
    rehearsal: Rehearsal, function: Callable[[list[Any]], Any], leaves: Sequence[Any], batched: Iterable[int]
) -> Traced:
    """What `function` does with leaves like these, if those at `batched` have as many rows as the rehearsal.

    Raises:
        RowsError: if it fails, or does what may differ for other numbers of rows.
    """
    sizes: Mapping[int, int] = dict.fromkeys(batched, rehearsal.rows)
    stand_ins = [
        _like(leaf, sizes.get(at)) if isinstance(leaf, Tensor) else leaf for at, leaf in enumerate(leaves)
    ]
    rehearsal.note((), _device(stand_ins))
    rehearsal.start()
    try:
        traced = trace(rehearsal, function, (stand_ins,))
    except Exception as error:
        raise RowsError(rehearsal.refused or f"{rehearsal.rows} rows give an error: {error}") from error
    finally:
        rehearsal.stop()
    if rehearsal.tied:
        rehearsal.refused = rehearsal.refused or "the value of a number among the arguments is looked at"
    if rehearsal.refused is not None:
        raise RowsError(rehearsal.refused)
    return traced


def _like(leaf: Tensor, rows: int | None) -> Tensor:
    shape = leaf._layout.shape if rows is None else (rows, *leaf._layout.shape[1:])
    return wrap(Storage(), 0, layout_of(leaf._layout.dtype, shape, None, leaf._layout.device))


def _device(leaves: Sequence[Any]) -> Device:
    return next(leaf._layout.device for leaf in leaves if isinstance(leaf, Tensor))
