"""Memory planning: temporaries that do not live at the same time share memory."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterator, Mapping
from math import prod
from typing import NamedTuple

from raxis.layout import extent
from raxis.schedule.schedule import Buffer, LibraryStep, Schedule, Step

ALIGNMENT = 64
"""Bytes that every temporary's place in the arena is a multiple of."""


class Place(NamedTuple):
    """Where a temporary lies: bytes into the arena, or into the memory of parameter `home`."""

    offset: int
    home: int | None = None


class Arena(NamedTuple):
    """The places of temporaries by their position, and the bytes the arena takes."""

    places: Mapping[int, Place]
    nbytes: int


class _Life(NamedTuple):
    """A temporary: its bytes, and the first and last step that touch it."""

    position: int
    nbytes: int
    first: int
    last: int


def plan(schedule: Schedule, donated: Collection[int] = ()) -> Arena:
    """Places for all temporaries of a schedule; those used by one step never overlap.

    The largest goes first, to the lowest place that is free as long as it lives.

    Args:
        schedule: what runs.
        donated: parameters whose memory may be overwritten once the schedule has read them for the last time,
            because nobody else will. Only dense ones whose memory no result shares are used.

    Source: Pisarchyk, Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020 (greedy by size).

    Example:
        >>> from raxis.schedule.schedule import Schedule
        >>> plan(Schedule((), ()))
        Arena(places={}, nbytes=0)
    """
    lives = _lifetimes(schedule)
    places: dict[int, Place] = {}
    for home in sorted(donated):
        places.update(_in_parameter(schedule, home, [life for life in lives if life.position not in places]))
    packing = _Packing()
    for life in _largest_first(life for life in lives if life.position not in places):
        places[life.position] = Place(packing.add(life) or 0)
    return Arena(places, packing.nbytes)


def _lifetimes(schedule: Schedule) -> list[_Life]:
    sizes: dict[int, int] = {}
    for buffer in schedule.buffers:
        if buffer.role == "temporary":
            sizes[buffer.position] = max(sizes.get(buffer.position, 0), _nbytes(buffer))
    spans: dict[int, tuple[int, int]] = {}
    for number, step in enumerate(schedule.steps):
        for position in _touched(schedule, step, "temporary"):
            spans[position] = (spans.get(position, (number, number))[0], number)
    return [_Life(position, nbytes, *spans.get(position, (0, 0))) for position, nbytes in sizes.items()]


def _touched(schedule: Schedule, step: Step, role: str) -> Iterator[int]:
    """Positions of the buffers of one role that a step reads or writes."""
    numbers = (*step.operands, *step.results) if isinstance(step, LibraryStep) else step.buffers
    for number in numbers:
        if number >= 0 and schedule.buffers[number].role == role:
            yield schedule.buffers[number].position


def _nbytes(buffer: Buffer) -> int:
    return (buffer.offset + extent(buffer.shape, buffer.strides)) * buffer.dtype.itemsize


def _largest_first(lives: Iterator[_Life]) -> list[_Life]:
    return sorted(lives, key=lambda life: (-life.nbytes, life.first))


def _in_parameter(schedule: Schedule, home: int, lives: list[_Life]) -> Iterator[tuple[int, Place]]:
    """Temporaries that fit into a parameter's memory after its last use."""
    known = [each for each in schedule.buffers if (each.role, each.position) == ("parameter", home)]
    if not known or _nbytes(known[0]) != prod(known[0].shape) * known[0].dtype.itemsize:
        return
    reads = [
        number for number, step in enumerate(schedule.steps) if home in _touched(schedule, step, "parameter")
    ]
    packing = _Packing()
    itemsizes = {each.position: each.dtype.itemsize for each in schedule.buffers if each.role == "temporary"}
    for life in _largest_first(iter(lives)):
        fits = life.first > max(reads, default=-1) and itemsizes[life.position] <= known[0].dtype.itemsize
        offset = packing.add(life, _nbytes(known[0])) if fits else None
        if offset is not None:
            yield life.position, Place(offset, home)


class _Packing:
    """Temporaries placed one after another into memory."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._placed: list[tuple[int, int, int, int]] = []  # offset, end, first and last step; by offset

    def add(self, life: _Life, capacity: int | None = None) -> int | None:
        """The lowest offset that is free as long as the temporary lives; None if it ends beyond `capacity`."""
        offset = 0
        for start, end, first, last in self._placed:
            if first <= life.last and life.first <= last:
                if offset + life.nbytes <= start:
                    break
                offset = max(offset, -(-end // ALIGNMENT) * ALIGNMENT)
        end = offset + life.nbytes
        if capacity is not None and end > capacity:
            return None
        insort(self._placed, (offset, end, life.first, life.last))
        self.nbytes = max(self.nbytes, end)
        return offset
