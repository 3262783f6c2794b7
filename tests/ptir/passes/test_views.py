"""Random chains of rearrangements, with arithmetic between them, give the same elements after the passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from raxis import dtypes
from raxis.ptir import Builder, Program, TensorType, Value
from raxis.ptir.passes import PASSES, optimise
from raxis.ptir.passes.pipeline import SIMPLIFY
from tests.ptir.harness import execute
from tests.ptir.passes.special import assert_same_bits
from tests.ptir.random_programs import SEEDS, announce, arrays

SIZES = st.sampled_from([1, 1, 2, 3, 4, 0])
LARGEST = 2000


class Chain:
    """A program in the making; each method appends an instruction with random attributes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.builder = Builder("chain")
        shape = tuple(draw(st.lists(SIZES, min_size=1, max_size=4)))
        self.values: list[Value] = [self.builder.parameter(TensorType(dtypes.int32, shape))]

    def grow(self) -> None:
        steps: list[Callable[[Value], Value | None]] = [
            self.transpose, self.reshape, self.broadcast, self.slice, self.reverse, self.pad, self.concatenate,
            self.combine, self.reduce,
        ]  # fmt: skip
        value = self.draw(st.sampled_from(self.values[-3:]))
        made = self.draw(st.sampled_from(steps))(value)
        if made is not None and made.type.size <= LARGEST:
            self.values.append(made)

    def transpose(self, value: Value) -> Value:
        return self.builder.emit(
            "transpose", value, permutation=self.draw(st.permutations(range(value.type.rank)))
        )

    def reshape(self, value: Value) -> Value:
        shape = [size for size in value.type.shape if size != 1 or self.draw(st.booleans())]
        if len(shape) > 1 and self.draw(st.booleans()):
            shape[:2] = [shape[0] * shape[1]]
        elif shape and shape[-1] == 4 and self.draw(st.booleans()):
            shape[-1:] = [2, 2]
        for _ in range(self.draw(st.integers(0, 2))):
            shape.insert(self.draw(st.integers(0, len(shape))), 1)
        return self.builder.emit("reshape", value, shape=shape)

    def broadcast(self, value: Value) -> Value:
        shape: list[int] = []
        dims = []
        for size in value.type.shape:
            shape += self.draw(st.lists(SIZES, max_size=1))
            dims.append(len(shape))
            shape.append(self.draw(SIZES) if size == 1 else size)
        shape += self.draw(st.lists(SIZES, max_size=1))
        return self.builder.emit("broadcast", value, shape=shape, dims=dims)

    def slice(self, value: Value) -> Value:
        bounds = [sorted(self.draw(st.tuples(*[st.integers(0, size)] * 2))) for size in value.type.shape]
        step = [self.draw(st.integers(1, 3)) for _ in value.type.shape]
        start, stop = ([bound[place] for bound in bounds] for place in (0, 1))
        return self.builder.emit("slice", value, start=start, stop=stop, step=step)

    def reverse(self, value: Value) -> Value:
        dims = [dim for dim in range(value.type.rank) if self.draw(st.booleans())]
        return self.builder.emit("reverse", value, dims=dims)

    def pad(self, value: Value) -> Value | None:
        amounts = st.integers(-1, 0) if self.draw(st.booleans()) else st.integers(0, 1)
        low, high = ([self.draw(amounts) for _ in value.type.shape] for _ in range(2))
        sizes = zip(low, value.type.shape, high, strict=True)
        if any(before + size + after < 0 for before, size, after in sizes):
            return None
        fill = self.builder.constant(7, dtypes.int32)
        interior = [self.draw(st.integers(0, 1)) for _ in low]
        if min([*low, *high], default=0) < 0:
            interior = [0] * len(low)
        return self.builder.emit("pad", value, fill, low=low, high=high, interior=interior)

    def concatenate(self, value: Value) -> Value | None:
        if not value.type.rank:
            return None
        dim = self.draw(st.integers(0, value.type.rank - 1))
        size = value.type.shape[dim]
        cut = self.draw(st.integers(0, size))
        pieces = [self._part(value, dim, 0, cut), self._part(value, dim, cut, size)]
        order = self.draw(st.permutations([*pieces, value]))
        return self.builder.emit("concatenate", *order[: self.draw(st.integers(1, 3))], dim=dim)

    def _part(self, value: Value, dim: int, start: int, stop: int) -> Value:
        starts, stops = [0] * value.type.rank, list(value.type.shape)
        starts[dim], stops[dim] = start, stop
        return self.builder.emit("slice", value, start=starts, stop=stops, step=[1] * value.type.rank)

    def combine(self, value: Value) -> Value:
        alike = [other for other in self.values if other.type == value.type]
        other = self.draw(st.sampled_from(alike))
        if self.draw(st.booleans()):
            other = self.builder.constant(self.draw(st.integers(0, 3)), dtypes.int32, value.type.shape)
        return self.builder.emit(self.draw(st.sampled_from(["add", "sub", "mul", "maximum"])), value, other)

    def reduce(self, value: Value) -> Value:
        dims = [dim for dim in range(value.type.rank) if self.draw(st.booleans())]
        return self.builder.emit(self.draw(st.sampled_from(["reduce_max", "reduce_sum"])), value, dims=dims)


@st.composite
def chains(draw: st.DrawFn) -> Program:
    chain = Chain(draw)
    for _ in range(draw(st.integers(1, 10))):
        chain.grow()
    return chain.builder.build(chain.values[-2:])


@settings(max_examples=400)
@given(chains(), SEEDS)
def test_chains(program: Program, seed: int) -> None:
    announce(program, seed)
    given_arrays = arrays(program, seed)
    expected = execute(program, given_arrays)
    for passes in (list(SIMPLIFY), list(PASSES), None):
        optimised = optimise(program, passes=passes, verify=True)
        for one, other in zip(execute(optimised, given_arrays), expected, strict=True):
            assert_same_bits(one, other)


def test_repeated_rows_under_a_transpose_keep_ascending_dims() -> None:
    builder = Builder("p")
    x = builder.parameter(TensorType(dtypes.float32, (2, 3)))
    wide = builder.emit("broadcast", x, shape=(2, 4, 3), dims=(0, 2))
    program = builder.build([builder.emit("transpose", wide, permutation=(2, 1, 0))])
    optimised = optimise(program, verify=True)
    assert [item.primitive for item in optimised.instructions] == ["transpose", "broadcast"]
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(execute(optimised, [data])[0], np.repeat(data.T[:, None], 4, 1))


def test_views_of_rank_0_are_views_on_the_reference() -> None:
    builder = Builder("p")
    x = builder.parameter(TensorType(dtypes.int32, (1,)))
    scalar = builder.emit("reshape", x, shape=())
    parts = [
        builder.emit("slice", scalar, start=(), stop=(), step=()),
        builder.emit("reverse", scalar, dims=()),
    ]
    for found in execute(builder.build(parts), [np.array([7], np.int32)]):
        assert found == 7
