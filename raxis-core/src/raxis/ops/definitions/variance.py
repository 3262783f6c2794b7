"""Variance, standard deviation and covariance."""

from __future__ import annotations

import warnings
from typing import Any

from raxis.dtypes import Category
from raxis.frames import user_stacklevel
from raxis.ops.definitions.reductions import Dims, constant_like, reduce, reduced_count, restore_dims
from raxis.ops.definitions.verdicts import require_none, saying
from raxis.ops.formulas import wide
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, emit
from raxis.tensor import Tensor


def _variance(name: str, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    """While tracing: the variance, in float32 for half precision."""
    if input.dtype.category < Category.FLOAT:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    operand = wide(input)
    shape = operand._layout.shape
    count = reduced_count(input._layout, dim)
    if count - correction <= 0:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    total = reduce("reduce_sum", operand, dim, True)
    mean = emit("div", total, constant_like(total, count))
    deviation = emit("abs", emit("sub", operand, broadcast(mean, shape)))
    squares = reduce("reduce_sum", emit("mul", deviation, deviation), dim, keepdim)
    return emit("div", squares, constant_like(squares, max(count - correction, 0)))


def _var_vjp(grad: Tensor, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    layout = input._layout
    freedom = reduced_count(layout, dim) - correction
    grad = restore_dims(grad, layout, dim, keepdim)
    deviation = input - input.mean(dim, True)
    return grad * deviation * (2 / freedom if freedom > 0 else float("nan"))


def _std_vjp(grad: Tensor, result: Tensor, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    of_variance = (grad / (result * 2)).masked_fill(result == 0, 0)
    return _var_vjp(of_variance, input, dim, correction, keepdim)


@lowered(
    "_var(Tensor input, int[]? dim, number correction, bool keepdim) -> Tensor",
    vjp={"input": _var_vjp},
    exact=False,
    method=False,
    function=False,
)
def _var(input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    """The variance over `dim`."""
    return cast(_variance("var", input, dim, correction, keepdim), input.dtype.to_real())


@lowered(
    "_std(Tensor input, int[]? dim, number correction, bool keepdim) -> Tensor",
    vjp={"input": _std_vjp},
    exact=False,
    method=False,
    function=False,
)
def _std(input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    """The standard deviation over `dim`."""
    return cast(emit("sqrt", _variance("std", input, dim, correction, keepdim)), input.dtype.to_real())


def _spread_arguments(dim: Any, unbiased: bool | None, correction: float | None) -> tuple[Dims, float]:
    """`dim` and `correction` of the overloads ``(unbiased)`` and ``(dim, unbiased, keepdim)``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return tuple(dim) if isinstance(dim, list) else dim, correction


_SPREAD = "(Tensor input, any dim=None, bool? unbiased=None, bool keepdim=False, *, number? correction=None) -> Tensor"


@composed("var" + _SPREAD, out=False)
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Any:
    """The variance over `dim`, or of all elements: ``sum(abs(x - mean) ** 2) / max(0, n - correction)``.

    Args:
        input: floating point or complex; the variance is real.
        dim: dimension or dimensions; None: all.
        unbiased: True for correction 1, False for 0.
        keepdim: keep these dimensions with size 1.
        correction: subtracted from the number of elements; default 1 (Bessel's correction).

    Raises:
        RuntimeError: if `input` is neither floating point nor complex.

    Example:
        >>> import raxis
        >>> raxis.var(raxis.tensor([1.0, 2.0, 3.0, 6.0]), correction=0)
        tensor(3.5000)
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _var(input, dim, correction, keepdim, out=out)


@composed("std" + _SPREAD, out=False)
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Any:
    """The standard deviation over `dim`, or of all elements: the root of `var`.

    Args: as `var`.

    Raises: as `var`.

    Example:
        >>> import raxis
        >>> raxis.std(raxis.tensor([1.0, 2.0, 3.0]))
        tensor(1.)
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _std(input, dim, correction, keepdim, out=out)


@composed("var_mean" + _SPREAD, method=False, out=False)
def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Any, Any]:
    """The pair of `var` and `mean` over `dim`, or of all elements.

    Args: as `var`.

    Raises: as `var`.

    Example:
        >>> import raxis
        >>> raxis.var_mean(raxis.tensor([1.0, 2.0, 3.0]))
        (tensor(1.), tensor(2.))
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _var(input, dim, correction, keepdim), input.mean(dim, keepdim)


@composed("std_mean" + _SPREAD, method=False, out=False)
def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Any, Any]:
    """The pair of `std` and `mean` over `dim`, or of all elements.

    Args: as `var`.

    Raises: as `var`.

    Example:
        >>> import raxis
        >>> raxis.std_mean(raxis.tensor([1.0, 2.0, 3.0]))
        (tensor(1.), tensor(2.))
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _std(input, dim, correction, keepdim), input.mean(dim, keepdim)


# ---- covariance ------------------------------------------------------------------------------------------------------


@composed(
    "cov(Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
    out=False,
)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Any:
    """The covariance matrix of the variables in the rows of `input`, observations in columns.

    Args:
        input: at most 2-D.
        correction: subtracted from the number of observations.
        fweights: 1-D integers, how often each observation was made.
        aweights: 1-D, the weight of each observation.

    Raises:
        RuntimeError: if `input` has more than 2 dimensions or weights do not fit.

    Example:
        >>> import raxis
        >>> raxis.cov(raxis.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    observations = input.reshape(1, -1) if input.ndim < 2 else input
    weights = _observation_weights(observations, fweights, aweights)
    total: Any = observations.shape[1] if weights is None else weights.sum()
    weighted = observations if weights is None else observations * weights
    mean = weighted.sum(1, True) / total
    factor = _normalisation(total, correction, weights, aweights)
    deviation = observations - mean
    right = deviation if weights is None else deviation * weights
    return (deviation @ right.mH / factor).squeeze()


def _normalisation(total: Any, correction: int, weights: Tensor | None, aweights: Tensor | None) -> Any:
    if weights is None:
        return max(total - correction, 0)
    if aweights is None or correction == 0:
        return (total - correction).clamp(min=0)
    return (total - correction * (weights * aweights).sum() / total).clamp(min=0)


def _observation_weights(
    observations: Tensor, fweights: Tensor | None, aweights: Tensor | None
) -> Tensor | None:
    weights = None
    for name, given, category in (
        ("fweights", fweights, Category.INTEGER),
        ("aweights", aweights, Category.FLOAT),
    ):
        if given is None:
            continue
        _check_weights(name, given, category, observations.shape[1])
        weights = given if weights is None else weights * given
    return weights


def _check_weights(name: str, weights: Tensor, category: Category, count: int) -> None:
    if weights.ndim > 1 or weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to be 1-D with one element per observation ({count}), but got shape "
            f"{list(weights.shape)}"
        )
    if weights.dtype.category is not category:
        kind = "integral" if category is Category.INTEGER else "floating point"
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype, but got {weights.dtype.name}")
    sentence = f"cov(): {name} cannot be negative"
    require_none(weights < 0, saying(RuntimeError, sentence))


@composed("corrcoef(Tensor input) -> Tensor", out=False)
def corrcoef(input: Tensor) -> Any:
    """Pearson's correlation coefficients of the variables in the rows of `input`.

    Args:
        input: at most 2-D, observations in columns.

    Raises:
        RuntimeError: if `input` has more than 2 dimensions.

    Example:
        >>> import raxis
        >>> raxis.corrcoef(raxis.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    covariance = cov(input)
    if covariance.ndim == 0:
        return covariance / covariance
    deviations = (
        covariance.diagonal().real.sqrt() if covariance.dtype.is_complex else covariance.diagonal().sqrt()
    )
    coefficients = covariance / deviations.unsqueeze(-1) / deviations
    return coefficients if coefficients.dtype.is_complex else coefficients.clamp(-1, 1)
