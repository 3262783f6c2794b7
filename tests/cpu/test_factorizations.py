"""Factorizations and triangular systems, small ones and those by LAPACK, against the reference backend's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from raxis import dtypes
from raxis.backends.reference.kernels import KERNELS
from raxis.ptir import TensorType
from raxis.testing.factorizations import CHECKS
from raxis_cpu import blas
from tests.cpu.kernels import instruction_of, run_routine

DTYPES = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def _random(shape: tuple[int, ...], dtype: dtypes.DType, rng: np.random.Generator) -> np.ndarray:
    made = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype.is_complex else 0)
    return np.asarray(made).astype(dtype.numpy)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shape",
    [(40, 40), (2, 37, 70), (3, 50, 33), (2, 7, 5), (3, 2, 5, 9), (5, 3, 3), (0, 3), (2, 0, 0), (1, 1)],
)
def test_lu(shape: tuple[int, ...], dtype: dtypes.DType, rng: np.random.Generator) -> None:
    instruction = instruction_of("lu", [TensorType(dtype, shape)])
    x = _random(shape, dtype, rng)
    tolerance = 1e-3 if dtype.to_real() is dtypes.float32 else 1e-10
    found, expected = run_routine(instruction, x), KERNELS["lu"](instruction)(x)
    np.testing.assert_allclose(found[0], expected[0], atol=tolerance)
    np.testing.assert_array_equal(found[1], expected[1])


def test_info_of_a_singular_matrix() -> None:
    instruction = instruction_of("lu", [TensorType(dtypes.float64, (2, 6, 6))])
    x = np.stack([np.eye(6), np.diag([1.0, 1.0, 0.0, 1.0, 0.0, 1.0])])
    assert run_routine(instruction, x)[2].tolist() == [0, 3]


@pytest.mark.parametrize(
    ("shape", "size"), [((6,), 6), ((4,), 6), ((2, 5), 5), ((7, 3), 4), ((0, 3), 3), ((0,), 2)]
)
def test_order_after_exchanges(shape: tuple[int, ...], size: int, rng: np.random.Generator) -> None:
    instruction = instruction_of("pivots_to_permutation", [TensorType(dtypes.int32, shape)], size=size)
    pivots = rng.integers(1, size + 1, shape, dtype=np.int32)
    orders = np.tile(np.arange(size), (*shape[:-1], 1))
    for place in np.ndindex(shape[:-1]):
        for row, other in enumerate(pivots[place]):
            orders[place][[row, other - 1]] = orders[place][[other - 1, row]]
    np.testing.assert_array_equal(run_routine(instruction, pivots)[0], orders)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(40, 40), (2, 3, 33, 33), (2, 5, 5), (0, 40, 40), (2, 0, 0), (0, 0)])
def test_cholesky(shape: tuple[int, ...], dtype: dtypes.DType, rng: np.random.Generator) -> None:
    half = _random(shape, dtype, rng)
    x = half @ half.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1], dtype=dtype.numpy)
    # What lies above the diagonal is not read.
    x = np.tril(x) + np.triu(np.full(shape, np.nan, dtype.numpy), 1)
    factor, info = run_routine(instruction_of("cholesky", [TensorType(dtype, shape)]), x)
    wanted = np.linalg.cholesky(np.tril(x).astype(np.result_type(x, np.float64)))
    np.testing.assert_allclose(factor, wanted, atol=1e-4 if dtype.to_real() is dtypes.float32 else 1e-12)
    assert not info.any()


@pytest.mark.parametrize("size", [6, 35])
@pytest.mark.parametrize("on_reference", [False, True])
def test_minors_that_are_not_positive(size: int, on_reference: bool) -> None:
    x = np.stack([np.eye(size)] * 5)
    x[1, 4, 4], x[2, 3, 3], x[3, 5, 2], x[4, 2, 2], x[4, 3, 3] = -1, np.nan, np.nan, 0, np.nan
    instruction = instruction_of("cholesky", [TensorType(dtypes.float64, x.shape)])
    factor, info = KERNELS["cholesky"](instruction)(x) if on_reference else run_routine(instruction, x)
    np.testing.assert_array_equal(factor[0], np.eye(size))
    np.testing.assert_array_equal(factor[1:], np.zeros((4, size, size)))
    assert info.tolist() == [0, 5, 4, 6, 3]


@pytest.mark.parametrize("size", [7, 40])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_operands_that_are_not_dense(size: int, dtype: dtypes.DType, rng: np.random.Generator) -> None:
    tolerance = 2e-3 if dtype.to_real() is dtypes.float32 else 1e-10
    turned = _random((2 * size, 3, size), dtype, rng).transpose(1, 2, 0)[..., ::2]
    one = np.broadcast_to(_random((size, size), dtype, rng) / 9 + np.eye(size), (3, size, size)).astype(
        dtype.numpy
    )
    one = np.broadcast_to(one[0], (3, size, size)).swapaxes(1, 2)
    for x in (turned, one):
        packed = run_routine(instruction_of("lu", [TensorType(dtype, x.shape)]), x)[0]
        expected = KERNELS["lu"](instruction_of("lu", [TensorType(dtype, x.shape)]))(np.ascontiguousarray(x))[
            0
        ]
        np.testing.assert_allclose(packed, expected, atol=tolerance)
    types = [TensorType(dtype, one.shape), TensorType(dtype, turned.shape)]
    (found,) = run_routine(instruction_of("triangular_solve", types, upper=True, unit=False), one, turned)
    np.testing.assert_allclose(np.triu(one) @ found, turned, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("columns", [3, 40])
@pytest.mark.parametrize("size", [20, 45])
def test_triangular_systems(
    size: int, columns: int, upper: bool, unit: bool, dtype: dtypes.DType, rng: np.random.Generator
) -> None:
    types = [TensorType(dtype, (2, size, size)), TensorType(dtype, (2, size, columns))]
    instruction = instruction_of("triangular_solve", types, upper=upper, unit=unit)
    a = _random((2, size, size), dtype, rng) / 10 + 3 * np.eye(size, dtype=dtype.numpy)
    b = _random((2, columns, size), dtype, rng).swapaxes(1, 2)
    (x,) = run_routine(instruction, a, b)
    triangle = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
    tolerance = 1e-3 if dtype.to_real() is dtypes.float32 else 1e-10
    np.testing.assert_allclose((triangle + unit * np.eye(size)) @ x, b, atol=tolerance)
    # Of a singular matrix, infinities as everywhere.
    a[0, 4, 4] = 0
    with np.errstate(all="ignore"):
        expected = KERNELS["triangular_solve"](instruction)(a, b)
    np.testing.assert_allclose(run_routine(instruction, a, b)[0], expected, rtol=1e-2, atol=tolerance)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
@pytest.mark.parametrize("shape", [(33, 33), (2, 64, 70), (130, 65), (3, 97, 40), (40, 300), (260, 257)])
def test_lu_by_panels(shape: tuple[int, ...], dtype: dtypes.DType, rng: np.random.Generator) -> None:
    """Against torch, whose LAPACK exchanges the same rows."""
    x = _random(shape, dtype, rng)
    packed, pivots, info = run_routine(instruction_of("lu", [TensorType(dtype, shape)]), x)
    expected = torch.linalg.lu_factor_ex(torch.from_numpy(x))
    np.testing.assert_array_equal(pivots, expected[1])
    assert not info.any()
    lower = np.tril(packed[..., : min(shape[-2:])], -1) + np.eye(shape[-2], min(shape[-2:]))
    product = lower @ np.triu(packed[..., : min(shape[-2:]), :]).astype(np.float64)
    exact = torch.linalg.lu(torch.from_numpy(x.astype(np.float64)))[0].numpy().swapaxes(-1, -2) @ x
    np.testing.assert_allclose(product, exact, rtol=0, atol=16 * shape[-1] * np.finfo(dtype.numpy).eps)


def test_singular_panels_and_nan(rng: np.random.Generator) -> None:
    x = _random((3, 70, 70), dtypes.float32, rng)
    x[0, :, 40] = 0
    x[1, 50, 3] = np.nan
    x[2] = 0
    found = run_routine(instruction_of("lu", [TensorType(dtypes.float32, x.shape)]), x)
    expected = torch.linalg.lu_factor_ex(torch.from_numpy(x))
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(expected[0].numpy()))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(33, 16), (64, 17), (65, 150), (230, 81), (96, 300)])
def test_systems_by_blocks(
    shape: tuple[int, int], turned: bool, upper: bool, dtype: dtypes.DType, rng: np.random.Generator
) -> None:
    size, _ = shape
    types = [TensorType(dtype, (2, size, size)), TensorType(dtype, (2, *shape))]
    instruction = instruction_of("triangular_solve", types, upper=upper, unit=False)
    a = _random((2, size, size), dtype, rng) / size + 3 * np.eye(size, dtype=dtype.numpy)
    a = a.swapaxes(1, 2) if turned else a
    b = _random((2, *shape), dtype, rng)
    (x,) = run_routine(instruction, a, b)
    exact = np.linalg.solve((np.triu(a) if upper else np.tril(a)).astype(np.float64), b.astype(np.float64))
    np.testing.assert_allclose(x, exact, rtol=0, atol=32 * np.finfo(dtype.numpy).eps * np.abs(exact).max())


@pytest.mark.parametrize(
    ("name", "count", "attributes"),
    [
        ("lu", 1, {}),
        ("cholesky", 1, {}),
        ("triangular_solve", 2, {"upper": True, "unit": False}),
        ("qr", 1, {"full": False}),
        ("qr_triangle", 1, {}),
        ("svd", 1, {"full": False}),
        ("svdvals", 1, {}),
        ("eigh", 1, {}),
        ("eigvalsh", 1, {}),
    ],
)
def test_without_lapack(
    name: str,
    count: int,
    attributes: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    rng: np.random.Generator,
) -> None:
    monkeypatch.setattr(blas, "numpy_blas", lambda: None)
    instruction = instruction_of(name, [TensorType(dtypes.float64, (40, 40))] * count, **attributes)
    half = rng.standard_normal((40, 40))
    operands = [half @ half.T + np.eye(40)] * count
    expected = KERNELS[name](instruction)(*operands)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for found, value in zip(run_routine(instruction, *operands), expected, strict=True):
        np.testing.assert_array_equal(found, value)


SHAPES = [(5, 3), (3, 5), (70, 40), (2, 33, 50), (20, 8, 8), (1, 1), (0, 3), (2, 3, 0), (0, 4, 4)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("name", ["qr", "svd"])
def test_decompositions(
    name: str, full: bool, shape: tuple[int, ...], dtype: dtypes.DType, rng: np.random.Generator
) -> None:
    x = _random((*shape[:-2], shape[-1], shape[-2]), dtype, rng).swapaxes(-1, -2)
    results = run_routine(instruction_of(name, [TensorType(dtype, shape)], full=full), x)
    CHECKS[name]([x], results, dtype, name)
    if name == "qr" and not full:
        (triangle,) = run_routine(instruction_of("qr_triangle", [TensorType(dtype, shape)]), x)
        _near(triangle, results[1], dtype)
    if name == "svd":
        (values,) = run_routine(instruction_of("svdvals", [TensorType(dtype, shape)]), x)
        for found in (values, results[1]):
            _near(found, np.linalg.svd(_wide(x), compute_uv=False), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (40, 40), (2, 2, 35, 35), (20, 8, 8), (1, 1), (0, 0), (0, 4, 4)])
def test_hermitian_eigenvalues(shape: tuple[int, ...], dtype: dtypes.DType, rng: np.random.Generator) -> None:
    half = _random(shape, dtype, rng)
    x = half + half.conj().swapaxes(-1, -2)
    # What lies above the diagonal is not read.
    lower = np.tril(x) + np.triu(np.full(shape, np.nan, dtype.numpy), 1)
    values, vectors = run_routine(instruction_of("eigh", [TensorType(dtype, shape)]), lower)
    CHECKS["eigh"]([x], [values, vectors], dtype, "eigh")
    (alone,) = run_routine(instruction_of("eigvalsh", [TensorType(dtype, shape)]), lower)
    for found in (values, alone):
        _near(found, np.linalg.eigvalsh(_wide(x)), dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("name", "attributes"), [("svd", {"full": False}), ("svdvals", {}), ("eigh", {}), ("eigvalsh", {})]
)
def test_decompositions_that_do_not_exist(name: str, attributes: dict[str, Any], dtype: dtypes.DType) -> None:
    """One matrix of NaN does not spoil the others of a stack."""
    x = np.stack([np.eye(6), np.full((6, 6), np.nan), 2 * np.eye(6)]).astype(dtype.numpy)
    results = run_routine(instruction_of(name, [TensorType(dtype, x.shape)], **attributes), x)
    values = results[1 if name == "svd" else 0]
    np.testing.assert_allclose(values[::2], np.repeat([[1.0], [2.0]], 6, axis=1), rtol=1e-5)
    assert np.isnan(values[1]).all()


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.result_type(x, np.float64))


def _near(found: np.ndarray, expected: np.ndarray, dtype: dtypes.DType) -> None:
    tolerance = 1e-3 if dtype.to_real() is dtypes.float32 else 1e-10
    np.testing.assert_allclose(found, expected, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eigvalsh"])
@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("place", [0, 5, 24])
def test_decompositions_of_infinities_end(name: str, number: float, place: int, dtype: dtypes.DType) -> None:
    matrices = np.stack([np.eye(5), np.eye(5)]).astype(dtype.numpy)
    matrices[1].reshape(-1)[place] = number
    attributes = {"full": False} if name == "svd" else {}
    instruction = instruction_of(name, [TensorType(dtype, matrices.shape)], **attributes)
    for result in run_routine(instruction, matrices):
        assert np.isfinite(result[0]).all()
        assert np.isnan(result[1]).all()
