"""Checks of results that are right without being unique: factors must multiply to what was factored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from raxis.dtypes import DType
from raxis.testing.case import require
from raxis.testing.comparing import TOLERANCE

Arrays = Sequence[np.ndarray]
Check = Callable[[Arrays, Arrays, DType, str], None]


def _adjoint(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.conj(np.swapaxes(x, -1, -2)))


def _near(one: np.ndarray, other: np.ndarray, dtype: DType, what: str) -> None:
    tolerance = 20 * TOLERANCE[dtype.name]
    scale = 1 + np.abs(other).max(initial=0.0)
    require(
        np.abs(one - other).max(initial=0.0) <= tolerance * scale, f"{what}: got\n{one}\nexpected\n{other}"
    )


def _unitary(x: np.ndarray, dtype: DType, what: str) -> None:
    identity = np.broadcast_to(np.eye(x.shape[-1]), (*x.shape[:-2], x.shape[-1], x.shape[-1]))
    _near(_adjoint(x) @ x, identity, dtype, f"{what}, columns are not orthonormal")


def _lu(arrays: Arrays, results: Arrays, dtype: DType, what: str) -> None:
    (x,), (packed, pivots, info) = arrays, results
    count = min(x.shape[-2:])
    lower = np.tril(packed, -1)[..., :count] + np.eye(x.shape[-2], count)
    product = lower @ np.triu(packed)[..., :count, :]
    for matrix, exchanges in zip(product, pivots, strict=True):
        for row in reversed(range(count)):
            matrix[[row, exchanges[row] - 1]] = matrix[[exchanges[row] - 1, row]]
    _near(product, x, dtype, f"{what}, P L U")
    require(not info.any(), f"{what}: info is {info}, expected zeros.")


def _qr(arrays: Arrays, results: Arrays, dtype: DType, what: str) -> None:
    q, r = results
    _near(q @ r, arrays[0], dtype, f"{what}, Q R")
    _near(np.tril(r, -1), np.zeros_like(r), dtype, f"{what}, below the diagonal of R")
    _unitary(q, dtype, what)


def _svd(arrays: Arrays, results: Arrays, dtype: DType, what: str) -> None:
    u, s, vh = results
    count = s.shape[-1]
    _near((u[..., :count] * s[..., None, :]) @ vh[..., :count, :], arrays[0], dtype, f"{what}, U S V")
    require((s >= 0).all() and (np.diff(s) <= 0).all(), f"{what}: S must be descending, but is {s}.")
    _unitary(u, dtype, what)
    _unitary(_adjoint(vh), dtype, what)


def _eigh(arrays: Arrays, results: Arrays, dtype: DType, what: str) -> None:
    values, vectors = results
    _near(arrays[0] @ vectors, vectors * values[..., None, :], dtype, f"{what}, A V")
    require((np.diff(values) >= 0).all(), f"{what}: the eigenvalues must be ascending, but are {values}.")
    _unitary(vectors, dtype, what)


def _eig(arrays: Arrays, results: Arrays, dtype: DType, what: str) -> None:
    values, vectors = results
    _near(arrays[0] @ vectors, vectors * values[..., None, :], dtype, f"{what}, A V")
    norms = np.linalg.norm(vectors, axis=-2)
    _near(norms, np.ones_like(norms), dtype, f"{what}, norms of the eigenvectors")


CHECKS: Mapping[str, Check] = {"lu": _lu, "qr": _qr, "svd": _svd, "eigh": _eigh, "eig": _eig}
"""By primitive; all others have one right answer."""
