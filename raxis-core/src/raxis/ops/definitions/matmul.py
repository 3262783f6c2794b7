"""Products of matrices and vectors."""

from __future__ import annotations

from math import prod as product_of
from typing import Any

from raxis import dtypes
from raxis.layout import Layout, broadcast_shapes
from raxis.ops.definitions.reductions import constant_like, scalar_type
from raxis.ops.formulas import conj, given, wide
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, emit
from raxis.tensor import Tensor

# ---- shared ----------------------------------------------------------------------------------------------------------


def adjoint(matrix: Tensor) -> Any:
    """The conjugate transpose of the last two dimensions; a view for real dtypes."""
    return conj(matrix.transpose(-2, -1))


def dot_general(
    left: Tensor, right: Tensor, contract: tuple[int, int], batch: int = 0, name: str = "addmm_impl_cpu_"
) -> Any:
    """While tracing: products summed over one dim of each, after `batch` common leading dims."""
    _require_numbers(left, name)
    common = tuple(range(batch))
    return emit(
        "dot_general",
        left,
        right,
        lhs_batch=common,
        rhs_batch=common,
        lhs_contract=(contract[0],),
        rhs_contract=(contract[1],),
    )


def _require_numbers(operand: Tensor, name: str) -> None:
    if operand.dtype is dtypes.bool_:
        raise NotImplementedError(f'"{name}" not implemented for {scalar_type(operand.dtype)!r}')


def require_matrices(name: str, input: Tensor, mat2: Tensor) -> None:
    """Raise unless two 2-D operands of one dtype can be multiplied."""
    for which, operand in ((name, input), ("mat2", mat2)):
        if operand.ndim != 2:
            raise RuntimeError(f"{which} must be a matrix, got {operand.ndim}-D tensor")
    require_inner(input.shape[0], input.shape[1], mat2._layout.shape)
    require_same_dtype(input, mat2)


def require_same_dtype(input: Tensor, mat2: Tensor) -> None:
    """Raise unless both matrices have the same dtype."""
    if input.dtype is not mat2.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {_c_name(input)} != {_c_name(mat2)}"
        )


_C_NAMES = {
    "float32": "float", "float64": "double", "int64": "long", "int32": "int", "complex64": "c10::complex<float>",
}  # fmt: skip


def _c_name(operand: Tensor) -> str:
    return _C_NAMES.get(operand.dtype.name, scalar_type(operand.dtype))


def require_inner(rows: int, inner: int, shape: tuple[int, ...]) -> None:
    """Raise unless a (`rows`, `inner`) matrix can be multiplied with one of `shape`."""
    if inner != shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {shape[0]}x{shape[1]})"
        )


def require_batches(batch1: Tensor, batch2: Tensor) -> None:
    """Raise unless two 3-D operands of one dtype can be multiplied."""
    for which, operand in (("batch1", batch1), ("batch2", batch2)):
        if operand.ndim != 3:
            raise RuntimeError(f"{which} must be a 3D tensor, got {operand.ndim}-D tensor")
    expected = [batch1.shape[0], batch1.shape[2]]
    if list(batch2.shape[:2]) != expected:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: "
            f"{list(batch2.shape[:2])}."
        )
    _require_scalar_type(batch1, batch2)


def _require_scalar_type(expected: Tensor, found: Tensor) -> None:
    if expected.dtype is not found.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_type(expected.dtype)} but found {scalar_type(found.dtype)}"
        )


def expanded(operand: Tensor, shape: tuple[int, ...]) -> Tensor:
    """While tracing: `operand` broadcast to `shape`, with `expand`'s error."""
    own = operand._layout.shape
    lead = len(shape) - len(own)
    for axis, size in enumerate(own, lead):
        if lead < 0 or size not in (1, shape[axis]):
            raise RuntimeError(
                f"The expanded size of the tensor ({shape[axis]}) must match the existing size ({size}) at "
                f"non-singleton dimension {axis}.  Target sizes: {list(shape)}.  Tensor sizes: {list(own)}"
            )
    return broadcast(operand, shape)


def scaled(operand: Tensor, factor: Any) -> Any:
    """While tracing: `operand` times a Scalar argument whose default is 1."""
    if not given(factor):
        return operand
    layout = operand._layout
    return emit("mul", operand, broadcast(cast(factor, layout.dtype), layout.shape))


def combined(input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Any:
    """While tracing: ``beta * input + alpha * product``; with `beta` zero NaN in `input` has no effect."""
    product = scaled(product, alpha)
    layout = product._layout
    if input.dtype is not layout.dtype:
        raise RuntimeError(
            "self and mat2 must have the same dtype, but got "
            f"{scalar_type(input.dtype)} and {scalar_type(layout.dtype)}"
        )
    total = emit("add", expanded(scaled(input, beta), layout.shape), product)
    if not given(beta):
        return total
    return emit("select", broadcast(emit("eq", beta, constant_like(beta, 0)), layout.shape), product, total)


def times(grad: Tensor, factor: Any) -> Any:
    """In formulas: `grad` times the conjugate of a Scalar argument."""
    return grad if factor == 1 else grad * conj(factor)


# ---- matrix times matrix ---------------------------------------------------------------------------------------------


@lowered(
    "mm(Tensor input, Tensor mat2) -> Tensor",
    vjp={
        "input": lambda grad, mat2: grad.mm(adjoint(mat2)),
        "mat2": lambda grad, input: adjoint(input).mm(grad),
    },
)
def mm(input: Tensor, mat2: Tensor) -> Any:
    """The matrix product of two matrices.

    Args:
        input: (n, m).
        mat2: (m, p), of the same dtype.

    Returns:
        (n, p). Half precision sums in float32.

    Raises:
        RuntimeError: if the operands are not 2-D, do not fit or differ in dtype.

    Example:
        >>> import raxis
        >>> raxis.mm(raxis.tensor([[1, 2], [3, 4]]), raxis.tensor([[1, 0], [0, 2]]))
        tensor([[1, 4],
                [3, 8]])
    """
    require_matrices("self", input, mat2)
    return dot_general(input, mat2, (1, 0))


@lowered(
    "bmm(Tensor input, Tensor mat2) -> Tensor",
    vjp={
        "input": lambda grad, mat2: grad.bmm(adjoint(mat2)),
        "mat2": lambda grad, input: adjoint(input).bmm(grad),
    },
)
def bmm(input: Tensor, mat2: Tensor) -> Any:
    """The matrix products of two batches of matrices.

    Args:
        input: (b, n, m).
        mat2: (b, m, p), of the same dtype.

    Returns:
        (b, n, p). Half precision sums in float32.

    Raises:
        RuntimeError: if the operands are not 3-D, do not fit or differ in dtype.

    Example:
        >>> import raxis
        >>> raxis.bmm(raxis.ones(2, 1, 3), raxis.ones(2, 3, 1)).shape
        raxis.Size([2, 1, 1])
    """
    require_batches(input, mat2)
    return dot_general(input, mat2, (2, 1), 1, "bmm")


# ---- vectors ---------------------------------------------------------------------------------------------------------


@lowered(
    "mv(Tensor input, Tensor vec) -> Tensor",
    vjp={
        "input": lambda grad, vec: grad.unsqueeze(1) * conj(vec),
        "vec": lambda grad, input: adjoint(input).mv(grad),
    },
)
def mv(input: Tensor, vec: Tensor) -> Any:
    """The product of a matrix and a vector.

    Args:
        input: (n, m).
        vec: (m,), of the same dtype.

    Returns:
        (n,).

    Raises:
        RuntimeError: if the operands do not have these dimensions, do not fit or differ in dtype.

    Example:
        >>> import raxis
        >>> raxis.mv(raxis.tensor([[1, 2], [3, 4]]), raxis.tensor([1, 1]))
        tensor([3, 7])
    """
    require_matrix_vector(input, vec, input._layout)
    return dot_general(input, vec, (1, 0), name="addmv_impl_cpu")


def require_matrix_vector(mat: Tensor, vec: Tensor, result: Layout) -> None:
    """Raise unless a matrix and a vector of one dtype can be multiplied and added to `result`."""
    if mat.ndim != 2 or vec.ndim != 1 or result.ndim > 2:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {min(result.ndim, 1)}, {mat.ndim}, {vec.ndim}"
        )
    if mat.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({mat.shape[0]}), mat ({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})"
        )
    if mat.dtype is not vec.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{scalar_type(mat.dtype)} and {scalar_type(vec.dtype)}"
        )


def require_vectors(name: str, input: Tensor, tensor: Tensor) -> None:
    """Raise unless both operands are vectors of one size and dtype."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input.dtype is not tensor.dtype:
        raise RuntimeError(
            f"{name} : expected both vectors to have same dtype, but found {scalar_type(input.dtype)} and "
            f"{scalar_type(tensor.dtype)}"
        )
    if input.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(input.shape)} and src {list(tensor.shape)} to have the "
            f"same number of elements, but got {input.shape[0]} and {tensor.shape[0]} elements respectively"
        )


@lowered(
    "dot(Tensor input, Tensor tensor) -> Tensor",
    vjp={
        "input": lambda grad, tensor: grad * conj(tensor),
        "tensor": lambda grad, input: grad * conj(input),
    },
)
def dot(input: Tensor, tensor: Tensor) -> Any:
    """The sum of the products of two vectors.

    Args:
        input: (n,).
        tensor: (n,), of the same dtype.

    Returns:
        0-d.

    Raises:
        RuntimeError: if the operands are not 1-D, or differ in size or dtype.

    Example:
        >>> import raxis
        >>> raxis.dot(raxis.tensor([2, 3]), raxis.tensor([2, 1]))
        tensor(7)
    """
    return _vector_product(input, tensor)


def _vector_product(input: Tensor, tensor: Tensor) -> Any:
    """While tracing: the dot product as a sum of products, which is one loop and takes part in fusion."""
    require_vectors("dot", input, tensor)
    _require_numbers(input, "dot")
    product = emit("mul", wide(input), wide(tensor))
    return cast(emit("reduce_sum", product, dims=(0,)), input.dtype)


@composed("vdot(Tensor input, Tensor other) -> Tensor")
def vdot(input: Tensor, other: Tensor) -> Any:
    """The sum of the products of two vectors, the first conjugated.

    Args:
        input: (n,).
        other: (n,), of the same dtype.

    Returns:
        0-d.

    Raises:
        RuntimeError: if the operands are not 1-D, or differ in size or dtype.

    Example:
        >>> import raxis
        >>> raxis.vdot(raxis.tensor([1j]), raxis.tensor([1j]))
        tensor(1.+0.j)
    """
    require_vectors("vdot", input, other)
    return dot(conj(input), other)


@composed("outer(Tensor input, Tensor vec2) -> Tensor", exact=False, aliases=("ger",))
def outer(input: Tensor, vec2: Tensor) -> Any:
    """All products of an element of `input` and one of `vec2`.

    Args:
        input: (n,).
        vec2: (m,).

    Returns:
        (n, m).

    Raises:
        RuntimeError: if the operands are not 1-D.

    Example:
        >>> import raxis
        >>> raxis.outer(raxis.tensor([1, 2]), raxis.tensor([3, 4]))
        tensor([[3, 4],
                [6, 8]])
    """
    for name, operand in (("self", input), ("vec2", vec2)):
        if operand.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {operand.ndim}-D")
    return input.unsqueeze(1) * vec2


# ---- matmul ----------------------------------------------------------------------------------------------------------


def _matmul_input_vjp(grad: Tensor, other: Tensor, input_layout: Layout) -> Any:
    if other.ndim == 1:
        return grad * conj(other) if input_layout.ndim == 1 else grad.unsqueeze(-1) * conj(other)
    if input_layout.ndim == 1:
        return conj(other).matmul(grad.unsqueeze(-1)).squeeze(-1)
    return grad.matmul(adjoint(other))


def _matmul_other_vjp(grad: Tensor, input: Tensor, other_layout: Layout) -> Any:
    if input.ndim == 1:
        if other_layout.ndim == 1:
            return grad * conj(input)
        return conj(input).unsqueeze(-1) * grad.unsqueeze(-2)
    if other_layout.ndim == 1:
        return adjoint(as_rows(input)).mv(grad.reshape(-1))
    if other_layout.ndim == 2:
        return adjoint(as_rows(input)).mm(as_rows(grad))
    return adjoint(input).matmul(grad)


def as_rows(operand: Tensor) -> Tensor:
    """A batch of matrices as one, its rows one below another."""
    shape = operand._layout.shape
    return operand if len(shape) == 2 else operand.reshape(product_of(shape[:-1]), shape[-1])


@lowered(
    "matmul(Tensor input, Tensor other) -> Tensor",
    operator="__matmul__",
    vjp={"input": _matmul_input_vjp, "other": _matmul_other_vjp},
)
def matmul(input: Tensor, other: Tensor) -> Any:
    """The matrix product of vectors, matrices and batches of matrices.

    A 1-D `input` counts as one row, a 1-D `other` as one column; these dimensions are dropped again. Dimensions
    before the last two are batch dimensions and broadcast.

    Args:
        input: (..., n, m) or (m,).
        other: (..., m, p) or (m,), of the same dtype.

    Returns:
        (..., n, p), (..., n), (..., p) or 0-d. Half precision sums in float32.

    Raises:
        RuntimeError: if an operand is 0-d, or the operands do not fit or differ in dtype.

    Example:
        >>> import raxis
        >>> raxis.matmul(raxis.tensor([[1, 2], [3, 4]]), raxis.tensor([1, 1]))
        tensor([3, 7])
    """
    left, right = input.ndim, other.ndim
    if left == 0 or right == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {left}D and {right}D"
        )
    if left == right == 1:
        return _vector_product(input, other)
    if left <= 2 and right == 1:
        require_matrix_vector(input, other, input._layout)
    elif right > 2 and left > 2:
        return _batched(input, other)
    elif right > 2:
        return _matrix_times_batch(input, other)
    else:
        _require_rows(input, other)
    return dot_general(input, other, (left - 1, 0))


def _require_rows(input: Tensor, other: Tensor) -> None:
    shape = input._layout.shape
    columns = other._layout.shape if other.ndim == 2 else (other.shape[0], 1)
    require_inner(product_of(shape[:-1]), shape[-1], columns)
    require_same_dtype(input, other)


def _matrix_times_batch(input: Tensor, other: Tensor) -> Any:
    """(n, m) or (m,) times (..., m, p): the batch is moved in front of the matrix's rows."""
    shape = other._layout.shape
    rows = input.shape[0] if input.ndim == 2 else 1
    require_inner(rows, input.shape[-1], shape[-2:])
    require_same_dtype(input, other)
    product = dot_general(input, other, (input.ndim - 1, len(shape) - 2))
    if input.ndim == 1:
        return product
    batch = len(shape) - 2
    return emit("transpose", product, permutation=(*range(1, batch + 1), 0, batch + 1))


def _batched(input: Tensor, other: Tensor) -> Any:
    left, right = input._layout.shape, other._layout.shape
    batch = broadcast_shapes(left[:-2], right[:-2])
    if left[-1] != right[-2]:
        size = product_of(batch)
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size}, {left[-1]}] but got: "
            f"[{size}, {right[-2]}]."
        )
    _require_scalar_type(input, other)
    first, second = broadcast(input, batch + left[-2:]), broadcast(other, batch + right[-2:])
    return dot_general(first, second, (len(batch) + 1, len(batch)), len(batch), "bmm")
