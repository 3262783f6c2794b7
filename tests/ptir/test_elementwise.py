"""Element-by-element primitives against torch, for every admitted dtype, with special values."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir import PRIMITIVES
from tests.ptir.cases import ELEMENTWISE_ORACLES
from tests.ptir.harness import apply, assert_close, assert_identical, from_torch, to_torch

REALS = [0.0, -0.0, 0.25, -0.25, 0.5, 0.75, -0.75, 1.0, -1.0, 1.5, 2.0, -2.5, 3.5, -3.5, 7.25, 100.0, -100.0]
SPECIAL = [np.inf, -np.inf, np.nan, 6e-8, -6e-8, 6e4, 1e30, -1e30]


def operand_values(dtype: DType) -> np.ndarray:
    """Ordinary, extreme and special values of a dtype."""
    if dtype.category == Category.BOOL:
        return np.array([False, True])
    if dtype.category == Category.INTEGER:
        limits = np.iinfo(dtype.numpy)
        small = [number for number in (0, 1, 2, 3, 5, 7, 8, 31, -1, -2, -3, -7) if number >= limits.min]
        return np.array([*small, limits.min, limits.max, limits.max - 1], dtype.numpy)
    if dtype.is_complex:
        parts = np.array([0.0, 0.5, -0.75, 1.25, -2.5, 3.0])
        return (parts[:, None] + 1j * (parts + 0.125)).reshape(-1).astype(dtype.numpy)
    with np.errstate(over="ignore"):
        return (
            np.array(REALS + SPECIAL)
            .astype(np.float32 if dtype.itemsize < 4 else dtype.numpy)
            .astype(dtype.numpy)
        )


DIVISIONS = ("div", "floor_divide", "remainder", "fmod")
ADMITTED = [
    (name, dtype)
    for name in ELEMENTWISE_ORACLES
    for dtype in dtypes.ALL
    if dtype in PRIMITIVES[name].admitted
]


@pytest.mark.parametrize(("name", "dtype"), ADMITTED, ids=lambda item: getattr(item, "name", item))
def test_values(name: str, dtype: DType) -> None:
    values = operand_values(dtype)
    left, right = (side.reshape(-1) for side in np.meshgrid(values, values))
    if name in DIVISIONS and dtype.category == Category.INTEGER:
        # The least number by -1 kills the process in torch.
        divisible = (right != 0) & ~((left < -100) & (left == np.iinfo(dtype.numpy).min) & (right + 1 == 0))
        left, right = left[divisible], right[divisible]
    operands = (values,) if PRIMITIVES[name].arity == 1 else (left, right)
    actual = apply(name, *operands)
    expected = from_torch(ELEMENTWISE_ORACLES[name](*map(to_torch, operands)))
    assert_close(actual, expected, dtypes.from_numpy_dtype(expected.dtype))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
@pytest.mark.parametrize("name", ELEMENTWISE_ORACLES)
def test_rank_0_and_empty(name: str, shape: tuple[int, ...]) -> None:
    dtype = next(dtype for dtype in reversed(dtypes.ALL) if dtype in PRIMITIVES[name].admitted)
    operands = [np.ones(shape, dtype.numpy)] * PRIMITIVES[name].arity
    actual = apply(name, *operands)
    expected = from_torch(ELEMENTWISE_ORACLES[name](*map(to_torch, operands)))
    assert_close(actual, expected, dtypes.from_numpy_dtype(expected.dtype))


@pytest.mark.parametrize(("name", "expected"), list(zip(DIVISIONS, ["least", "least", 0, 0], strict=True)))
@pytest.mark.parametrize(
    "dtype", [dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64], ids=lambda dtype: dtype.name
)
def test_least_integer_by_minus_one(name: str, expected: object, dtype: DType) -> None:
    least = np.iinfo(dtype.numpy).min
    actual = apply(name, np.array([least], dtype.numpy), np.array([-1], dtype.numpy))
    assert actual[0] == (least if expected == "least" else expected)


@pytest.mark.parametrize("name", DIVISIONS)
def test_integer_division_by_zero(name: str) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        apply(name, np.array([1, 2]), np.array([1, 0]))


def test_signed_zeros() -> None:
    zeros = np.array([0.0, -0.0])
    for name in (
        "sqrt",
        "floor",
        "ceil",
        "round",
        "trunc",
        "erf",
        "expm1",
        "log1p",
        "sin",
        "tan",
        "asinh",
        "atanh",
    ):
        assert list(np.signbit(apply(name, zeros))) == [False, True], name
    assert list(apply("rsqrt", zeros)) == [np.inf, -np.inf]
    assert list(apply("digamma", zeros)) == [-np.inf, np.inf]


def test_nextafter_of_bfloat16_steps_by_one_bit() -> None:
    values = np.array([1.0, 1.0, 0.0], dtypes.bfloat16.numpy)
    targets = np.array([2.0, 0.0, 1.0], dtypes.bfloat16.numpy)
    assert list(apply("nextafter", values, targets).view(np.uint16)) == [0x3F81, 0x3F7F, 0x0001]


def test_half_rounds_once() -> None:
    # 1 + 2**-11 lies half-way between two float16 numbers; the product must not be rounded in between.
    values = np.array([1 + 2**-10], np.float16)
    exact = np.float64(values[0]) ** 2
    assert apply("mul", values, values)[0] == np.float16(exact)


CASTS = [(source, target) for source in dtypes.ALL for target in dtypes.ALL]


@pytest.mark.parametrize(("source", "target"), CASTS, ids=lambda dtype: dtype.name)
def test_cast(source: DType, target: DType) -> None:
    values = operand_values(source)
    if source.is_floating_point and target.category == Category.INTEGER:
        values = values[np.isfinite(values.astype(np.float64)) & (np.abs(values.astype(np.float64)) < 100)]
        if not target.is_signed:
            values = values[values.astype(np.float64) >= 0]
    if source.is_complex and target.category == Category.INTEGER and not target.is_signed:
        values = values[values.real >= 0]
    tensor = to_torch(values)
    if source.is_complex and not target.is_complex and target is not dtypes.bool_:
        tensor = tensor.real
    expected = from_torch(tensor.to(getattr(torch, target.name)))
    actual = apply("cast", values, dtype=target)
    assert_identical(actual, expected)


@pytest.mark.parametrize("source", [dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64])
def test_cast_of_what_does_not_fit(source: DType) -> None:
    values = np.array([np.nan, np.inf, -np.inf, 300.0, -1.0]).astype(source.numpy)
    least = {"int32": -(2**31), "int64": -(2**63)}
    for name, minimum in least.items():
        expected = [minimum, minimum, minimum, 300, -1]
        assert list(apply("cast", values, dtype=dtypes.by_name(name))) == expected
    assert list(apply("cast", values, dtype=dtypes.uint8)) == [0, 0, 0, 44, 255]
    assert list(apply("cast", values, dtype=dtypes.int8)) == [0, 0, 0, 44, -1]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_select(dtype: DType) -> None:
    values = operand_values(dtype)
    condition = np.arange(values.size) % 3 == 0
    actual = apply("select", condition, values, values[::-1].copy())
    assert_identical(actual, np.where(condition, values, values[::-1]))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64])
def test_make_complex(dtype: DType) -> None:
    values = operand_values(dtype)
    actual = apply("make_complex", values, values[::-1].copy())
    assert actual.dtype == dtype.to_complex().numpy
    np.testing.assert_array_equal(actual.real, values)
    np.testing.assert_array_equal(actual.imag, values[::-1])
