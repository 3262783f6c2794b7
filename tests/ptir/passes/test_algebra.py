"""Every algebraic rule fires and keeps its promise on NaN, infinities, zeros of both signs, denormals and extremes."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.ptir import Builder, TensorType
from raxis.ptir.passes import Context
from raxis.ptir.passes.algebra import ALGEBRA, EXACT, FAST, ROUNDING, STRENGTH
from raxis.ptir.passes.rewriter import sweep
from raxis.ptir.passes.rewrites import Rewrite, rule_table
from tests.ptir.harness import execute
from tests.ptir.passes.special import assert_same_bits, inputs_of, numbers, program_of


def cases(rewrites: tuple[Rewrite, ...]) -> list[object]:
    return [
        pytest.param(rewrite, dtype, id=f"{rewrite.text}-{dtype.name}")
        for rewrite in rewrites
        for dtype in dtypes.ALL
        if dtype in rewrite.dtypes
    ]


def before_and_after(rewrite: Rewrite, dtype: dtypes.DType) -> tuple[np.ndarray, np.ndarray]:
    program, context = program_of(rewrite.sides[0], dtype), Context()
    rewritten = sweep(program, rule_table([rewrite]), context)
    assert context.rewrites[rewrite.text] >= 1
    arrays = inputs_of(rewrite.sides[0], dtype)
    return execute(program, arrays)[0], execute(rewritten, arrays)[0]


@pytest.mark.parametrize(("rewrite", "dtype"), cases(EXACT))
def test_exact_rules_keep_every_bit(rewrite: Rewrite, dtype: dtypes.DType) -> None:
    before, after = before_and_after(rewrite, dtype)
    assert_same_bits(after, before)


@pytest.mark.parametrize(("rewrite", "dtype"), cases(ROUNDING))
def test_rounding_rules_keep_special_numbers(rewrite: Rewrite, dtype: dtypes.DType) -> None:
    before, after = (array.astype(np.float64) for array in before_and_after(rewrite, dtype))
    np.testing.assert_array_equal(np.isnan(after), np.isnan(before))
    np.testing.assert_array_equal(np.isinf(after), np.isinf(before))
    np.testing.assert_array_equal(np.signbit(after)[before == 0], np.signbit(before)[before == 0])
    normal = np.isfinite(before)
    tolerance = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 3e-7, "float64": 5e-16}[dtype.name]
    np.testing.assert_allclose(
        after[normal], before[normal], rtol=tolerance, atol=1e-7 if dtype.itemsize == 2 else 0
    )


@pytest.mark.parametrize(("rewrite", "dtype"), cases(FAST))
def test_fast_rules_hold_for_ordinary_numbers(rewrite: Rewrite, dtype: dtypes.DType) -> None:
    program = program_of(rewrite.sides[0], dtype)
    rewritten = sweep(program, rule_table([rewrite]), Context(fast_math=True))
    assert len(rewritten.instructions) <= len(program.instructions) + 1
    arrays = [
        np.linspace(0.5, 2, parameter.type.size).astype(dtype.numpy) for parameter in program.parameters
    ]
    wide = np.complex128 if dtype.is_complex else np.float64
    before, after = (execute(each, arrays)[0].astype(wide) for each in (program, rewritten))
    np.testing.assert_allclose(
        after, before, rtol=2e-2 if dtype.itemsize == 2 else 1e-6, atol=1e-2 if dtype.itemsize == 2 else 1e-6
    )


@pytest.mark.parametrize("rewrite", FAST, ids=lambda rewrite: rewrite.text)
def test_fast_rules_are_off_by_default(rewrite: Rewrite) -> None:
    program = program_of(rewrite.sides[0], dtypes.float32)
    arrays = inputs_of(rewrite.sides[0], dtypes.float32)
    exact = ALGEBRA.run(program, Context())
    assert_same_bits(execute(exact, arrays)[0], execute(program, arrays)[0])


def test_zero_times_nan_stays_nan() -> None:
    builder = Builder("p")
    x = builder.parameter(TensorType(dtypes.float32, (3,)))
    program = builder.build([builder.emit("mul", x, builder.constant(0.0, dtypes.float32, (3,)))])
    data = np.array([np.nan, np.inf, -1], np.float32)
    result = execute(ALGEBRA.run(program, Context()), [data])[0]
    assert_same_bits(result, np.array([np.nan, np.nan, -0.0], np.float32))
    fast = ALGEBRA.run(program, Context(fast_math=True))
    assert_same_bits(execute(fast, [data])[0], np.zeros(3, np.float32))


def test_negative_zero_plus_zero_is_zero() -> None:
    builder = Builder("p")
    x = builder.parameter(TensorType(dtypes.float32, (1,)))
    program = builder.build([builder.emit("add", x, builder.constant(0.0, dtypes.float32, (1,)))])
    result = execute(ALGEBRA.run(program, Context()), [np.array([-0.0], np.float32)])[0]
    assert_same_bits(result, np.zeros(1, np.float32))


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64], ids=str)
@pytest.mark.parametrize("divisor", [2.0, -4.0, 0.125, 2.0**-13, 3.0, 0.0, float("inf"), 2.0**-149])
def test_division_by_constants(dtype: dtypes.DType, divisor: float) -> None:
    data = numbers(dtype)
    builder = Builder("p")
    x = builder.parameter(TensorType(dtype, data.shape))
    program = builder.build([builder.emit("div", x, builder.constant(divisor, dtype, data.shape))])
    rewritten = ALGEBRA.run(program, Context())
    is_power = divisor in {2.0, -4.0, 0.125, 2.0**-13}
    assert [item.primitive for item in rewritten.instructions][-1] == ("mul" if is_power else "div")
    assert_same_bits(execute(rewritten, [data])[0], execute(program, [data])[0])


def test_powers_are_the_business_of_strength() -> None:
    builder = Builder("p")
    x = builder.parameter(TensorType(dtypes.float32, (2,)))
    program = builder.build([builder.emit("pow", x, builder.constant(2.0, dtypes.float32, (2,)))])
    assert ALGEBRA.run(program, Context()) is program
    assert [item.primitive for item in STRENGTH.run(program, Context()).instructions][-1] == "mul"
