"""Vector functions against NumPy's extended precision and mpmath: error in units in the last place, special values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from raxis import dtypes
from raxis_cpu.llvm.math import UNARY
from tests.cpu.kernels import Array, elementwise, run

SEED = 20261130
COUNT = 60_000


def logistic(x: Array) -> Array:
    decayed = np.exp(-np.abs(x))
    return np.where(x < 0, decayed, np.ones_like(decayed)) / (1 + decayed)


NUMPY: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sigmoid": logistic,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}
BOUNDS = {
    "float32": {"atan": 2.0, "asin": 1.25, "sigmoid": 1.5},
    "float64": {"atan": 2.0, "asinh": 1.8, "atanh": 2.0, "acosh": 2.0, "cosh": 1.5, "sigmoid": 1.6},
}
"""Greatest error in units in the last place where it is not the general one."""
GENERAL = {"float32": 1.03, "float64": 1.25}
needs_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 60, reason="NumPy's long double is no wider than double here"
)


def apply(op: str, *operands: Array) -> Array:
    result = np.empty_like(operands[0])
    run(elementwise(op, operands, result), [*operands, result])
    return result


def samples(dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """All exponents, then where functions change their method: around 0 and 1, multiples of pi/2, thresholds."""
    bits = np.uint32 if dtype == np.float32 else np.uint64
    everywhere = rng.integers(0, np.iinfo(bits).max, COUNT, bits, endpoint=True).view(dtype)
    ordinary = rng.standard_normal(COUNT) * rng.choice([0.01, 0.3, 1.0, 10.0, 100.0], COUNT)
    unit = rng.uniform(-1, 1, COUNT)
    near_one = rng.choice([-1.0, 1.0], COUNT) + rng.uniform(-1e-3, 1e-3, COUNT)
    quadrants = np.arange(-9999, 9999) * (np.pi / 2)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e-40, 88.72284, 88.7229, -103.97, -104.0,
               709.782, 709.79, 710.47, 710.48, -745.13, -745.14, 1e300, -1e300, 3e38,
               np.pi, 2.0**30, 2.0**31, 1e22]  # fmt: skip
    with np.errstate(over="ignore"):
        parts = [np.asarray(part).astype(dtype) for part in (ordinary, unit, near_one, quadrants, special)]
    return np.concatenate([everywhere, *parts])


def errors(got: Array, exact: Array) -> Array:
    """In units in the last place of the rounded exact result; infinite where NaN or infinities differ."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(got.dtype)
        regular = np.isfinite(rounded) & np.isfinite(got)
        step = np.spacing(np.abs(np.where(regular, rounded, 1))).astype(exact.dtype)
        same = (np.isnan(rounded) & np.isnan(got)) | (rounded == got)
        return np.where(regular, np.abs(got.astype(exact.dtype) - exact) / step, np.where(same, 0.0, np.inf))


def assert_close(op: str, got: Array, exact: Array, *operands: Array) -> None:
    found = errors(got, exact)
    worst = int(np.argmax(found))
    bound = BOUNDS[got.dtype.name].get(op, GENERAL[got.dtype.name])
    assert found[worst] <= bound, (op, found[worst], [x[worst] for x in operands], got[worst], exact[worst])


@pytest.mark.parametrize("op", sorted(NUMPY))
def test_float32(op: str) -> None:
    print("seed", SEED)
    x = samples(np.dtype(np.float32), np.random.default_rng(SEED))
    with np.errstate(all="ignore"):
        exact = NUMPY[op](x.astype(np.float64))
    assert_close(op, apply(op, x), exact, x)


@needs_long_double
@pytest.mark.parametrize("op", sorted(NUMPY))
def test_float64(op: str) -> None:
    print("seed", SEED)
    x = samples(np.dtype(np.float64), np.random.default_rng(SEED))
    with np.errstate(all="ignore"):
        exact = NUMPY[op](x.astype(np.longdouble))
    assert_close(op, apply(op, x), exact, x)


def pairs(dtype: np.dtype[Any], rng: np.random.Generator) -> tuple[Array, Array]:
    """Operands of pow and atan2: any, of ordinary size, near 1 with large exponents, and all special ones."""
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e30, 1e-30]
    )
    columns = np.stack(np.meshgrid(special, special), -1).reshape(-1, 2)
    x = np.concatenate([np.abs(rng.standard_normal(COUNT)) * 10.0 ** rng.integers(-3, 4, COUNT),
                        1 + rng.standard_normal(COUNT) * 1e-3, columns[:, 0]])  # fmt: skip
    y = np.concatenate([rng.standard_normal(COUNT) * 10.0 ** rng.integers(-2, 3, COUNT),
                        rng.standard_normal(COUNT) * 1e4, columns[:, 1]])  # fmt: skip
    any_x = samples(dtype, rng)
    return np.concatenate([any_x, x.astype(dtype)]), np.concatenate([rng.permutation(any_x), y.astype(dtype)])


@pytest.mark.parametrize("op", ["pow", "atan2"])
@pytest.mark.parametrize("dtype", [np.float32, pytest.param(np.float64, marks=needs_long_double)])
def test_two_arguments(op: str, dtype: type) -> None:
    print("seed", SEED)
    x, y = pairs(np.dtype(dtype), np.random.default_rng(SEED))
    wide = np.float64 if dtype is np.float32 else np.longdouble
    function = np.power if op == "pow" else np.arctan2
    with np.errstate(all="ignore"):
        exact = function(x.astype(wide), y.astype(wide))
    found = errors(apply(op, x, y), exact)
    worst = int(np.argmax(found))
    assert found[worst] <= (1.0 if dtype is np.float32 else 2.0), (x[worst], y[worst], found[worst])


@functools.cache
def exact_value(op: str, x: float) -> float:
    """By mpmath, to 40 digits, rounded to double."""
    with mpmath.workdps(40):
        functions = {"erf": mpmath.erf, "erfc": mpmath.erfc, "erfinv": mpmath.erfinv, "digamma": mpmath.digamma,
                     "lgamma": lambda value: mpmath.log(abs(mpmath.gamma(value)))}  # fmt: skip
        return float(functions[op](mpmath.mpf(x)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("op", "low", "high", "bound"), [("erf", -6, 6, 1.5), ("erfc", -6, 27, 2),
                                                          ("erfinv", -0.99, 0.99, 4),
                                                          ("lgamma", 0.1, 99, 8), ("digamma", 2, 99, 12)])  # fmt: skip
def test_special_functions(op: str, low: float, high: float, bound: float, dtype: type) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    x = np.concatenate([rng.uniform(low, high, 400), rng.uniform(max(low, -1), min(high, 4), 400)]).astype(
        dtype
    )
    exact = np.array([exact_value(op, float(value)) for value in x])
    with np.errstate(divide="ignore"):
        scale = np.maximum(np.abs(exact), 0.1 if op in {"lgamma", "digamma"} else 0.0)
    step = np.spacing(scale.astype(dtype)).astype(np.float64)
    found = np.abs(apply(op, x).astype(np.float64) - exact) / step
    assert found.max() <= bound, (x[np.argmax(found)], found.max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_functions_at_their_ends(dtype: type) -> None:
    inf, nan = np.inf, np.nan
    expected = {
        "erf": ([inf, -inf, nan, 0.0], [1, -1, nan, 0]),
        "erfc": ([inf, -inf, nan, 0.0, 30.0, -30.0], [0, 2, nan, 1, 0, 2]),
        "erfinv": ([1, -1, nan, 1.5, 0.0], [inf, -inf, nan, nan, 0]),
        "sigmoid": ([inf, -inf, nan, 0.0, -0.0, -1e30, 1e30], [1, 0, nan, 0.5, 0.5, 0, 1]),
        "exp2": ([inf, -inf, nan, 0.0, -3.0, 10.0], [inf, 0, nan, 1, 0.125, 1024]),
        "log2": ([inf, -inf, nan, 0.0, -0.0, 0.125, 1024.0, 1.0], [inf, nan, nan, -inf, -inf, -3, 10, 0]),
        "log10": ([inf, -1.0, nan, 0.0, 1000.0, 1e10, 1.0], [inf, nan, nan, -inf, 3, 10, 0]),
        "lgamma": ([0.0, -1.0, -7.0, inf, -inf, nan, 1.0, 2.0], [inf, inf, inf, inf, inf, nan, 0, 0]),
        "digamma": ([0.0, -0.0, -1.0, inf, -inf, nan], [-inf, inf, nan, inf, nan, nan]),
    }
    for op, (x, y) in expected.items():
        np.testing.assert_array_equal(apply(op, np.array(x, dtype)), np.array(y, dtype), op)


@pytest.mark.parametrize("x", [1e22, 1e300, 2.0**1023, 6381956970095103 * 2.0**797, 2.0**30 * 1.5, -3e200])
def test_huge_angles(x: float) -> None:
    """The third last is the double nearest to a multiple of pi/2."""
    with mpmath.workdps(700):
        exact = [float(function(mpmath.mpf(x))) for function in (mpmath.sin, mpmath.cos, mpmath.tan)]
    got = [float(apply(op, np.array([x]))[0]) for op in ("sin", "cos", "tan")]
    np.testing.assert_allclose(got, exact, rtol=4e-16)


@pytest.mark.parametrize("x", [1e10, 3.4e38, 16367173.0 * 2.0**72])
def test_huge_angles_float32(x: float) -> None:
    value = np.float32(x)
    with mpmath.workdps(100):
        exact = [
            float(function(mpmath.mpf(float(value)))) for function in (mpmath.sin, mpmath.cos, mpmath.tan)
        ]
    got = [float(apply(op, np.array([value]))[0]) for op in ("sin", "cos", "tan")]
    np.testing.assert_allclose(got, exact, rtol=1.2e-7)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("op", sorted(UNARY))
def test_single_numbers(op: str, dtype: type) -> None:
    """A number by itself has the value it has among others."""
    x = np.array([0.3, 0.9, -0.4, 2.5, 7.0, -0.0, 1e4, np.inf, -np.inf, np.nan], np.float64).astype(dtype)
    alone = [apply(op, x[i : i + 1].reshape(())) for i in range(len(x))]
    close = {"rtol": 4 * np.finfo(dtype).eps, "atol": 64 * np.finfo(dtype).eps if op == "digamma" else 0}
    np.testing.assert_allclose(np.array(alone, dtype), apply(op, x), **close)


def test_half_precision_rounds_once() -> None:
    """A result of float16 is that of float32 rounded; all 65536 operands."""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        wide = apply("exp", x.astype(np.float32))
        expected = wide.astype(np.float16)
    np.testing.assert_array_equal(apply("exp", x), expected)
    assert dtypes.from_numpy_dtype(x.dtype) is dtypes.float16
