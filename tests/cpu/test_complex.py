"""Functions of complex numbers in generated kernels, against mpmath's 40 digits and ISO C's values at infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from raxis import dtypes
from raxis_cpu.llvm.math.complex_functions import FUNCTIONS
from tests.cpu.kernels import Array, edge_values, elementwise, random_values, run

SEED = 20261130
EXACT: dict[str, Callable[..., Any]] = {
    "exp": mpmath.exp,
    "expm1": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log,
    "log1p": lambda z: mpmath.log(1 + z),
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "sign": lambda z: z / abs(z) if z else z,
    "pow": lambda z, w: z**w,
    **{name: getattr(mpmath, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(mpmath, name) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
}
POLES = {"log": [0], "log1p": [-1], "rsqrt": [0], "atanh": [1, -1], "atan": [1j, -1j]}


def apply(op: str, *operands: Array) -> Array:
    result = np.empty_like(operands[0])
    run(elementwise(op, operands, result), [*operands, result])
    return result


def samples(dtype: dtypes.DType) -> Array:
    """Ordinary numbers, and awkward ones that do not overflow; off the branch cuts, where zeros have signs."""
    rng = np.random.default_rng(SEED)
    edges = edge_values(dtype)
    edges = edges[np.abs(edges) < 600]
    on_axes = (edges.real == 0) | (edges.imag == 0)
    return np.concatenate([random_values(dtype, (300,), rng), edges[~on_axes]])


def errors(op: str, got: Array, *operands: Array) -> Array:
    """Relative to the modulus, in units of the format."""
    unit = np.finfo(got.real.dtype).eps
    with mpmath.workdps(40):
        exact = [
            EXACT[op](*(mpmath.mpmathify(complex(v)) for v in values))
            for values in zip(*operands, strict=True)
        ]
        return np.array(
            [
                float(abs(mpmath.mpmathify(complex(g)) - e) / max(abs(e), 1e-300)) / unit
                for g, e in zip(got, exact, strict=True)
            ]
        )


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("op", sorted(set(EXACT) - {"pow"}))
def test_one_operand(op: str, dtype: dtypes.DType) -> None:
    print("seed", SEED)
    z = samples(dtype)
    found = errors(op, apply(op, z), z)
    assert found.max() <= 6, (z[found.argmax()], found.max())


@pytest.mark.parametrize("dtype", [dtypes.complex64, dtypes.complex128], ids=lambda dtype: dtype.name)
def test_power(dtype: dtypes.DType) -> None:
    """The error grows with the exponent of the result; complex64 is computed in double."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    z, w = random_values(dtype, (500,), rng), random_values(dtype, (500,), rng)
    z, w = z / np.abs(z) * rng.uniform(0.1, 3, 500).astype(z.real.dtype), w / 8
    found = errors("pow", apply("pow", z, w), z, w)
    assert found.max() <= (2 if dtype is dtypes.complex64 else 30), (z[found.argmax()], found.max())


def test_power_of_zero() -> None:
    z = np.zeros(3, np.complex128)
    w = np.array([0, 2 + 1j, -1], np.complex128)
    got = apply("pow", z, w)
    np.testing.assert_array_equal(got[:2], [1, 0])
    assert np.isnan(got[2])


@pytest.mark.parametrize("op", sorted(POLES))
def test_poles(op: str) -> None:
    got = apply(op, np.array(POLES[op], np.complex128))
    assert np.isinf(got.real).all() or np.isinf(got.imag).all() or np.isinf(np.abs(got)).all()


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("op", "z", "expected"),
    [
        ("exp", complex(-INF, INF), complex(0, 0)),
        ("exp", complex(INF, 0.0), complex(INF, 0.0)),
        ("exp", complex(NAN, 0.0), complex(NAN, 0.0)),
        ("exp", complex(709.5, 1.5), complex(np.cos(1.5), np.sin(1.5)) * np.exp(709.5)),
        ("sqrt", complex(-INF, 1.0), complex(0.0, INF)),
        ("sqrt", complex(INF, -1.0), complex(INF, -0.0)),
        ("sqrt", complex(NAN, INF), complex(INF, INF)),
        ("sqrt", complex(-4.0, -0.0), complex(0.0, -2.0)),
        ("sqrt", complex(1e308, 1e308), complex(1.09868411346781e154, 4.55089860562227e153)),
        ("log", complex(-INF, INF), complex(INF, 3 * np.pi / 4)),
        ("log", complex(-1.0, -0.0), complex(0.0, -np.pi)),
        ("tanh", complex(INF, 1.0), complex(1.0, 0.0)),
        ("sinh", complex(INF, 0.0), complex(INF, 0.0)),
        ("cosh", complex(INF, 0.0), complex(INF, 0.0)),
        ("sign", complex(0.0, 0.0), complex(0.0, 0.0)),
    ],
)
def test_values_at_the_ends(op: str, z: complex, expected: complex) -> None:
    got = apply(op, np.array([z]))[0]
    for found, value in ((got.real, expected.real), (got.imag, expected.imag)):
        np.testing.assert_allclose(found, value, rtol=1e-14)
        assert np.isnan(value) or np.signbit(found) == np.signbit(value)


@pytest.mark.parametrize("size", [0, 1, 7, 33])
def test_lengths_and_strides(size: int) -> None:
    z = random_values(dtypes.complex64, (2 * size,), np.random.default_rng(SEED))[::2]
    np.testing.assert_allclose(apply("exp", z), np.exp(z.astype(np.complex128)), rtol=1e-6)


def test_all_functions_are_tested() -> None:
    assert set(EXACT) == set(FUNCTIONS)
