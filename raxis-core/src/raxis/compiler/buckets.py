"""Programs for many numbers of rows: calls with up to 8 rows, say, are calls with 8, the last of which are cut off.

That is right where rows are kept apart, which two rehearsals prove: see `raxis.compiler.rehearsing` for what the user's
code may see of sizes, and `raxis.compiler.rowwise` for what programs may do with rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raxis.compiler import views
from raxis.compiler.guards import Guards, guards_of
from raxis.compiler.memory import Held, Memory, Operand, Region
from raxis.compiler.numbers import Source
from raxis.compiler.recent import Recent
from raxis.compiler.rehearsing import FEW, MANY, Rehearsal, RowsError, rehearse
from raxis.compiler.rowwise import MixedRowsError, Numbers, Rows, check
from raxis.compiler.signature import modes
from raxis.layout import Layout, contiguous_strides, extent, layout_of
from raxis.tensor import Tensor, view_of, wrap
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from raxis.backends.api import Backend
    from raxis.compiler.compiled import Options
    from raxis.compiler.linking import Linked
    from raxis.compiler.recording import Recording
    from raxis.compiler.replay import Replay
    from raxis.compiler.signature import Arguments
    from raxis.compiler.tracing import Traced
    from raxis.storage import Storage

MOST_FAMILIES = 256
"""For how many kinds of arguments it is known whether their numbers of rows share programs."""


class Part(NamedTuple):
    """What of a result belongs to the rows that a call has.

    Attributes:
        dim: the dimension that holds rows.
        each: how many of its elements there are for each row.
        copied: whether it must be copied to lie in memory as without the added rows.
    """

    dim: int
    each: int
    copied: bool

    def of(self, tensor: Tensor, rows: int, base: Tensor | None = None) -> Tensor:
        """The part of a result for so many rows; a view of `base` if there is one."""
        layout = tensor._layout
        shape = (*layout.shape[: self.dim], self.each * rows, *layout.shape[self.dim + 1 :])
        shown = layout_of(layout.dtype, shape, layout.strides, layout.device)
        cut = wrap(tensor._storage, tensor._offset, shown)
        if base is not None and not self.copied:
            cut = view_of(base, shown, tensor._offset)
        if self.copied:
            order = sorted(range(len(shape)), key=lambda dim: (-layout.strides[dim], dim))
            dense = cut.permute(order).contiguous()
            steps = contiguous_strides(dense._layout.shape)
            strides = tuple([steps[order.index(dim)] for dim in range(len(order))])
            shown = layout_of(layout.dtype, shape, strides, layout.device)
            cut = wrap(dense._storage, dense._offset, shown)
        cut._inference = tensor._inference
        return cut


class Verdict(NamedTuple):
    """What rehearsals found.

    Attributes:
        guards: what must hold outside for it to be true.
        refused: why programs are not shared; None if they are.
        results: the part of each leaf of the results; None for what holds no rows.
    """

    guards: Guards
    refused: str | None
    results: Sequence[Part | None] = ()


class Bucket(NamedTuple):
    """Calls with up to `limit` rows.

    Attributes:
        limit: how many rows the program is for.
        batched: which leaves of the arguments hold rows, in their first dimension.
        verdict: why that is right.
        modes: in which it is.
    """

    limit: int
    batched: Sequence[int]
    verdict: Verdict
    modes: tuple[Any, ...]

    def widened(self, leaves: Sequence[Any]) -> list[Any]:
        """Leaves with as many rows as the program has; the added ones are copies of the first."""
        wide = list(leaves)
        for at in self.batched:
            wide[at] = _widened(leaves[at], self.limit)
        return wide

    def narrowed(self, result: Any, rows: int) -> Any:
        """A result without what was computed of added rows."""
        leaves, structure = tree_flatten(result)
        pairs = zip(leaves, self.verdict.results, strict=True)
        parts = {id(leaf): part for leaf, part in pairs if part is not None}
        done: dict[int, Tensor] = {}

        def cut(leaf: Any) -> Any:
            key = id(leaf)
            if key not in parts:
                return leaf
            if key not in done:
                done[key] = parts[key].of(leaf, rows, cut(leaf._base) if id(leaf._base) in parts else None)
            return done[key]

        narrow = [cut(leaf) for leaf in leaves]
        self._trim(list(done.values()), rows)
        return tree_unflatten(narrow, structure)

    def _trim(self, tensors: Sequence[Tensor], rows: int) -> None:
        """Let the storages of results end where they would without the added rows, as files and pickles of them do."""
        ends: dict[Storage, int] = {}
        for tensor in tensors:
            layout = tensor._layout
            end = (tensor._offset + extent(layout.shape, layout.strides)) * layout.dtype.itemsize
            ends[tensor._storage] = max(end, ends.get(tensor._storage, 0))
        for storage, end in ends.items():
            if storage.nbytes > end and not storage.nbytes % self.limit:
                storage.nbytes = max(storage.nbytes // self.limit * rows, end)


def _widened(tensor: Tensor, rows: int) -> Tensor:
    from raxis.ops.functions import cat

    missing = rows - tensor._layout.shape[0]
    added = tensor[:1].expand(missing, *tensor._layout.shape[1:])
    wide: Tensor = cat((tensor, added))
    wide._inference = False
    return wide


@dataclass
class _Family:
    """Calls whose arguments differ at most in how many rows they have.

    Attributes:
        first: the first sizes of the first call.
        refused: why the last recording alone tells that programs are not shared; None if it does not.
        verdicts: by which leaves hold rows, and the sizes of the others.
    """

    first: tuple[int, ...]
    refused: str | None = None
    verdicts: dict[Any, Verdict] = field(default_factory=dict)


def note(refused: str | None) -> str:
    """A sentence, without its stop."""
    if refused is None:
        return "numbers of rows are rounded up to powers of two, since rows are kept apart"
    return f"each number of rows has its own program, since {refused}"


class Buckets:
    """Knows which calls of a compiled function can use the program for more rows.

    Attributes:
        refused: why the call that was looked for last cannot, None if nothing is known against it.
    """

    def __init__(self, name: str, options: Options, function: Any, arguments: Arguments) -> None:
        self._name = name
        self._options = options
        self._function = function
        self._arguments = arguments
        self._families: Recent[_Family] = Recent(MOST_FAMILIES)
        self.refused: str | None = None

    def find(self, leaves: list[Any], structure: TreeSpec) -> Bucket | None:
        """The bucket of a call; None if there is none."""
        self.refused = None
        if repeats(leaves):
            return None
        key, sizes = self._kind(leaves, structure)
        family = self._families.get(key)
        if family is None:
            self._families.put(key, _Family(tuple(sizes.values())))
            return None
        changed = [at for (at, size), first in zip(sizes.items(), family.first, strict=True) if size != first]
        numbers = {sizes[at] for at in changed}
        if len(numbers) != 1 or not FEW <= (rows := numbers.pop()) <= MANY:
            return None
        limit = 1 << (rows - 1).bit_length()
        if family.refused is not None or limit == rows or limit > MANY:
            self.refused = family.refused
            return None
        others = tuple(size for at, size in sizes.items() if at not in changed)
        verdict = self._verdict(family, (tuple(changed), others), leaves, structure)
        self.refused = verdict.refused
        return Bucket(limit, changed, verdict, modes()) if verdict.refused is None else None

    def note(
        self, leaves: list[Any], structure: TreeSpec, recording: Recording, replay: Replay | None
    ) -> None:
        """Take note of a recording of such a call."""
        family = self._families.get(self._kind(leaves, structure)[0])
        if family is not None:
            family.refused = _impurity(recording, replay)

    def notes(self) -> Iterator[str]:
        """Sentences on what is known."""
        for family in self._families.values():
            refusals = [verdict.refused for verdict in family.verdicts.values()]
            if family.refused is not None:
                refusals.append(family.refused)
            if refusals:
                yield note(refusals[-1])

    def _kind(self, leaves: list[Any], structure: TreeSpec) -> tuple[Any, dict[int, int]]:
        """What decides the family of a call, and the first sizes of tensors, by position."""
        sizes: dict[int, int] = {}
        described: list[Any] = list(self._arguments.describe(leaves))
        for at, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor) and may_hold_rows(leaf):
                layout = leaf._layout
                sizes[at] = layout.shape[0]
                described[at] = layout.dtype, layout.shape[1:], layout.device
        return (structure, tuple(described), modes()), sizes

    # ---- the proof ---------------------------------------------------------------------------------

    def _verdict(self, family: _Family, key: Any, leaves: list[Any], structure: TreeSpec) -> Verdict:
        known = family.verdicts.get(key)
        if known is None or known.guards.failure() is not None:
            known = family.verdicts[key] = self._judged(leaves, structure, key[0])
        return known

    def _judged(self, leaves: list[Any], structure: TreeSpec, batched: Sequence[int]) -> Verdict:
        signature = (structure, self._arguments.describe(leaves), modes())
        leaves = self._arguments.with_changing_numbers(signature, leaves)
        few = Rehearsal(self._name, self._options, FEW, None)
        many = Rehearsal(self._name, self._options, MANY, few)

        def call(stand_ins: list[Any]) -> Any:
            args, kwargs = self._arguments.unflatten(stand_ins, structure)
            return self._function(*args, **kwargs)

        refused: str | None = None
        results: tuple[Part | None, ...] = ()
        try:
            less, more = [rehearse(rehearsal, call, leaves, batched) for rehearsal in (few, many)]
            results = tuple(_compared(less, more, _backend(many)))
        except RowsError as error:
            refused = str(error)
        return Verdict(guards_of(few if many.device is None else many), refused, results)


def repeats(leaves: Sequence[Any]) -> bool:
    """Whether a tensor is there twice, which a function may see."""
    tensors = [id(leaf) for leaf in leaves if isinstance(leaf, Tensor)]
    return len(set(tensors)) < len(tensors)


def may_hold_rows(tensor: Tensor) -> bool:
    """Whether rows can be added to a copy of a tensor without any other difference."""
    layout = tensor._layout
    return layout.ndim > 0 and layout.is_contiguous and tensor._edge is None and not tensor._inference


def _impurity(recording: Recording, replay: Replay | None) -> str | None:
    """Why a recorded function does more than compute results without a tape, if it does."""
    if replay is None:
        return recording.unrepeatable or "a call cannot be repeated"
    reasons = {
        "random numbers are drawn": recording.draws,
        "results require grad": replay.backward is not None,
        "gradients are read or written": recording.leaves,
        "a tensor is written in place": any(memory.written for memory in recording.given.values()),
        "an optimizer makes a step": recording.optimizers,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _compared(few: Traced, many: Traced, backend: Backend) -> Iterator[Part | None]:
    """The parts of the results of two rehearsals.

    Raises:
        RowsError: if the rehearsals differ in more than the number of rows, or mix rows.
    """
    try:
        if few.structure != many.structure or few.requires_grad or many.requires_grad:
            raise MixedRowsError("the results depend on the number of rows, or require grad")
        _require_same_inputs(few, many, backend)
        held = iter(check(few.linked.program, many.linked.program, Numbers(FEW, MANY)))
        shown = [memory for memory, _ in few.linked.outputs]
        if any(memory.is_outside for memory in (*shown, *(memory for memory, _ in many.linked.outputs))):
            raise MixedRowsError("a result shares memory with an argument, or with a tensor from outside")
        shares = len(set(shown)) < len(shown)
        for less, more in zip(few.results, many.results, strict=True):
            yield _part(less, more, next(held), shares) if _is_tensor(less, more) else None
    except MixedRowsError as error:
        raise RowsError(f"{error}{_where(few.linked, error)}") from error


def _part(few: Layout, many: Layout, rows: Rows | None, shares: bool) -> Part | None:
    if rows is None:
        if few is not many:
            raise MixedRowsError("how results lie in memory depends on the number of rows")
        return None
    copied = few.strides != many.strides
    if copied and (shares or not all(views.is_dense(Region.of(layout, 0)) for layout in (few, many))):
        raise MixedRowsError("how results lie in memory depends on the number of rows")
    if rows.outer not in (1, None):
        raise MixedRowsError("a result holds its rows in several parts")
    return Part(rows.dim, rows.each, copied)


def _where(linked: Linked, error: MixedRowsError) -> str:
    line = None if error.at is None else linked.lines.get(error.at.results[0])
    return "" if line is None else f" at {line}"


def _is_tensor(few: Any, many: Any) -> bool:
    """Whether a result is a tensor.

    Raises:
        MixedRowsError: if it depends on the number of rows in another way than tensors may.
    """
    if not isinstance(few, Layout) or not isinstance(many, Layout):
        if type(few) is not type(many) or few != many:
            raise MixedRowsError("a result that is no tensor depends on the number of rows")
        return False
    return True


def _require_same_inputs(few: Traced, many: Traced, backend: Backend) -> None:
    pairs = zip(few.linked.inputs, many.linked.inputs, strict=False)
    if len(few.linked.inputs) != len(many.linked.inputs) or not all(
        _same_input(less, more, backend) for less, more in pairs
    ):
        raise MixedRowsError("what is read depends on the number of rows")


def _same_input(few: Any, many: Any, backend: Backend) -> bool:
    if isinstance(few, Source) or isinstance(many, Source):
        return isinstance(few, Source) and isinstance(many, Source) and few.key == many.key
    (memory, region), (other, other_region) = few, many
    if isinstance(memory.source, Operand):
        return bool(memory.source == other.source)
    if region != other_region or type(memory.source) is not type(other.source):
        return False
    if isinstance(memory.source, Held):
        return memory.source.storage is other.source.storage
    return _content(memory, backend) == _content(other, backend)


def _backend(recording: Recording) -> Backend:
    assert recording.real is not None  # a rehearsal begins with its device
    return recording.real.backend


def _content(memory: Memory, backend: Backend) -> bytes:
    found = np.empty(memory.nbytes, np.uint8)
    backend.copy_to_host(memory.buffer, 0, found)
    return found.tobytes()
