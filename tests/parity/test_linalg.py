"""Linear algebra against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity import opinfo

pytestmark = pytest.mark.filterwarnings("ignore:An output with one or more elements was resized:UserWarning")


NAMES = [
    "cholesky", "cholesky_inverse", "cholesky_solve", "geqrf", "linalg.cholesky", "linalg.cholesky_ex",
    "linalg.cond", "linalg.det", "linalg.diagonal", "linalg.eig", "linalg.eigh", "linalg.eigvals",
    "linalg.eigvalsh", "linalg.householder_product", "linalg.inv", "linalg.inv_ex", "linalg.lstsq",
    "linalg.lu", "linalg.lu_factor", "linalg.lu_factor_ex", "linalg.lu_solve", "linalg.matrix_power",
    "linalg.matrix_rank", "linalg.pinv", "linalg.qr", "linalg.slogdet", "linalg.solve", "linalg.solve_ex",
    "linalg.solve_triangular", "linalg.svd", "linalg.svdvals", "linalg.tensorinv", "linalg.tensorsolve",
    "linalg.vander", "logdet", "lu", "lu_solve", "lu_unpack", "matrix_exp", "ormqr", "pca_lowrank",
    "pinverse", "qr", "svd", "svd_lowrank", "triangular_solve",
]  # fmt: skip

CASES = opinfo.cases(*NAMES, limit=8)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("shape", [(5, 5), (2, 4, 3), (3, 7), (2, 0, 3), (0, 3, 3), (70, 50)])
def test_decompositions_multiply_to_the_matrix(
    dtype: Any, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    x = _random(shape, dtype, rng)
    a = raxis.from_numpy(x)
    tolerance = 1e-3 if x.real.dtype == np.float32 else 1e-10
    for full in (False, True):
        u, s, vh = raxis.linalg.svd(a, full_matrices=full)
        inner = s.shape[-1]
        product = (u[..., :inner] * s.unsqueeze(-2).to(u.dtype)) @ vh[..., :inner, :]
        np.testing.assert_allclose(product.numpy(), x, atol=tolerance)
        _assert_orthonormal(u, tolerance)
        _assert_orthonormal(vh.mT.conj(), tolerance)
        q, r = raxis.linalg.qr(a, "complete" if full else "reduced")
        np.testing.assert_allclose((q @ r).numpy(), x, atol=tolerance)
        _assert_orthonormal(q, tolerance)
    p, lower, upper = raxis.linalg.lu(a)
    np.testing.assert_allclose((p @ lower @ upper).numpy(), x, atol=tolerance)
    assert not lower.triu(1).any()
    assert not upper.tril(-1).any()


def _random(shape: tuple[int, ...], dtype: Any, rng: np.random.Generator) -> Any:
    parts = rng.standard_normal((2, *shape))
    return (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]).astype(dtype)


def _assert_orthonormal(columns: Any, tolerance: float) -> None:
    product = (columns.mT.conj() @ columns).numpy()
    np.testing.assert_allclose(
        product, np.broadcast_to(np.eye(product.shape[-1]), product.shape), atol=tolerance
    )


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_eigenvectors(dtype: Any, rng: np.random.Generator) -> None:
    x = _random((2, 6, 6), dtype, rng)
    values, vectors = raxis.linalg.eig(raxis.from_numpy(x))
    residual = x.astype(np.complex128) @ vectors.numpy() - vectors.numpy() * values.numpy()[:, None]
    np.testing.assert_allclose(residual, np.zeros((2, 6, 6)), atol=1e-10)
    hermitian = x + x.conj().swapaxes(-2, -1)
    for uplo, read in (("L", np.tril(hermitian)), ("U", np.triu(hermitian))):
        found = raxis.linalg.eigh(raxis.from_numpy(read), uplo)
        product = found.eigenvectors * found.eigenvalues.unsqueeze(-2) @ found.eigenvectors.mT.conj()
        np.testing.assert_allclose(product.numpy(), hermitian, atol=1e-10)
        assert (found.eigenvalues.diff() >= 0).all()


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 33, 100])
def test_lu_of_any_size(size: int, rng: np.random.Generator) -> None:
    x = rng.standard_normal((2, size, size))
    theirs = torch.linalg.lu_factor(torch.from_numpy(x))
    ours = raxis.linalg.lu_factor(raxis.from_numpy(x))
    assert ours.pivots.tolist() == theirs.pivots.tolist()
    np.testing.assert_allclose(ours.LU.numpy(), theirs.LU.numpy(), atol=1e-10)
    for upper in (False, True):
        triangular = raxis.from_numpy(x + 5 * np.eye(size))
        found = raxis.linalg.solve_triangular(
            triangular, raxis.ones(2, size, 3, dtype=raxis.float64), upper=upper
        )
        whole = triangular.triu() if upper else triangular.tril()
        np.testing.assert_allclose((whole @ found).numpy(), np.ones((2, size, 3)), atol=1e-8)


def test_singular_matrices_are_named() -> None:
    stack = raxis.stack([raxis.eye(2), raxis.tensor([[1.0, 2.0], [2.0, 4.0]])])
    with pytest.raises(
        raxis.linalg.LinAlgError, match=r"linalg.inv: \(Batch element 1\): The diagonal element 2"
    ):
        raxis.linalg.inv(stack)
    with pytest.raises(RuntimeError, match="solver failed because the input matrix is singular"):
        raxis.linalg.solve(stack[1], raxis.ones(2))
    with pytest.raises(raxis.linalg.LinAlgError, match="leading minor of order 2"):
        raxis.linalg.cholesky(raxis.tensor([[1.0, 2.0], [2.0, 1.0]]))
    assert raxis.linalg.inv_ex(stack).info.tolist() == [0, 2]
    assert raxis.linalg.det(stack).tolist() == [1.0, 0.0]
    assert raxis.linalg.cond(stack, 1).tolist() == [1.0, float("inf")]


@pytest.mark.parametrize("function", ["svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals"])
def test_nan_does_not_converge(function: str) -> None:
    matrix = raxis.full((3, 3), float("nan"))
    with pytest.raises(raxis.linalg.LinAlgError, match="failed to converge"):
        getattr(raxis.linalg, function)(matrix)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 5, 5), (4, 4)])
@pytest.mark.parametrize("rank", [0, 2, 4])
def test_least_squares_of_any_rank(
    shape: tuple[int, ...], rank: int, dtype: Any, rng: np.random.Generator
) -> None:
    *batch, rows, columns = shape
    a = _random((*batch, rows, rank), dtype, rng) @ _random((*batch, rank, columns), dtype, rng)
    b = _random((*batch, rows, 2), dtype, rng)
    if batch:
        a[1] = _random((rows, columns), dtype, rng)
    weights = _random((*batch, columns, 2), dtype, rng)
    ours = [raxis.from_numpy(x).requires_grad_() for x in (a, b)]
    theirs = [torch.from_numpy(x.copy()).requires_grad_() for x in (a, b)]
    found, expected = raxis.linalg.lstsq(*ours), torch.linalg.lstsq(*theirs)
    assert found.rank.tolist() == expected.rank.tolist()
    np.testing.assert_allclose(
        found.solution.detach().numpy(), expected.solution.detach().numpy(), atol=1e-10
    )
    (found.solution * raxis.from_numpy(weights)).abs().sum().backward()
    (expected.solution * torch.from_numpy(weights)).abs().sum().backward()
    for own, other in zip(ours, theirs, strict=True):
        assert own.grad is not None
        assert other.grad is not None
        np.testing.assert_allclose(own.grad.numpy(), other.grad.numpy(), atol=1e-8)


def test_least_squares_in_a_program(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((6, 4)), rng.standard_normal((6, 2))
    compiled = raxis.compile(lambda *operands: raxis.linalg.lstsq(*operands).solution)
    for factor in (a, a[:, [0, 1, 1, 2]]):
        found = compiled(raxis.from_numpy(factor.copy()), raxis.from_numpy(b))
        np.testing.assert_allclose(found.numpy(), np.linalg.lstsq(factor, b)[0], atol=1e-10)


def test_least_squares_without_right_sides() -> None:
    assert raxis.linalg.lstsq(raxis.eye(3), raxis.empty(3, 0)).solution.shape == (3, 0)


def test_where_a_nan_ends_a_factorization() -> None:
    matrix = np.eye(5)
    matrix[3, 3] = np.nan
    assert raxis.linalg.cholesky_ex(raxis.from_numpy(matrix)).info.item() == 4


def test_gradient_of_the_determinant_of_a_singular_matrix() -> None:
    x = raxis.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=raxis.float64, requires_grad=True)
    raxis.linalg.det(x).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), [[4.0, -2.0], [-2.0, 1.0]])


def test_meta() -> None:
    x = raxis.empty(2, 3, 3, device="meta")
    assert raxis.linalg.inv(x).shape == (2, 3, 3)
    assert raxis.linalg.svd(x).S.shape == (2, 3)
    assert raxis.linalg.solve(x, x).shape == (2, 3, 3)


def test_named_results() -> None:
    x = raxis.eye(2)
    assert type(raxis.linalg.qr(x)).__name__ == "linalg_qr"
    assert raxis.linalg.slogdet(x)._fields == ("sign", "logabsdet")
    assert type(raxis.linalg.eigh(x)) is raxis.return_types.linalg_eigh
    assert type(raxis.svd(x)) is raxis.return_types.svd
    assert raxis.svd(x)._fields == ("U", "S", "V")
