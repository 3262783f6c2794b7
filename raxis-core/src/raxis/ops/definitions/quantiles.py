"""Quantiles."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.layout import wrap_dim
from raxis.ops.definitions.reductions import kept_shape
from raxis.ops.definitions.verdicts import require_fractions
from raxis.ops.table import composed
from raxis.tensor import Tensor

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
_QUANTILE = (
    "(Tensor input, Tensor|Scalar q, int? dim=None, bool keepdim=False, *, "
    "str interpolation='linear') -> Tensor"
)


def _quantile(
    name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, *, skip_nan: bool
) -> Any:
    q = _checked_q(name, input, q, interpolation)
    if dim is None:
        shape: tuple[int, ...] = (1,) * input.ndim
        operand = input.reshape(-1)
    else:
        axis = wrap_dim(dim, input.ndim)
        shape = kept_shape(input._layout.shape, (axis,))
        operand = input.unsqueeze(-1).transpose(axis, -1).squeeze(axis) if input.ndim else input.reshape(1)
    if operand.shape[-1] == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    found = _interpolated(operand.sort(-1)[0], q.reshape(-1), interpolation, skip_nan=skip_nan)
    found = found.movedim(-1, 0) if q.ndim else found.squeeze(-1)
    return found.reshape((*q.shape, *shape)) if keepdim else found


def _checked_q(name: str, input: Tensor, q: Any, interpolation: str) -> Tensor:
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return input.new_full((), q)
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    require_fractions(q, f"{name}() q values must be in the range [0, 1]")
    return q


def _interpolated(ordered: Tensor, q: Tensor, interpolation: str, *, skip_nan: bool) -> Any:
    size = ordered.shape[-1]
    nans = (ordered != ordered).sum(-1, True)  # noqa: PLR0124  NaN
    if skip_nan:
        ranks = (q * (size - 1 - nans)).clamp(min=0)
    else:
        ranks = (q * (size - 1)).expand((*ordered.shape[:-1], q.shape[0]))
        ranks = ranks.masked_fill(nans > 0, size - 1)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[interpolation]()
        return ordered.gather(-1, ranks.to(dtypes.int64))
    below = ranks.to(dtypes.int64)
    low, high = ordered.gather(-1, below), ordered.gather(-1, ranks.ceil().to(dtypes.int64))
    return low.lerp(high, ranks - below) if interpolation == "linear" else low.lerp(high, 0.5)


@composed("quantile" + _QUANTILE)
def quantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The `q`-th quantiles along `dim`, or of all elements; NaN where any element is NaN.

    Args:
        input: float32 or float64, not empty.
        q: number or 1-D tensor in [0, 1]; a tensor adds a leading dimension to the result.
        dim: dimension; None: all elements.
        keepdim: keep the dimension with size 1.
        interpolation: between two elements: linear, lower, higher, midpoint or nearest.

    Raises:
        RuntimeError: if an argument is not of these kinds.

    Example:
        >>> import raxis
        >>> raxis.quantile(raxis.tensor([0.0, 1.0, 2.0, 3.0]), 0.5)
        tensor(1.5000)
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, skip_nan=False)


@composed("nanquantile" + _QUANTILE)
def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The `q`-th quantiles, as `quantile`, of the elements that are not NaN.

    Args: as `quantile`.

    Raises: as `quantile`.

    Example:
        >>> import raxis
        >>> raxis.nanquantile(raxis.tensor([0.0, float("nan"), 2.0]), 0.5)
        tensor(1.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, skip_nan=True)
