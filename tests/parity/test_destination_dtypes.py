"""``out=`` of every dtype, against torch: the same class of error, or the same values in the dtype of `out`."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import raxis
from tests.parity.bridge import to_raxis
from tests.parity.comparing import assert_same, tensors_in

DTYPES = (
    torch.float32, torch.float64, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool,
    torch.complex64, torch.complex128,
)  # fmt: skip

OPERANDS = {
    "x": torch.tensor([[1.25, 2.5], [3.0, -4.75]]),
    "y": torch.tensor([[0.5, 1.5], [2.5, 3.5]]),
    "v": torch.tensor([1.0, 2.5]),
    "w": torch.tensor([1.0, 2.5, -1.0]),
    "p": torch.tensor([2, 2], dtype=torch.int32),
    "k": torch.tensor([[5, 6], [7, 8]]),
    "b": torch.tensor([[5, 0], [7, 8]], dtype=torch.uint8),
    "c": torch.tensor([[1 + 2j, 2.5], [3j, 4 - 1j]]),
    "m": torch.tensor([[True, False], [True, True]]),
    "i": torch.tensor([[0, 1], [1, 0]]),
    "f64": torch.float64,
}

ELEMENTWISE = (
    "abs(x)", "abs(k)", "neg(x)", "neg(k)", "sign(x)", "sgn(x)", "sgn(c)", "ceil(x)", "floor(k)", "trunc(x)", "frac(x)",
    "round(x)", "round(x, decimals=1)", "bitwise_not(k)", "nan_to_num(x)", "nan_to_num(k)", "signbit(x)", "signbit(k)",
    "isposinf(x)", "isneginf(x)", "heaviside(x, y)", "complex(x, y)", "polar(y, x)", "where(m, x, y)", "where(m, k, i)",
    "clamp(x, 0, 2)", "clamp(k, 0.5, 6)", "clamp(x, y)", "clamp_min(x, 1)", "clamp_min(k, i)",
    "clamp_max(k, 6)", "clamp_max(x, y)", "conj_physical(c)", "hardshrink(x)", "float_power(x, 2)", "lerp(x, y, 0.5)",
    "lerp(x, y, y)", "add(x, y)", "add(k, 1)", "sub(x, k)", "mul(k, m)", "div(k, k)", "pow(x, 2)", "square(x)",
    "square(m)", "exp(x)", "exp(k)", "sigmoid(m)", "logical_not(x)", "logical_and(x, y)", "eq(x, y)", "maximum(x, y)",
    "gcd(k, k)", "fmod(x, y)", "atan2(x, y)", "addcmul(x, y, y)", "ldexp(x, y)", "angle(c)", "special.i1(x)",
)  # fmt: skip
PRODUCTS = (
    "mm(x, y)", "mm(c, c)", "matmul(x, v)", "matmul(k, k)", "mv(x, v)", "dot(v, v)", "vdot(v, v)",
    "bmm(x[None], y[None])", "addmm(x, x, y)", "addmv(v, x, v)", "addbmm(x, x[None], y[None])",
    "baddbmm(x, x[None], y[None])", "addr(x, v, v)", "outer(v, v)", "kron(v, v)", "inner(x, y)",
    "inner(v[0], v)", "tensordot(x, y, 1)", "chain_matmul(x, y)",
    "linalg.multi_dot([x, y])", "linalg.vecdot(x, y)", "nn.functional.linear(x, y)",
)  # fmt: skip
MATRICES = (
    "cholesky(x @ x.T)", "linalg.cholesky(x @ x.T)", "cholesky_solve(y, y)", "cholesky_inverse(y)", "inverse(x)",
    "linalg.inv(x)", "linalg.det(x)", "linalg.solve(x, y)", "linalg.solve_triangular(x, y, upper=True)",
    "linalg.svdvals(x)", "linalg.eigvals(x)", "linalg.eigvalsh(x)", "linalg.cross(w, w + 1)",
    "linalg.lu_solve(x, p, y)", "linalg.matrix_power(x, 1)", "matrix_power(x, 2)",
    "linalg.pinv(x)", "linalg.tensorinv(x, 1)", "linalg.tensorsolve(x, v)", "linalg.cond(x)", "linalg.matrix_rank(x)",
    "linalg.norm(x)", "linalg.vector_norm(x)", "linalg.vector_norm(c)", "linalg.vector_norm(x, dtype=f64)",
    "linalg.matrix_norm(x)", "norm(x)", "linalg.householder_product(x, v)", "orgqr(x, v)", "diag(x)", "tril(x)",
    "triu(k)", "renorm(x, 2, 0, 1)",
)  # fmt: skip
REDUCTIONS = (
    "sum(x, (0, 1))", "sum(x, 1)", "sum(k, 1)", "sum(m, 1)", "sum(x, 1, dtype=f64)", "prod(x, 1)", "prod(k, 0)",
    "prod(x, 1, dtype=f64)", "cumsum(x, 1)", "cumsum(k, 1)", "cumsum(x, 1, dtype=f64)", "cumprod(x, 1)",
    "cumprod(k, 0)", "cumprod(x, 0, dtype=f64)", "mean(x, 1)", "mean(k, 1, dtype=f64)", "nansum(x, 1)",
    "nansum(x, 1, dtype=f64)", "nanmean(x, 1)", "nanmean(x, 1, dtype=f64)", "var(x, 1)", "std(x, 1)", "logsumexp(x, 1)",
    "logcumsumexp(x, 1)", "softmax(x, 1)", "log_softmax(x, 1)", "softmax(k, 1, f64)", "amax(x, 1)", "amin(k, 0)",
    "max(x)", "min(k)", "argmax(x, 1)", "argmin(x, 1)", "any(m, 1)", "all(m)", "any(x, 0)", "all(k, 1)", "any(b, 1)",
    "quantile(x, 0.5)", "nanquantile(x, 0.5, 1)", "diff(x)", "diff(x, 0)",
)  # fmt: skip
PLACES = (
    "gather(x, 1, i)", "index_select(x, 0, i[0])", "take(x, i)", "take_along_dim(x, i, 1)", "masked_select(x, m)",
    "scatter(x, 1, i, y)", "scatter_add(x, 1, i, y)", "scatter_reduce(x, 1, i, y, 'amax')", "index_add(x, 0, i[0], y)",
    "index_copy(x, 0, i[0], y)", "index_reduce(x, 0, i[0], y, 'mean')", "cat([x, y])", "cat([k, m])", "stack([x, y])",
    "stack([c, c])", "hstack([x, y])", "vstack([x, y])", "dstack([x, y])", "column_stack([v, v])", "nonzero(x)",
    "searchsorted(v, x)", "bucketize(x, v)", "bucketize(x, v, out_int32=True)", "histc(x, 3)", "isin(x, y)", "msort(x)",
    "argsort(x, stable=True)", "fft.fft(x)", "fft.rfft(x)", "fft.irfft(x)", "fft.hfft(x)", "sort(x)", "topk(x, 1)",
    "kthvalue(x, 1)", "cummax(x, 1)", "max(x, 1)", "aminmax(x)", "linalg.eigh(x)", "linalg.slogdet(x)",
)  # fmt: skip


TOLERANCES = dict.fromkeys((torch.float64, torch.complex128), (1e-6, 1e-6))
"""Those of float32, which most of the calls compute in."""

CALLS = ELEMENTWISE + PRODUCTS + MATRICES + REDUCTIONS + PLACES

UNSERVED = {("any(b, 1)", torch.bool), ("all(b, 1)", torch.bool)}
"""Destinations that torch writes to and raxis refuses."""


def _value(library: Any, call: str, operands: dict[str, Any], outputs: list[Any] | None = None) -> Any:
    """What `call` gives, written into `outputs` if there are any."""
    modules = {name: getattr(library, name) for name in ("fft", "linalg", "nn", "special")}
    names = {**vars(library), **modules, **operands}
    if outputs is None:
        return eval(call, names)
    return eval(f"{call[:-1]}, out=out)", {**names, "out": outputs[0] if len(outputs) == 1 else outputs})


def _error(library: Any, call: str, operands: dict[str, Any], outputs: list[Any]) -> type[Exception] | None:
    try:
        _value(library, call, operands, outputs)
    except (RuntimeError, TypeError) as error:
        return type(error)
    return None


@pytest.mark.filterwarnings(
    "ignore:Casting complex values to real:UserWarning", "ignore:index_reduce:UserWarning"
)
@pytest.mark.parametrize("call", CALLS)
def test_destination_of_every_dtype(call: str) -> None:
    ours = to_raxis(OPERANDS)
    results = tensors_in(_value(torch, call, OPERANDS))
    for dtype in DTYPES:
        # Of several results the first is written to a tensor of another dtype.
        theirs = [torch.ones_like(item, dtype=dtype if item is results[0] else None) for item in results]
        outputs = [to_raxis(item) for item in theirs]
        expected = _error(torch, call, OPERANDS, theirs)
        if expected is NotImplementedError or (call, dtype) in UNSERVED:
            continue  # torch lacks a kernel
        found = _error(raxis, call, ours, outputs)
        assert found is expected, f"{dtype}: torch raises {expected}, raxis {found}"
        if expected is None:
            assert_same(outputs, theirs, tolerances=TOLERANCES)
        else:
            assert_same(outputs, [torch.ones_like(item) for item in theirs])
