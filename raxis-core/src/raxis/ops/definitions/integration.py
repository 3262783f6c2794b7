"""Integrals and derivatives of sampled functions: the trapezoidal rule, gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis import dtypes
from raxis.layout import wrap_dim
from raxis.ops.definitions.joining import cat
from raxis.ops.table import composed
from raxis.tensor import Tensor

_RULE = "Tensor y, Tensor? x=None, *, Scalar? dx=None, int dim=-1"


def _neighbours(y: Tensor, axis: int) -> tuple[Any, Any]:
    last = y.shape[axis] - 1
    return y.narrow(axis, 0, last), y.narrow(axis, 1, last)


def _widths(name: str, y: Tensor, x: Tensor, axis: int) -> Any:
    """Distances between places, in a shape that broadcasts with `y`'s."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[axis]:
            raise RuntimeError(
                f"{name}: There must be one `x` value for each sample point, but there are {x.shape[0]} for "
                f"{y.shape[axis]} along dimension {axis}."
            )
        x = x.reshape([-1 if dim == axis else 1 for dim in range(y.ndim)])
    elif x.ndim < y.ndim:
        x = x.reshape([1] * (y.ndim - x.ndim) + list(x.shape))
    left, right = _neighbours(x, axis)
    return right - left


def _check(name: str, y: Tensor, x: Tensor | None, dx: Any) -> None:
    if x is not None and dx is not None:
        raise TypeError(f"{name} takes either x or dx, but got both.")
    if y.dtype is dtypes.bool_ or (x is not None and x.dtype is dtypes.bool_):
        raise RuntimeError(f"{name}: received a bool input, but bool is not supported")


@composed(f"trapezoid({_RULE}) -> Tensor", method=False, out=False, aliases=("trapz",))
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integral along `dim` by the trapezoidal rule.

    Args:
        y: values, at least 1-D.
        x: places: 1-D, or a shape that broadcasts with `y`'s.
        dx: distance of places; default 1. Not together with `x`.
        dim: dimension to integrate along.

    Raises:
        RuntimeError: if an operand is bool, or the shape of `x` does not fit.
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.trapezoid(raxis.tensor([1.0, 5.0, 10.0]))
        tensor(10.5000)
    """
    _check("trapezoid", y, x, dx)
    axis = wrap_dim(dim, y.ndim)
    if y.shape[axis] == 0:
        return y.new_zeros([size for place, size in enumerate(y.shape) if place != axis])
    if x is None:
        ends = (y.select(axis, 0) + y.select(axis, -1)) * 0.5
        return (y.sum(axis) - ends) * (1 if dx is None else dx)
    left, right = _neighbours(y, axis)
    return (_widths("trapezoid", y, x, axis) * (left + right)).sum(axis) / 2


@composed(f"cumulative_trapezoid({_RULE}) -> Tensor", method=False, out=False)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Any:
    """The integrals up to each place but the first; arguments as `trapezoid`.

    Raises:
        RuntimeError: if an operand is bool, or the shape of `x` does not fit.

    Example:
        >>> import raxis
        >>> raxis.cumulative_trapezoid(raxis.tensor([1.0, 5.0, 10.0]))
        tensor([ 3.0000, 10.5000])
    """
    _check("cumulative_trapezoid", y, x, dx)
    axis = wrap_dim(dim, y.ndim)
    left, right = _neighbours(y, axis) if y.shape[axis] else (y, y)
    if x is None:
        return (left + right).cumsum(axis) * ((1 if dx is None else dx) / 2)
    return (_widths("cumulative_trapezoid", y, x, axis) * (left + right)).cumsum(axis) / 2


# ---- gradient --------------------------------------------------------------------------------------------------------


@composed(
    "gradient(Tensor input, *, any spacing=None, int[]? dim=None, int edge_order=1) -> Tensor...",
    method=False,
    out=False,
)
def gradient(
    input: Tensor, *, spacing: Any = None, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> Any:
    """The derivative along each of `dim`, by central differences inside and one-sided ones at the edges.

    Args:
        input: values of a function on a grid.
        spacing: distance of places, default 1: one number for all dimensions, one per dimension, or one tensor of
            places each.
        dim: dimensions; default: all.
        edge_order: 1 or 2, order of the error at the edges.

    Raises:
        RuntimeError: if `edge_order` is another, `spacing` does not fit `dim`, or a dimension is shorter than
            ``edge_order + 1``.

    Example:
        >>> import raxis
        >>> raxis.gradient(raxis.tensor([1.0, 4.0, 9.0]))[0]
        tensor([3., 4., 5.])
    """
    axes = _axes(input, dim)
    if edge_order not in (1, 2):
        raise RuntimeError(
            f"torch.gradient only supports edge_order=1 and edge_order=2, but got {edge_order}."
        )
    spacings = _spacings(spacing, len(axes))
    for axis, places in zip(axes, spacings, strict=True):
        _check_axis(input, axis, places, edge_order)
    return tuple(
        _derivative(input, axis, places, edge_order) for axis, places in zip(axes, spacings, strict=True)
    )


def _axes(input: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    if dim is None:
        return list(range(input.ndim))
    axes = [wrap_dim(item, input.ndim) for item in ((dim,) if isinstance(dim, int) else dim)]
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"a dimension appears multiple times in dim={dim}")
    return axes


def _spacings(spacing: Any, count: int) -> list[Any]:
    if isinstance(spacing, (tuple, list)):
        if len(spacing) != count:
            raise RuntimeError(
                f"torch.gradient expected spacing to be unspecified, a scalar or a list of {count} elements, but got "
                f"{len(spacing)}."
            )
        return list(spacing)
    if isinstance(spacing, Tensor):
        raise TypeError("gradient takes tensors of places in a list, one for each dimension.")
    return [1 if spacing is None else spacing] * count


def _check_axis(input: Tensor, axis: int, places: Any, edge_order: int) -> None:
    size = input.shape[axis]
    if size < edge_order + 1:
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1, but dimension "
            f"{axis} has size {size}."
        )
    if isinstance(places, Tensor) and (places.ndim != 1 or places.shape[0] != size):
        raise RuntimeError(
            f"torch.gradient expected spacing to be 1-D of {size} elements along dimension {axis}, but got shape "
            f"{list(places.shape)}."
        )


def _derivative(input: Tensor, axis: int, places: Any, edge_order: int) -> Any:
    if isinstance(places, Tensor):
        shape = [-1 if dim == axis else 1 for dim in range(input.ndim)]
        steps = places.diff().reshape(shape)
        first, second = (steps.narrow(axis, start, steps.shape[axis] - 1) for start in (0, 1))
    else:
        steps = first = second = places
    edges = [_edge(input, axis, steps, edge_order, last) for last in (False, True)]
    if input.shape[axis] == 2:
        return cat(edges, axis)
    return cat([edges[0], _inner(input, axis, first, second), edges[1]], axis)


def _inner(input: Tensor, axis: int, first: Any, second: Any) -> Any:
    """Exact for parabolas, also where the steps before and after a place differ."""
    before, middle, after = (input.narrow(axis, start, input.shape[axis] - 2) for start in (0, 1, 2))
    if not isinstance(first, Tensor):
        return (after - before) / (2 * first)
    below = -second / (first * (first + second))
    above = first / (second * (first + second))
    return below * before - (below + above) * middle + above * after


def _edge(input: Tensor, axis: int, steps: Any, edge_order: int, last: bool) -> Any:
    """The derivative at the first or the last place."""
    size = input.shape[axis]
    near, middle, far = (
        input.narrow(axis, size - 1 - index if last else index, 1) if index < size else input
        for index in range(3)
    )
    first, second = _edge_steps(steps, axis, last)
    sign = -1 if last else 1
    if edge_order == 1:
        return (middle - near) * sign / first
    nearest = -(2 * first + second) / (first * (first + second))
    between = (first + second) / (first * second)
    beyond = -first / (second * (first + second))
    return (near * nearest + middle * between + far * beyond) * sign


def _edge_steps(steps: Any, axis: int, last: bool) -> tuple[Any, Any]:
    if not isinstance(steps, Tensor):
        return steps, steps
    count = steps.shape[axis]
    second = min(1, count - 1)
    first, following = (steps.narrow(axis, count - 1 - place if last else place, 1) for place in (0, second))
    return first, following
