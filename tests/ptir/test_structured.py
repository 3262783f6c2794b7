"""Shapes, reductions, contraction, indexing and control against torch, for every admitted dtype."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir import PRIMITIVES
from tests.ptir.cases import ELEMENTWISE_ORACLES, STRUCTURED, Case
from tests.ptir.harness import Placed, assert_close, execute, from_torch, one_instruction, to_torch

WITHOUT_OPERANDS = {"constant", "iota", "random_bits"}


def admitted(case: Case) -> list[DType]:
    """The dtypes that a case runs with."""
    if case.primitive in WITHOUT_OPERANDS:
        return [dtypes.float32]
    without_order = case.attributes.get("reduce") in {"max", "min"}
    return [
        dtype
        for dtype in dtypes.ALL
        if dtype in PRIMITIVES[case.primitive].admitted and not (dtype.is_complex and without_order)
    ]


def has_oracle(case: Case) -> bool:
    """torch refuses to reduce nothing; `test_reference` has those values."""
    over_nothing = (
        case.primitive in {"reduce_max", "reduce_min", "reduce_and", "reduce_or"} and 0 in case.shapes[0]
    )
    return case.oracle is not None and not over_nothing


RUNS = [
    pytest.param(case, dtype, id=f"{case}-{dtype.name}")
    for case in filter(has_oracle, STRUCTURED)
    for dtype in admitted(case)
]


def widened(array: np.ndarray) -> torch.Tensor:
    """The operand in the widest dtype of its category."""
    wide = {
        Category.BOOL: np.bool_,
        Category.INTEGER: np.int64,
        Category.FLOAT: np.float64,
        Category.COMPLEX: np.complex128,
    }
    return to_torch(array.astype(wide[dtypes.from_numpy_dtype(array.dtype).category]))


def expected_results(case: Case, operands: list[np.ndarray], types: list[DType]) -> list[np.ndarray]:
    results = case.oracle(*map(widened, operands))
    results = results if isinstance(results, tuple) else (results,)
    return [from_torch(result).astype(dtype.numpy) for result, dtype in zip(results, types, strict=True)]


@pytest.mark.parametrize(("case", "dtype"), RUNS)
def test_values(case: Case, dtype: DType, seed: int) -> None:
    operands = case.operands(dtype, np.random.default_rng(seed))
    if case.primitive == "searchsorted":
        operands[0].sort(axis=-1)
    program = one_instruction(case.primitive, case.types(dtype), dict(case.attributes), case.regions(dtype))
    types = [value.type.dtype for value in program.results]
    expected = expected_results(case, operands, types)
    for actual, result, result_dtype in zip(execute(program, operands), expected, types, strict=True):
        assert_close(actual, result, result_dtype)
    for layout in (spread, permuted):
        outputs = [layout(np.zeros(value.type.shape, value.type.dtype.numpy)) for value in program.results]
        for actual, result, result_dtype in zip(
            execute(program, [layout(operand) for operand in operands], outputs), expected, types, strict=True
        ):
            assert_close(actual, result, result_dtype)


def spread(array: np.ndarray) -> Placed:
    """Every second element from an offset."""
    steps = [2 * step for step in Placed(array).strides]
    return Placed(array, steps, offset=3)


def permuted(array: np.ndarray) -> Placed:
    """Column-major."""
    steps = Placed(array.T).strides[::-1]
    return Placed(array, steps)


def test_every_primitive_has_a_case() -> None:
    covered = {
        *ELEMENTWISE_ORACLES,
        *(case.primitive for case in STRUCTURED),
        "select",
        "make_complex",
        "cast",
    }
    assert covered == set(PRIMITIVES)
