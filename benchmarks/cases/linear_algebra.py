"""Factorizations, equations and norms of matrices, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, gradient, itself, tensor, values

Work = Callable[[ModuleType, Any, Any], Any]
SHAPES = ((64, 8, 8), (256, 256))

MATRIX: dict[str, Work] = {
    "inv": lambda lib, a, b: lib.linalg.inv(a),
    "det": lambda lib, a, b: lib.linalg.det(a),
    "slogdet": lambda lib, a, b: lib.linalg.slogdet(a)[1],
    "solve": lambda lib, a, b: lib.linalg.solve(a, b),
    "cholesky": lambda lib, a, b: lib.linalg.cholesky(a),
    "cholesky_solve": lambda lib, a, b: lib.cholesky_solve(b, a),
    "solve_triangular": lambda lib, a, b: lib.linalg.solve_triangular(a, b, upper=True),
    "lu_factor": lambda lib, a, b: lib.linalg.lu_factor(a),
    "qr": lambda lib, a, b: lib.linalg.qr(a),
    "svd": lambda lib, a, b: lib.linalg.svd(a),
    "svdvals": lambda lib, a, b: lib.linalg.svdvals(a),
    "eigh": lambda lib, a, b: lib.linalg.eigh(a),
    "eigvalsh": lambda lib, a, b: lib.linalg.eigvalsh(a),
    "lstsq": lambda lib, a, b: lib.linalg.lstsq(a, b),
    "pinv": lambda lib, a, b: lib.linalg.pinv(a),
    "matrix_power 5": lambda lib, a, b: lib.linalg.matrix_power(a, 5),
    "matrix_exp": lambda lib, a, b: lib.linalg.matrix_exp(a),
}
UNIQUE_UP_TO_SIGNS: dict[str, Callable[[Any], Any]] = {
    "qr": lambda result: result[0] @ result[1],
    "svd": lambda result: (result[0] * result[1].unsqueeze(-2)) @ result[2],
    "eigh": lambda result: (result[1] * result[0].unsqueeze(-2)) @ result[1].transpose(-1, -2),
}
"""The product of such factors is what both libraries must agree on."""
NORMS: dict[str, Work] = {
    "norm": lambda lib, a, b: lib.linalg.norm(a),
    "vector_norm 3, dim 1": lambda lib, a, b: lib.linalg.vector_norm(a, 3, dim=1),
    "vector_norm inf": lambda lib, a, b: lib.linalg.vector_norm(a, float("inf")),
    "matrix_norm fro": lambda lib, a, b: lib.linalg.matrix_norm(a),
    "matrix_norm 1": lambda lib, a, b: lib.linalg.matrix_norm(a, 1),
}
GRADIENTS = ("inv", "solve", "cholesky", "svdvals")


def _positive(shape: tuple[int, ...]) -> np.ndarray:
    """Symmetric positive definite matrices with a small condition number and eigenvalues near 1."""
    half = values(shape, "float64", -0.3, 0.3)
    n = shape[-1]
    return np.asarray(np.eye(n) + half @ half.swapaxes(-1, -2) / n, dtype=np.float32)


def _on(work: Work, matrix: np.ndarray, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, matrix), tensor(lib, values((*matrix.shape[:-1], 4))))


def _gradient(work: Work, matrix: np.ndarray, lib: ModuleType) -> Call:
    a, b = tensor(lib, matrix, grad=True), tensor(lib, values((*matrix.shape[:-1], 4)))
    return gradient(a, partial(work, lib, a, b))


def cases() -> Iterator[Case]:
    """All cases of linear algebra."""
    for shape in SHAPES:
        label, matrix = "x".join(map(str, shape)), _positive(shape)
        for name, work in MATRIX.items():
            compared = UNIQUE_UP_TO_SIGNS.get(name, itself)
            yield Case(
                "linalg", f"linalg {name} {label}", partial(_on, work, matrix), matrix.size, compared=compared
            )
        for name in GRADIENTS:
            make = partial(_gradient, MATRIX[name], matrix)
            yield Case("linalg gradient", f"gradient of {name} {label}", make, matrix.size)
    square = _positive((512, 512))
    for name, work in NORMS.items():
        yield Case("norm", f"linalg {name} 512", partial(_on, work, square), square.size)
