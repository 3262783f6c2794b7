"""Products in half precision: every kernel and arrangement against float64 products of the same operands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import raxis
from raxis import dtypes
from raxis.dtypes import DType
from raxis_cpu.library import half_products
from raxis_cpu.library.amx import has_amx
from raxis_cpu.llvm.compile import host
from raxis_cpu.threads import get_num_threads, set_num_threads
from tests.cpu.test_gemm import product, run
from tests.ptir.harness import Placed

HALVES = [dtypes.float16, dtypes.bfloat16]
needs_amx = pytest.mark.skipif(not has_amx(), reason="needs a processor and a system with AMX")
BLOCKS = [
    pytest.param("floats", dtypes.float16, id="blocks of float16"),
    pytest.param("floats", dtypes.bfloat16, id="blocks of bfloat16"),
    pytest.param("tiles", dtypes.bfloat16, id="tiles of bfloat16", marks=needs_amx),
]
KERNELS = [
    pytest.param("few", dtypes.float16, id="few rows of float16"),
    pytest.param("few", dtypes.bfloat16, id="few rows of bfloat16"),
    *BLOCKS,
]


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Leaves one kernel of them."""

    def choose(kernel: str) -> None:
        monkeypatch.setattr(half_products, "has_amx", lambda: kernel == "tiles")
        monkeypatch.setattr(half_products, "_FEWEST_FOR_TILES", 0)
        if kernel == "few":
            monkeypatch.setattr("raxis_cpu.library.few_rows.SMALLEST", 0)
            monkeypatch.setattr(half_products, "_packed_product", _refused)
        else:
            monkeypatch.setattr(half_products, "product_of_few_rows", lambda *_: None)

    return choose


def _refused(*_: object, **__: object) -> None:
    raise AssertionError("the product should be one of few rows.")


def values(shape: tuple[int, ...], rng: np.random.Generator, dtype: DType) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype.numpy)


def close(found: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """One rounding of the result, and those of float32 sums in any order."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    unit = 2.0**-11 if found.dtype == np.float16 else 2.0**-8
    exact = x @ y
    sums = (x.shape[-1] + 2) * 2.0**-24 * (np.abs(x) @ np.abs(y))
    assert (np.abs(found.astype(np.float64) - exact) <= unit * np.abs(exact) * 1.001 + sums).all()


def check(
    m: int, k: int, n: int, rng: np.random.Generator, dtype: DType,
    strides: tuple[tuple[int, int], tuple[int, int], tuple[int, int]] | None = None,
) -> None:  # fmt: skip
    own = strides or ((k, 1), (1, k), (n, 1))
    x, y = Placed(values((m, k), rng, dtype), own[0], 2), Placed(values((k, n), rng, dtype), own[1], 1)
    out = Placed(np.full((m, n), np.nan, dtype.numpy), own[2], 3)
    between = out.buffer.copy()
    found = run(product((m, k), (k, n), dtype=dtype), x, y, out)
    assert found is not None
    close(found, x.view, y.view)
    out.view[...] = np.nan
    np.testing.assert_array_equal(out.buffer, between)  # nothing else was written


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("k", [2, 7, 16, 31, 33, 64, 95])
def test_few_rows(m: int, k: int, dtype: DType, only, rng: np.random.Generator) -> None:
    only("few")
    for n in (24, 33, 70):
        check(m, k, n, rng, dtype)
        check(n, k, m, rng, dtype)
        check(m, k, n, rng, dtype, ((k + 3, 1), (1, k + 2), (1, m + 3)))


@pytest.mark.parametrize(("kernel", "dtype"), BLOCKS)
@pytest.mark.parametrize("left", ["rows", "columns"])
@pytest.mark.parametrize("right", ["rows", "columns"])
@pytest.mark.parametrize("result", ["rows", "columns"])
def test_arrangements(kernel: str, dtype: DType, left, right, result, only, rng: np.random.Generator) -> None:
    only(kernel)
    m, k, n = 37, 45, 70
    for far in (0, 3):
        strides = (
            (k + far, 1) if left == "rows" else (1, m + far),
            (n + far, 1) if right == "rows" else (1, k + far),
            (n + far, 1) if result == "rows" else (1, m + far),
        )
        check(m, k, n, rng, dtype, strides)


@pytest.mark.parametrize(("kernel", "dtype"), BLOCKS)
@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (2, 3, 5), (32, 32, 32), (33, 31, 65), (64, 700, 40), (140, 33, 130), (5, 2100, 7)]
)
def test_sizes(
    kernel: str, dtype: DType, sizes: tuple[int, int, int], only, rng: np.random.Generator
) -> None:
    only(kernel)
    m, k, n = sizes
    check(m, k, n, rng, dtype)
    check(m, k, n, rng, dtype, ((1, m), (n, 1), (n, 1)))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("m", [1, 2, 4])
def test_few_rows_with_a_matrix_that_lies_row_by_row(
    m: int, dtype: DType, only, rng: np.random.Generator
) -> None:
    if not host().has_masks:
        pytest.skip("needs registers that are loaded in part")
    only("few")
    for k, n in ((1, 64), (9, 33), (40, 200), (13, 31)):
        check(m, k, n, rng, dtype, ((k, 1), (n, 1), (n, 1)))
        check(m, k, n, rng, dtype, ((1, m + 1), (n + 3, 1), (n + 2, 1)))


@pytest.mark.parametrize(("kernel", "dtype"), BLOCKS)
def test_blocks_of_every_dimension(
    kernel: str, dtype: DType, only, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(kernel)
    monkeypatch.setattr(half_products, "_LEFT_BYTES", 1 << 14)
    monkeypatch.setattr(half_products, "_SUMS_BYTES", 1 << 14)
    monkeypatch.setattr(half_products, "_FLOAT_DEPTH", 64)
    monkeypatch.setattr(half_products, "_TILES_DEPTH", 64)
    check(150, 210, 140, rng, dtype)
    check(150, 210, 140, rng, dtype, ((1, 150), (140, 1), (140, 1)))


@pytest.mark.parametrize(("kernel", "dtype"), KERNELS)
@pytest.mark.parametrize("threads", [1, 3])
def test_threads(kernel: str, dtype: DType, threads: int, only, rng: np.random.Generator) -> None:
    only(kernel)
    before = get_num_threads()
    set_num_threads(threads)
    try:
        check(3, 300, 1000, rng, dtype)
        if kernel != "few":
            check(200, 300, 250, rng, dtype)
    finally:
        set_num_threads(before)


@pytest.mark.parametrize(("kernel", "dtype"), KERNELS)
def test_stacks(kernel: str, dtype: DType, only, rng: np.random.Generator) -> None:
    only(kernel)
    x, y = values((3, 2, 9), rng, dtype), values((3, 50, 9), rng, dtype)
    program = product((3, 2, 9), (3, 50, 9), 1, dtype, lhs_contract=(2,), rhs_contract=(2,))
    found = run(program, Placed(x), Placed(y), Placed(np.empty((3, 2, 50), dtype.numpy)))
    assert found is not None
    for one, left, right in zip(found, x, y, strict=True):
        close(one, left, right.T)


@pytest.mark.parametrize(("kernel", "dtype"), KERNELS)
def test_what_is_not_finite(kernel: str, dtype: DType, only, rng: np.random.Generator) -> None:
    only(kernel)
    x, y = values((2, 45), rng, dtype), values((40, 45), rng, dtype)
    x[0, 3], y[5, 44], y[7, 0] = np.nan, np.inf, -np.inf
    x[1, 0], x[1, 44] = 1.0, 2.0
    program = product((2, 45), (40, 45), lhs_contract=(1,), rhs_contract=(1,), dtype=dtype)
    found = run(program, Placed(x), Placed(y), Placed(np.empty((2, 40), dtype.numpy)))
    assert found is not None
    found = found.astype(np.float32)
    assert np.isnan(found[0]).all()
    assert found[1, 5] == np.inf
    assert found[1, 7] == -np.inf
    assert np.isfinite(np.delete(found[1], [5, 7])).all()


@pytest.mark.parametrize(("kernel", "dtype"), KERNELS)
def test_sums_between_two_numbers_become_the_even_one(kernel: str, dtype: DType, only) -> None:
    only(kernel)
    unit = 2.0**-10 if dtype is dtypes.float16 else 2.0**-7
    x, y = np.zeros((2, 3), dtype.numpy), np.zeros((3, 40), dtype.numpy)
    x[0], x[1], y[:] = (1, unit / 2, 0), (1, unit / 2, unit), 1
    found = run(product((2, 3), (3, 40), dtype=dtype), Placed(x), Placed(y, (1, 3)),
                Placed(np.empty((2, 40), dtype.numpy)))  # fmt: skip
    assert found is not None
    assert found.astype(np.float64).tolist() == [[1.0] * 40, [1 + 2 * unit] * 40]


@pytest.mark.parametrize("kernel", ["few", "floats"])
def test_the_range_of_float16(kernel: str, only) -> None:
    only(kernel)
    x = np.full((2, 64), 200.0, np.float16)
    y = np.full((64, 40), 200.0, np.float16)
    y[:, 1], y[:, 2] = 200.0 / 64, 2.0**-24  # the smallest subnormal number
    x[1] = 2.0**-6
    found = run(product((2, 64), (64, 40), dtype=dtypes.float16), Placed(x), Placed(y, (1, 64)),
                Placed(np.empty((2, 40), np.float16)))  # fmt: skip
    assert found is not None
    assert found[0, 0] == np.inf
    assert found[0, 1] == 40000
    assert found[1, 2] == 2.0**-24


@pytest.mark.parametrize("kernel", ["few", "floats", pytest.param("tiles", marks=needs_amx)])
def test_subnormal_bfloat16(kernel: str, only) -> None:
    only(kernel)
    dtype = dtypes.bfloat16
    x = np.full((2, 4), 2.0**-70, dtype.numpy)
    y = np.full((4, 40), 2.0**-62, dtype.numpy)
    x[1], y[:, 1] = 2.0**-130, 1.0
    found = run(product((2, 4), (4, 40), dtype=dtype), Placed(x), Placed(y, (1, 4)),
                Placed(np.empty((2, 40), dtype.numpy)))  # fmt: skip
    assert found is not None
    exact = x.astype(np.float64) @ y.astype(np.float64)
    exact[exact < 2.0**-149] = 0
    if kernel == "tiles":
        assert (np.abs(found.astype(np.float64) - exact) < 4 * 2.0**-126).all()
    else:
        np.testing.assert_array_equal(found.astype(np.float64), exact)


# ---- through tensors --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.name)
def test_views_that_no_kernel_reads(dtype: DType) -> None:
    raxis.manual_seed(0)
    x, y = raxis.randn(6, 40, 10).to(dtype)[::2, ::3, ::2], raxis.randn(3, 5, 14).to(dtype)
    for left, right in ((y, x), (x.transpose(1, 2), y.transpose(1, 2)), (y[:, :1].expand(3, 4, 14), x)):
        found = (left @ right).float().numpy()
        exact = left.double().numpy() @ right.double().numpy()
        np.testing.assert_allclose(found, exact, rtol=2.0**-8, atol=1e-5)


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.name)
def test_nothing_to_add_up(dtype: DType) -> None:
    assert (raxis.ones(3, 0, dtype=dtype) @ raxis.ones(0, 4, dtype=dtype)).tolist() == [[0.0] * 4] * 3
    assert (raxis.ones(0, 3, dtype=dtype) @ raxis.ones(3, 4, dtype=dtype)).shape == (0, 4)


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.name)
def test_compiled_programs_with_casts_around(dtype: DType) -> None:
    def layer(x: raxis.Tensor, weight: raxis.Tensor) -> raxis.Tensor:
        return (raxis.relu(x).to(dtype) @ weight.to(dtype).t()).float().sum(1) + x[:, 0]

    raxis.manual_seed(0)
    x, weight = raxis.randn(9, 70), raxis.randn(50, 70)
    found, expected = raxis.compile(layer)(x, weight), layer(x, weight)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-4)
    halves = [item.to(dtype).double().numpy() for item in (raxis.relu(x), weight)]
    exact = (halves[0] @ halves[1].T).sum(1) + x[:, 0].double().numpy()
    np.testing.assert_allclose(found.numpy(), exact, rtol=0.02, atol=0.5)


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: dtype.name)
def test_gradients(dtype: DType) -> None:
    raxis.manual_seed(0)
    x = raxis.randn(30, 40).to(dtype).requires_grad_()
    y = raxis.randn(40, 20).to(dtype).requires_grad_()
    (x @ y).sum().backward()
    assert x.grad is not None
    assert y.grad is not None
    rows = y.detach().double().numpy().sum(1)
    np.testing.assert_allclose(x.grad.double().numpy(), np.tile(rows, (30, 1)), rtol=2.0**-8, atol=1e-5)
    columns = x.detach().double().numpy().sum(0)
    np.testing.assert_allclose(
        y.grad.double().numpy(), np.tile(columns[:, None], 20), rtol=2.0**-8, atol=1e-5
    )
