"""Memory plans: what lives at the same time does not overlap, and dead memory is used again."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from raxis import dtypes
from raxis.layout import extent
from raxis.ptir import Builder, Program, TensorType
from raxis.schedule import Schedule, schedule
from raxis.schedule.arena import ALIGNMENT, Arena, plan
from raxis.schedule.schedule import Buffer, LibraryStep

SIZE = 64
NBYTES = SIZE * SIZE * 4
DOT = {"lhs_batch": (), "rhs_batch": (), "lhs_contract": (1,), "rhs_contract": (0,)}


def matrices(builder: Builder, count: int) -> list:
    return [builder.parameter(TensorType(dtypes.float32, (SIZE, SIZE))) for _ in range(count)]


def chain(length: int) -> Program:
    """A product of products: only two of its values live at the same time."""
    builder = Builder("chain")
    x, weight = matrices(builder, 2)
    for _ in range(length):
        x = builder.emit("dot_general", x, weight, **DOT)
    return builder.build([x])


def scheduled(program: Program) -> Schedule:
    dense = (SIZE, 1)
    return schedule(program, [dense] * len(program.parameters), [dense] * len(program.results))


def lifetimes(made: Schedule) -> dict[int, tuple[int, int, int]]:
    """Bytes, first and last step of each temporary, found the slow way."""
    found: dict[int, tuple[int, int, int]] = {}
    for number, step in enumerate(made.steps):
        touched = (*step.operands, *step.results) if isinstance(step, LibraryStep) else step.buffers
        for buffer in (made.buffers[each] for each in touched if each >= 0):
            if buffer.role == "temporary":
                nbytes = extent(buffer.shape, buffer.strides) * buffer.dtype.itemsize
                known = found.get(buffer.position, (0, number, number))
                found[buffer.position] = (max(known[0], nbytes), known[1], number)
    return found


def assert_sound(made: Schedule, arena: Arena) -> None:
    lives = lifetimes(made)
    assert arena.places.keys() >= lives.keys()
    for position, (nbytes, _, _) in lives.items():
        place = arena.places[position]
        assert place.offset % ALIGNMENT == 0
        assert place.home is not None or place.offset + nbytes <= arena.nbytes
    for one, other in combinations(lives, 2):
        (size, first, last), (bytes_, begin, end) = lives[one], lives[other]
        here, there = arena.places[one], arena.places[other]
        if here.home == there.home and first <= end and begin <= last:
            assert here.offset + size <= there.offset or there.offset + bytes_ <= here.offset


def test_a_chain_needs_two_places() -> None:
    made = scheduled(chain(9))
    arena = plan(made)
    assert len(arena.places) == 8
    assert arena.nbytes == 2 * NBYTES
    assert_sound(made, arena)


def test_a_donated_parameter_becomes_a_place() -> None:
    made = scheduled(chain(9))
    arena = plan(made, donated={0})
    # Parameter 0 is dead after the first product, so every other temporary from the second on lies there.
    assert arena.nbytes == NBYTES
    assert {place.home for place in arena.places.values()} == {None, 0}
    assert_sound(made, arena)


def test_a_parameter_that_is_read_to_the_end_is_no_place() -> None:
    arena = plan(scheduled(chain(9)), donated={1})
    assert {place.home for place in arena.places.values()} == {None}


def test_strided_parameters_are_no_place() -> None:
    program = chain(4)
    made = schedule(program, [(2 * SIZE, 2), (SIZE, 1)], [(SIZE, 1)])
    assert {place.home for place in plan(made, donated={0}).places.values()} == {None}


@pytest.mark.parametrize("number", range(20))
def test_random_lifetimes(number: int) -> None:
    rng = np.random.default_rng(number)
    program = chain(2)
    item = scheduled(program).steps[0].instruction
    count = 30
    buffers = tuple(
        Buffer("temporary", place, dtypes.float32, (int(rng.integers(0, 99)),), (1,))
        for place in range(count)
    )
    steps = tuple(
        LibraryStep(item, tuple(rng.integers(0, count, 2)), tuple(rng.integers(0, count, 1)))
        for _ in range(40)
    )
    made = Schedule(buffers, steps)
    arena = plan(made)
    assert_sound(made, arena)
    lives = lifetimes(made)
    live = [sum(size for size, first, last in lives.values() if first <= step <= last) for step in range(40)]
    assert max(live) <= arena.nbytes <= sum(size + ALIGNMENT for size, _, _ in lives.values())
