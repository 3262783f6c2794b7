"""Derived weights: prologue and main part compute what the whole did; random numbers and large copies stay."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raxis import dtypes
from raxis.ptir import Builder, Program, TensorType, parse, verify
from raxis.ptir.passes.derived import split
from tests.ptir.harness import execute
from tests.ptir.interpreter import outcome
from tests.ptir.passes.special import assert_same_bits
from tests.ptir.random_programs import SEEDS, announce, arguments, programs


def primitives(program: Program) -> list[str]:
    return [item.primitive for item in program.instructions]


def run_in_parts(program: Program, frozen: set[int], inputs: list[object]) -> list[np.ndarray]:
    parts = split(program, frozen)
    verify(parts.prologue)
    verify(parts.main)
    assert set(parts.sources) <= frozen
    derived = execute(parts.prologue, [inputs[source] for source in parts.sources])
    return execute(parts.main, [*inputs, *derived])


NORMALISED = parse("""ptir 1.0
program "p"(%0: f32[8,4,5,5], %1: f32[4], %2: f32[4], %3: scalar f32[]) {
  %4 = broadcast(%3) {dims=[], shape=[4]} : f32[4]
  %5 = add(%1, %4) : f32[4]
  %6 = rsqrt(%5) : f32[4]
  %7 = mul(%6, %2) : f32[4]
  %8 = broadcast(%7) {dims=[1], shape=[8,4,5,5]} : f32[8,4,5,5]
  %9 = mul(%0, %8) : f32[8,4,5,5]
  return %9
}""")


def test_a_factor_per_channel_is_derived_but_not_its_copies() -> None:
    parts = split(NORMALISED, {1, 2, 3})
    assert primitives(parts.prologue) == ["broadcast", "add", "rsqrt", "mul"]
    assert primitives(parts.main) == ["broadcast", "mul"]
    assert parts.sources == (1, 2, 3)
    assert [str(value.type) for value in parts.main.parameters[4:]] == ["f32[4]"]


def test_what_is_not_frozen_stays() -> None:
    parts = split(NORMALISED, {1, 2})
    assert parts.prologue.results == ()
    assert parts.main == NORMALISED


def test_random_numbers_are_not_frozen() -> None:
    builder = Builder("noise")
    weight = builder.parameter(TensorType(dtypes.int32, (4,)))
    key, offset = (builder.parameter(TensorType(dtypes.int64, ()), by_value=True) for _ in range(2))
    noise = builder.emit("random_bits", key, offset, shape=(4,), dtype=dtypes.int32)
    program = builder.build([builder.emit("xor", builder.emit("not", weight), noise)])
    parts = split(program, {0, 1, 2})
    assert primitives(parts.prologue) == ["not"]
    assert primitives(parts.main) == ["random_bits", "xor"]


def test_weights_do_not_grow() -> None:
    builder = Builder("quantised")
    weight = builder.parameter(TensorType(dtypes.int8, (64, 64)))
    image = builder.parameter(TensorType(dtypes.float32, (64,)))
    wide = builder.emit("cast", weight, dtype=dtypes.float32)
    dims = {"lhs_batch": (), "rhs_batch": (), "lhs_contract": (1,), "rhs_contract": (0,)}
    program = builder.build([builder.emit("dot_general", wide, image, **dims)])
    assert split(program, {0}).prologue.results == ()


def test_moved_filters_are_derived() -> None:
    builder = Builder("transposed convolution")
    image = builder.parameter(TensorType(dtypes.float32, (1, 2, 5)))
    weight = builder.parameter(TensorType(dtypes.float32, (2, 3, 3)))
    swapped = builder.emit("transpose", builder.emit("reverse", weight, dims=(2,)), permutation=(1, 0, 2))
    settings = {"stride": (1,), "padding": ((0, 0),), "dilation": (1,), "groups": 1}
    program = builder.build([builder.emit("convolution", image, swapped, **settings)])
    parts = split(program, {1})
    assert primitives(parts.prologue) == ["reverse", "transpose"]
    assert primitives(parts.main) == ["convolution"]


def test_recipes_of_equal_weights_are_equal() -> None:
    first, second = (
        parse(f"""ptir 1.0
program "{name}"(%0: f32[2], %1 "w": f32[2], %2 "v": f32[2]) {{
  %3 = exp(%{used}) : f32[2]
  %4 = {consumer}(%0, %3) : f32[2]
  return %4
}}""")
        for name, used, consumer in (("p", 1, "add"), ("q", 2, "sub"))
    )
    [one], [other] = (list(split(program, {1, 2}).recipes()) for program in (first, second))
    assert one.program == other.program
    assert (one.sources, other.sources) == ((1,), (2,))
    [found] = execute(one.program, [np.array([0, 1], np.float32)])
    np.testing.assert_allclose(found, [1, np.e], rtol=1e-6)


@pytest.mark.parametrize("result", ["%2", "%1"])
def test_frozen_results(result: str) -> None:
    text = f'ptir 1.0\nprogram "p"(%0: f32[2], %1: f32[2]) {{\n%2 = exp(%1) : f32[2]\nreturn {result}\n}}'
    data = [np.zeros(2, np.float32), np.ones(2, np.float32)]
    [found] = run_in_parts(parse(text), {1}, data)
    np.testing.assert_allclose(found, [np.e] * 2 if result == "%2" else [1, 1], rtol=1e-6)


@settings(max_examples=150)
@given(programs(12), SEEDS, st.data())
def test_parts_compute_the_whole(program: Program, seed: int, data: st.DataObject) -> None:
    announce(program, seed)
    frozen = {place for place in range(len(program.parameters)) if data.draw(st.booleans())}
    whole = outcome(lambda: execute(program, arguments(program, seed)))
    parts = outcome(lambda: run_in_parts(program, frozen, arguments(program, seed)))
    if isinstance(whole, tuple) or isinstance(parts, tuple):
        assert parts[0] == whole[0]  # of two errors, the prologue may meet the other one first
        return
    for one, other in zip(parts, whole, strict=True):
        assert_same_bits(one, other)
