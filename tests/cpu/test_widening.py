"""Products of narrow dtypes: in wider ones, rounded once."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import raxis
from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir.verifier import verify
from raxis_cpu.widening import is_narrow_product, widened_product
from tests.cpu.test_gemm import product

DTYPES = [(dtypes.float16, np.float16), (dtypes.bfloat16, ml_dtypes.bfloat16)]


@pytest.mark.parametrize(("dtype", "numpy"), DTYPES, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 0, 4), (0, 3, 4), (5, 700, 9), (130, 140, 90)], ids=str)
def test_values_are_those_of_float64_rounded_once(dtype, numpy, sizes, rng: np.random.Generator) -> None:
    m, k, n = sizes
    x, y = rng.standard_normal((m, k)).astype(numpy), rng.standard_normal((n, k)).astype(numpy)
    ours = [raxis.tensor(item.astype(np.float32)).to(dtype) for item in (x, y)]
    found = (ours[0] @ ours[1].t()).float().numpy()
    exact = x.astype(np.float64) @ y.astype(np.float64).T
    spacing = 2.0**-11 if dtype is dtypes.float16 else 2.0**-8
    np.testing.assert_allclose(found, exact, rtol=spacing * 1.01, atol=1e-5 * max(k, 1) ** 0.5)


def test_sums_beyond_the_range_of_float16_are_infinite() -> None:
    x = raxis.full((2, 64), 200.0, dtype=raxis.float16)
    assert (x @ x.t()).tolist() == [[float("inf")] * 2] * 2
    assert (x @ (x / 64).t()).tolist() == [[40000.0] * 2] * 2


@pytest.mark.parametrize(
    "dtype", [dtypes.bfloat16, dtypes.float16, dtypes.int8, dtypes.int16, dtypes.uint8], ids=str
)
def test_a_product_of_its_own(dtype: DType) -> None:
    (instruction,) = product((3, 4), (4, 5), dtype=dtype).instructions
    assert is_narrow_product(instruction)
    program = widened_product(instruction, [False, False])
    verify(program)
    assert [item.primitive for item in program.instructions] == ["cast", "cast", "dot_general", "cast"]
    assert [value.type.dtype for value in (*program.parameters, *program.results)] == [dtype] * 3
