"""Launches of rendered kernels: run-time numbers, checks, errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from raxis import dtypes
from raxis.codegen.loops import ZERO_DIVISION, divisors, render, render_check, wrong_text
from raxis.codegen.rendered import Entry, Rendered
from raxis.codegen.splitting import Split, split
from raxis.dtypes import Category, DType
from raxis.errors import IndexOutOfRangeError
from raxis.schedule.loops import LoopKernel

if TYPE_CHECKING:
    from raxis.codegen.backend import KernelBackend

Memory = tuple[Any, int]
"""A buffer, and its first element of interest."""

Scalars = Mapping[int, Any]


class Part:
    """Something that runs on memory, by number, and by-value numbers, by position of the parameter."""

    rendered: Sequence[Rendered] = ()
    reads: Sequence[int] | None = None
    """The memory that a check reads; None for what computes something."""

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        raise NotImplementedError


class Several(Part):
    """Parts one after another."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.rendered = [rendered for part in parts for rendered in part.rendered]

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        for part in self.parts:
            part(memory, scalars)


class Launch(Part):
    """One kernel.

    Args:
        backend: what runs it.
        rendered: the kernel.
        slots: the memory that fills its buffer slots, by number.
        scalars: the parameters that are its by-value numbers, by position.
    """

    def __init__(
        self, backend: KernelBackend, rendered: Rendered, slots: Sequence[int], scalars: Sequence[int] = ()
    ) -> None:
        self.rendered = [rendered]
        self._launch = backend.launch
        size = backend.dialect.group_size
        self._groups = rendered.work_items if rendered.grouped else -(-rendered.work_items // size)
        self._kernel = backend.kernel(rendered) if self._groups else None
        self._slots, self._scalars = tuple(slots), tuple(scalars)
        entries = rendered.entries
        self._numbers = np.array([entry.value for entry in entries] or [0], np.int64)
        self._offsets = [(at, entry.slot) for at, entry in enumerate(entries) if entry.slot is not None]
        self._by_value = [(at, entry) for at, entry in enumerate(entries) if entry.scalar is not None]

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        if self._groups:
            self.on([memory[slot] for slot in self._slots], scalars)

    def on(self, places: Sequence[Memory], scalars: Scalars) -> None:
        """Run on these buffers in the kernel's slots."""
        numbers = self._numbers.copy()
        for at, slot in self._offsets:
            numbers[at] += places[slot][1]
        for at, entry in self._by_value:
            numbers[at] = _bits(scalars[self._scalars[entry.scalar or 0]], entry)
        self._launch(self._kernel, self._groups, [place[0] for place in places], numbers)


class SplitPart(Part):
    """A loop kernel as `Split` has it."""

    def __init__(
        self, backend: KernelBackend, made: Split, slots: Sequence[int], scalars: Sequence[int]
    ) -> None:
        self._backend = backend
        self._bytes = [made.elements * dtype.itemsize for dtype in made.scratch]
        places = tuple(range(len(slots) + len(made.scratch)))
        kernels = (*made.parts, made.rest)
        self._launches = [Launch(backend, render(each, backend.dialect), places, scalars) for each in kernels]
        self._slots = tuple(slots)
        self.rendered = [rendered for launch in self._launches for rendered in launch.rendered]

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        given = [memory[slot] for slot in self._slots]
        index = self._backend.index_of(given[0][0])
        given += [(self._backend.allocate(nbytes, index), 0) for nbytes in self._bytes]
        for launch in self._launches:
            launch(given, scalars)


class Divisors(Part):
    """Raises if a by-value number that integers are divided by is 0 in its dtype."""

    def __init__(self, divisors: Mapping[int, DType]) -> None:
        self.reads = ()
        self._moduli = {position: 1 << 8 * dtype.itemsize for position, dtype in divisors.items()}

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        if any(int(scalars[position]) % modulus == 0 for position, modulus in self._moduli.items()):
            raise RuntimeError(ZERO_DIVISION)


class Checked(Part):
    """A check of a loop kernel: raises if an index is out of range or an integer is divided by zero."""

    def __init__(
        self, backend: KernelBackend, kernel: LoopKernel, launch: Launch, slots: Sequence[int]
    ) -> None:
        self.rendered = launch.rendered
        self.reads = [slots[slot] for slot in _loaded(kernel)]
        self._backend, self._kernel, self._launch, self._slots = backend, kernel, launch, tuple(slots)

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        places = [memory[slot] for slot in self._slots]
        record = self._backend.allocate(16, self._backend.index_of(places[0][0]))
        self._backend.copy_from_host(np.zeros(16, np.uint8), record, 0)
        self._launch.on([*places, (record, 0)], scalars)
        found = np.empty(16, np.uint8)
        self._backend.copy_to_host(record, 0, found)
        fault, index = found.view(np.int64).tolist()
        if fault:
            self._fail(fault - 1, index)

    def _fail(self, node: int, index: int) -> NoReturn:
        text, out_of_range = wrong_text(self._kernel, node, index)
        raise IndexOutOfRangeError(text) if out_of_range else RuntimeError(text)


def _loaded(kernel: LoopKernel) -> set[int]:
    """The slots that a kernel loads from."""
    loads = {node.detail.buffer for node in kernel.nodes if node.op == "load"}
    return loads | {node.detail.access.buffer for node in kernel.nodes if node.op == "gather_load"}


def without_checks(part: Part, of: Callable[[Part], bool]) -> tuple[list[Part], Part]:
    """The checks in a part of which `of` holds, and the part without them."""
    parts = part.parts if isinstance(part, Several) else [part]
    taken = [each for each in parts if each.reads is not None and of(each)]
    return taken, Several([each for each in parts if each not in taken]) if taken else part


def loop_part(
    backend: KernelBackend, kernel: LoopKernel, slots: Sequence[int], scalars: Sequence[int] = ()
) -> Part:
    """A loop kernel, after its check if it needs one."""
    parts: list[Part] = []
    numbers = divisors(kernel)
    if numbers:
        parts.append(Divisors({scalars[number]: dtype for number, dtype in numbers.items()}))
    check = check_part(backend, kernel, slots, scalars)
    if check is not None:
        parts.append(check)
    made = split(kernel)
    if made is not None:
        parts.append(SplitPart(backend, made, slots, scalars))
    elif kernel.stores:
        parts.append(Launch(backend, render(kernel, backend.dialect), slots, scalars))
    return parts[0] if len(parts) == 1 else Several(parts)


def check_part(
    backend: KernelBackend, kernel: LoopKernel, slots: Sequence[int], scalars: Sequence[int] = ()
) -> Part | None:
    """The check of a loop kernel; None if nothing can be wrong."""
    rendered = render_check(kernel, backend.dialect)
    if rendered is None or not rendered.work_items:
        return None
    return Checked(backend, kernel, Launch(backend, rendered, slots, scalars), slots)


def _bits(value: Any, entry: Entry) -> int:
    """A by-value number as a 64-bit integer."""
    dtype = entry.dtype or dtypes.int64
    if dtype.is_complex:
        value, dtype = (complex(value).imag if entry.part else complex(value).real), dtype.to_real()
    if dtype.category is Category.FLOAT:
        return _REAL_BITS.get(dtype, _float32_bits)(value, dtype)
    if dtype is dtypes.bool_:
        return int(bool(value))
    return (int(value) + (1 << 63)) % (1 << 64) - (1 << 63)


def _float32_bits(value: Any, dtype: DType) -> int:
    with np.errstate(all="ignore"):
        narrow = np.array(value, np.float64).astype(np.float32).astype(dtype.numpy)
    return int(narrow.astype(np.float32).view(np.uint32))


def _float64_bits(value: Any, _: DType) -> int:
    return int(np.array(value, np.float64).view(np.int64))


_REAL_BITS: Mapping[DType, Callable[[Any, DType], int]] = {dtypes.float64: _float64_bits}
