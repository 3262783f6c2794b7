"""Softmax, its logarithm and relatives."""

from __future__ import annotations

import warnings
from typing import Any

from raxis.dtypes import Category, DType
from raxis.layout import wrap_dim
from raxis.ops.definitions.reductions import reduce
from raxis.ops.formulas import wide
from raxis.ops.functional import functional
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, cast, emit
from raxis.tensor import Tensor


def _prepared(name: str, input: Tensor, dim: int, dtype: DType | None) -> tuple[Tensor, int, DType]:
    """The operand in the dtype to compute in, the dimension, and the result's dtype."""
    target = dtype or input.dtype
    axis = wrap_dim(dim, input.ndim)
    if target.category is not Category.FLOAT:
        raise NotImplementedError(
            f'"{name}" not implemented for {target.name}: pass a floating point tensor, or dtype=raxis.float32.'
        )
    return wide(cast(input, target)), axis, target


def along(primitive: str, operand: Tensor, axis: int) -> Tensor:
    """A reduction along one dimension, repeated to the operand's shape."""
    if operand.ndim == 0:
        return operand
    return broadcast(reduce(primitive, operand, axis, True), operand._layout.shape)


def _from_greatest(operand: Tensor, axis: int) -> Tensor:
    return emit("sub", operand, along("reduce_max", operand, axis))


_OPTIONS: dict[str, Any] = {"composite": True, "method": False, "function": False, "out": False}


def softmax_result_gradient(grad: Tensor, v: Tensor, result: Tensor, dim: int) -> Tensor:
    """Derivative of ``result * (grad - sum(grad * result))`` by `result`, applied to `v`."""
    inner = (grad * result).sum(dim, keepdim=True)
    return v * (grad - inner) - grad * (v * result).sum(dim, keepdim=True)


@lowered(
    "_softmax_gradient(Tensor grad_result, Tensor result_of, int dim) -> Tensor",
    vjp={
        "grad_result": lambda grad, result_of, dim: softmax_gradient(grad, result_of, dim),
        "result_of": lambda grad, grad_result, result_of, dim: softmax_result_gradient(
            grad_result, grad, result_of, dim
        ),
    },
    **_OPTIONS,
)
def softmax_gradient(grad_result: Tensor, result_of: Tensor, dim: int) -> Any:
    """Gradient of softmax from its result: ``result * (grad - sum(grad * result))``."""
    axis = wrap_dim(dim, result_of.ndim)
    grad, result = wide(grad_result), wide(result_of)
    product = emit("mul", grad, result)
    return cast(
        emit("sub", product, emit("mul", result, along("reduce_sum", product, axis))), result_of.dtype
    )


@lowered(
    "softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    vjp={"input": lambda grad, result, dim: softmax_gradient(grad, result, dim)},
    composite=True,
)
def softmax(input: Tensor, dim: int, dtype: DType | None) -> Any:
    """``exp(input) / sum(exp(input))`` along a dimension, without overflow.

    Args:
        input: any shape, floating point.
        dim: the dimension whose elements shall sum to 1.
        dtype: cast to it before computing.

    Raises:
        IndexError: if `dim` is out of range.
        RuntimeError: if the dtype to compute in is not floating point.

    Example:
        >>> import raxis
        >>> raxis.softmax(raxis.tensor([0.0, 0.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    operand, axis, target = _prepared("softmax", input, dim, dtype)
    powers = emit("exp", _from_greatest(operand, axis))
    return cast(emit("div", powers, along("reduce_sum", powers, axis)), target)


@lowered(
    "_log_softmax_gradient(Tensor grad_result, Tensor result_of, int dim) -> Tensor",
    vjp={
        "grad_result": lambda grad, result_of, dim: grad - (grad * result_of.exp()).sum(dim, keepdim=True),
        "result_of": lambda grad, grad_result, result_of, dim: (
            -grad * result_of.exp() * grad_result.sum(dim, keepdim=True)
        ),
    },
    **_OPTIONS,
)
def _log_softmax_gradient(grad_result: Tensor, result_of: Tensor, dim: int) -> Any:
    """Gradient of log-softmax from its result: ``grad - exp(result) * sum(grad)``."""
    axis = wrap_dim(dim, result_of.ndim)
    grad = wide(grad_result)
    share = emit("mul", emit("exp", wide(result_of)), along("reduce_sum", grad, axis))
    return cast(emit("sub", grad, share), result_of.dtype)


@lowered(
    "log_softmax(Tensor input, int dim, dtype? dtype=None) -> Tensor",
    vjp={"input": lambda grad, result, dim: _log_softmax_gradient(grad, result, dim)},
    composite=True,
)
def log_softmax(input: Tensor, dim: int, dtype: DType | None) -> Any:
    """``log(softmax(input))`` along a dimension, accurate also where the softmax underflows.

    Args:
        input: any shape, floating point.
        dim: the dimension along which the softmax sums to 1.
        dtype: cast to it before computing.

    Raises:
        IndexError: if `dim` is out of range.
        RuntimeError: if the dtype to compute in is not floating point.

    Example:
        >>> import raxis
        >>> raxis.log_softmax(raxis.tensor([0.0, 0.0]), dim=0)
        tensor([-0.6931, -0.6931])
    """
    operand, axis, target = _prepared("log_softmax", input, dim, dtype)
    shifted = _from_greatest(operand, axis)
    if operand.ndim == 0:
        return cast(shifted, target)
    total = emit("log", reduce("reduce_sum", emit("exp", shifted), axis, True))
    return cast(emit("sub", shifted, broadcast(total, operand._layout.shape)), target)


# ---- raxis.nn.functional ---------------------------------------------------------------------------

_SIGNATURE = "(Tensor input, int? dim=None, int _stacklevel=3, dtype? dtype=None) -> Tensor"


def _chosen_dim(name: str, dim: int | None, ndim: int, stacklevel: int) -> int:
    """The dimension, or with a warning the one that older releases chose."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        UserWarning,
        stacklevel=stacklevel + 1,  # the call of the composed op
    )
    return 0 if ndim in (0, 1, 3) else 1


@functional("softmax" + _SIGNATURE)
def _functional_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """``exp(input) / sum(exp(input))`` along a dimension; see `raxis.softmax`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.softmax(raxis.tensor([0.0, 0.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    return softmax(input, _chosen_dim("softmax", dim, input.ndim, _stacklevel), dtype)


@functional("log_softmax" + _SIGNATURE)
def _functional_log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """``log(softmax(input))`` along a dimension; see `raxis.log_softmax`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.log_softmax(raxis.tensor([0.0, 0.0]), dim=0)
        tensor([-0.6931, -0.6931])
    """
    return log_softmax(input, _chosen_dim("log_softmax", dim, input.ndim, _stacklevel), dtype)


@functional("softmin" + _SIGNATURE)
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """``softmax(-input)`` along a dimension.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.softmin(raxis.tensor([0.0, 0.0]), dim=0)
        tensor([0.5000, 0.5000])
    """
    return softmax(-input, _chosen_dim("softmin", dim, input.ndim, _stacklevel), dtype)


@functional(
    "gumbel_softmax(Tensor logits, float tau=1, bool hard=False, float eps=1e-10, int dim=-1) -> Tensor"
)
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random, differentiable, nearly one-hot choice with probabilities ``softmax(logits)``.

    Args:
        logits: unnormalised log-probabilities, any shape.
        tau: temperature; the smaller, the closer to one-hot.
        hard: return exactly one-hot values, with the gradient of the soft ones.
        eps: ignored, as in PyTorch.
        dim: the dimension of the choices.

    Source: Jang, Gu, Poole, "Categorical Reparameterization with Gumbel-Softmax", ICLR 2017.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.gumbel_softmax(raxis.zeros(2, 3), hard=True).sum(-1)
        tensor([1., 1.])
    """
    noise = -logits.detach().clone().exponential_().log()
    soft: Tensor = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    choice = soft.detach().argmax(dim, keepdim=True)
    one_hot = soft.new_zeros(soft.shape).scatter_(dim, choice, 1.0)
    return one_hot - soft.detach() + soft
