"""Sums of a tensor and a product of matrices or vectors: addmm and relatives, and linear layers."""

from __future__ import annotations

from math import prod as product_of
from typing import Any

from raxis.layout import Layout
from raxis.ops.definitions.einsum import einsum
from raxis.ops.definitions.matmul import (
    adjoint,
    as_rows,
    combined,
    dot_general,
    expanded,
    require_batches,
    require_inner,
    require_matrices,
    require_matrix_vector,
    require_same_dtype,
    times,
)  # fmt: skip
from raxis.ops.formulas import conj, wide
from raxis.ops.functional import NAMESPACE, functional
from raxis.ops.promotion import result_type_of
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, cast, emit
from raxis.tensor import Tensor

_FACTORS = "*, Scalar beta=1, Scalar alpha=1) -> Tensor"


def _input_vjp(grad: Tensor, beta: Any) -> Any:
    return times(grad, beta)


@lowered(
    "addmm(Tensor input, Tensor mat1, Tensor mat2, " + _FACTORS,
    inplace=True,
    vjp={
        "input": _input_vjp,
        "mat1": lambda grad, mat2, alpha: times(grad.mm(adjoint(mat2)), alpha),
        "mat2": lambda grad, mat1, alpha: times(adjoint(mat1).mm(grad), alpha),
    },
)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)``; with `beta` 0, NaN in `input` has no effect.

    Args:
        input: broadcasts to (n, p).
        mat1: (n, m).
        mat2: (m, p), of the same dtype.
        beta: factor of `input`.
        alpha: factor of the product.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.addmm(raxis.tensor([1.0, 1.0]), raxis.ones(1, 3), raxis.ones(3, 2), alpha=2)
        tensor([[7., 7.]])
    """
    require_matrices("mat1", mat1, mat2)
    return combined(input, dot_general(mat1, mat2, (1, 0)), beta, alpha)


@lowered(
    "addmv(Tensor input, Tensor mat, Tensor vec, " + _FACTORS,
    inplace=True,
    vjp={
        "input": _input_vjp,
        "mat": lambda grad, vec, alpha: times(grad.unsqueeze(1) * conj(vec), alpha),
        "vec": lambda grad, mat, alpha: times(adjoint(mat).mv(grad), alpha),
    },
)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * (mat @ vec)``; with `beta` 0, NaN in `input` has no effect.

    Args:
        input: broadcasts to (n,).
        mat: (n, m).
        vec: (m,), of the same dtype.
        beta: factor of `input`.
        alpha: factor of the product.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.addmv(raxis.tensor([1, 1]), raxis.tensor([[1, 2], [3, 4]]), raxis.tensor([1, 1]))
        tensor([4, 8])
    """
    require_matrix_vector(mat, vec, input._layout)
    return combined(input, dot_general(mat, vec, (1, 0), name="addmv_impl_cpu"), beta, alpha)


@lowered(
    "baddbmm(Tensor input, Tensor batch1, Tensor batch2, " + _FACTORS,
    inplace=True,
    vjp={
        "input": _input_vjp,
        "batch1": lambda grad, batch2, alpha: times(grad.bmm(adjoint(batch2)), alpha),
        "batch2": lambda grad, batch1, alpha: times(adjoint(batch1).bmm(grad), alpha),
    },
)
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * bmm(batch1, batch2)``; with `beta` 0, NaN in `input` has no effect.

    Args:
        input: broadcasts to (b, n, p).
        batch1: (b, n, m).
        batch2: (b, m, p), of the same dtype.
        beta: factor of `input`.
        alpha: factor of the products.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.baddbmm(raxis.ones(1), raxis.ones(2, 1, 3), raxis.ones(2, 3, 1)).flatten()
        tensor([4., 4.])
    """
    require_batches(batch1, batch2)
    return combined(input, dot_general(batch1, batch2, (2, 1), 1, "baddbmm"), beta, alpha)


def _of_each(grad: Tensor, batch: int) -> Any:
    """The gradient of a sum over a batch, for each of its matrices."""
    return grad.expand((batch, *grad.shape))


@lowered(
    "addbmm(Tensor input, Tensor batch1, Tensor batch2, " + _FACTORS,
    inplace=True,
    vjp={
        "input": _input_vjp,
        "batch1": lambda grad, batch2, alpha: times(
            _of_each(grad, batch2.shape[0]).bmm(adjoint(batch2)), alpha
        ),
        "batch2": lambda grad, batch1, alpha: times(
            adjoint(batch1).bmm(_of_each(grad, batch1.shape[0])), alpha
        ),
    },
)
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * bmm(batch1, batch2).sum(0)``; with `beta` 0, NaN in `input` has no effect.

    Args:
        input: broadcasts to (n, p).
        batch1: (b, n, m).
        batch2: (b, m, p), of the same dtype.
        beta: factor of `input`.
        alpha: factor of the sum of products.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.addbmm(raxis.ones(1), raxis.ones(2, 1, 3), raxis.ones(2, 3, 1))
        tensor([[7.]])
    """
    require_batches(batch1, batch2)
    product = emit(
        "dot_general", batch1, batch2, lhs_batch=(), rhs_batch=(), lhs_contract=(0, 2), rhs_contract=(0, 1)
    )
    return combined(input, product, beta, alpha)


@lowered(
    "addr(Tensor input, Tensor vec1, Tensor vec2, " + _FACTORS,
    exact=False,
    inplace=True,
    vjp={
        "input": _input_vjp,
        "vec1": lambda grad, vec2, alpha: times((grad * conj(vec2)).sum(1), alpha),
        "vec2": lambda grad, vec1, alpha: times((grad * conj(vec1).unsqueeze(1)).sum(0), alpha),
    },
)
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Any, alpha: Any) -> Any:
    """``beta * input + alpha * outer(vec1, vec2)``; with `beta` 0, NaN in `input` has no effect.

    Args:
        input: broadcasts to (n, m).
        vec1: (n,).
        vec2: (m,).
        beta: factor of `input`.
        alpha: factor of the product.

    Raises:
        RuntimeError: if shapes do not fit.

    Example:
        >>> import raxis
        >>> raxis.addr(raxis.tensor([1, 1]), raxis.tensor([1, 2]), raxis.tensor([3, 4]))
        tensor([[4, 5],
                [7, 9]])
    """
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    dtype = result_type_of((input, vec1, vec2))
    base, column, row = (wide(cast(operand, dtype)) for operand in (input, vec1, vec2))
    shape = (vec1.shape[0], vec2.shape[0])
    columns = emit("broadcast", column, shape=shape, dims=(0,))
    return cast(combined(base, emit("mul", columns, broadcast(row, shape)), beta, alpha), dtype)


# ---- linear layers ---------------------------------------------------------------------------------------------------


def _linear_input_vjp(grad: Tensor, weight: Tensor) -> Any:
    return grad.unsqueeze(-1) * conj(weight) if weight.ndim == 1 else grad.matmul(conj(weight))


def _linear_weight_vjp(grad: Tensor, input: Tensor, weight_layout: Layout) -> Any:
    inputs = conj(as_rows(input) if input.ndim > 1 else input.unsqueeze(0))
    if weight_layout.ndim == 1:
        return inputs.t().mv(grad.reshape(-1))
    return as_rows(grad if grad.ndim > 1 else grad.unsqueeze(0)).t().mm(inputs)


@lowered(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    namespace=NAMESPACE,
    method=False,
    composite=True,
    vjp={"input": _linear_input_vjp, "weight": _linear_weight_vjp, "bias": lambda grad: grad},
)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """``input @ weight.T + bias``.

    Args:
        input: (..., in_features).
        weight: (out_features, in_features), or (in_features,).
        bias: broadcasts to (..., out_features).

    Returns:
        (..., out_features), or (...) for a 1-D weight. Half precision sums in float32.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.linear(raxis.ones(1, 3), raxis.ones(2, 3), raxis.tensor([0.0, 1.0]))
        tensor([[3., 4.]])
    """
    if input.ndim == 0 or weight.ndim not in (1, 2):
        raise RuntimeError(
            f"linear expected an input with dimensions and a 1-D or 2-D weight, but got shapes {list(input.shape)} and "
            f"{list(weight.shape)}."
        )
    inner, columns = weight.shape[-1], weight.shape[0] if weight.ndim == 2 else 1
    require_inner(product_of(input.shape[:-1]), input.shape[-1], (inner, columns))
    require_same_dtype(input, weight)
    product = dot_general(input, weight, (input.ndim - 1, weight.ndim - 1))
    if bias is None:
        return product
    require_same_dtype(product, bias)
    return emit("add", product, expanded(bias, product._layout.shape))


@functional("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """``input1 @ weight[k] @ input2`` for every output feature k, plus `bias`.

    Args:
        input1: (..., in1_features).
        input2: (..., in2_features), of the same leading shape.
        weight: (out_features, in1_features, in2_features).
        bias: (out_features,).

    Returns:
        (..., out_features).

    Raises:
        RuntimeError: if shapes do not fit.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.bilinear(raxis.ones(1, 2), raxis.ones(1, 3), raxis.ones(4, 2, 3)).shape
        raxis.Size([1, 4])
    """
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {list(input1.shape)} and {list(input2.shape)}"
        )
    if weight.ndim != 3 or list(weight.shape[1:]) != [input1.shape[-1], input2.shape[-1]]:
        raise RuntimeError(
            f"bilinear(): expected weight of shape [out, {input1.shape[-1]}, {input2.shape[-1]}], but got "
            f"{list(weight.shape)}"
        )
    product = einsum("...i,oij,...j->...o", input1, weight, input2)
    return product if bias is None else product + bias
