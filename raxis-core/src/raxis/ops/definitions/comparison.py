"""Comparisons, choosing by a condition, the larger and the smaller of two tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.layout import broadcast_shapes
from raxis.ops.definitions.elementwise import binary, computed
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, elementwise, lowered
from raxis.ops.trace import broadcast, cast, emit
from raxis.tensor import Tensor


def _compared(name: str, relation: str, result: str, aliases: tuple[str, ...] = ()) -> Callable[..., Any]:
    return elementwise(
        f"{name}(Tensor input, Tensor|Scalar other) -> Tensor",
        name,
        binary(name, f"Whether ``input {relation} other``, as bools.", "raxis.tensor([1, 2, 3]), 2", result),
        operator=f"__{name}__",
        aliases=aliases,
    )


eq = _compared("eq", "==", "[False,  True, False]")
ne = _compared("ne", "!=", "[ True, False,  True]", ("not_equal",))
lt = _compared("lt", "<", "[ True, False, False]", ("less",))
le = _compared("le", "<=", "[ True,  True, False]", ("less_equal",))
gt = _compared("gt", ">", "[False, False,  True]", ("greater",))
ge = _compared("ge", ">=", "[False,  True,  True]", ("greater_equal",))


def _check_condition(condition: Tensor) -> None:
    if condition.dtype not in (dtypes.bool_, dtypes.uint8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got dtype {condition.dtype}."
        )


@lowered(
    "_where(Tensor condition, Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    promoted=("input", "other"),
    check=_check_condition,
    exact=True,
    method=False,
    function=False,
    vjp={
        "input": lambda grad, condition: where(condition, grad, 0),
        "other": lambda grad, condition: where(condition, 0, grad),
    },
)
def _where(condition: Tensor, input: Tensor, other: Tensor) -> Any:
    """The elements of `input` where `condition`, else of `other`."""
    shape = broadcast_shapes(condition.shape, input.shape)
    chosen = broadcast(cast(condition, dtypes.bool_), shape)
    return emit("select", chosen, broadcast(input, shape), broadcast(other, shape))


@composed(
    "where(Tensor condition, Tensor|Scalar? input=None, Tensor|Scalar? other=None) -> Tensor",
    method=False,
    out=False,
)
def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Tensor | None = None) -> Any:
    """The elements of `input` where `condition` is true, else of `other`.

    Args:
        condition: bool tensor.
        input: tensor or number.
        other: tensor or number; all three shapes must broadcast.
        out: written instead of a new tensor.

    Returns:
        A tensor of the broadcast shape and the operands' result type. With `condition` alone: the tuple of
        index tensors that ``nonzero(condition, as_tuple=True)`` gives.

    Raises:
        RuntimeError: if `condition` is not bool, or the shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.where(raxis.tensor([True, False]), raxis.tensor([1, 2]), 0)
        tensor([1, 0])
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if out is not None:
        return _where(condition, input, other, out=out)
    return _where(condition, input, other)


@composed(
    "where(Tensor input, Tensor condition, Tensor|Scalar other) -> Tensor",
    namespace="raxis.Tensor",
    function=False,
    out=False,
)
def _where_method(input: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The elements of this tensor where `condition` is true, else of `other`; see `raxis.where`."""
    return _where(condition, input, other)


def _split_ties(chosen: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The gradient where `chosen` holds, half of it at ties, all of it at NaN."""

    def gradient(grad: Tensor, first: Tensor, second: Tensor) -> Tensor:
        return where(first == second, grad / 2, where(chosen(second, first), 0, grad))

    return gradient


_larger = _split_ties(lambda first, second: first > second)
_smaller = _split_ties(lambda first, second: first < second)
maximum = elementwise(
    "maximum(Tensor input, Tensor other) -> Tensor",
    "maximum",
    binary(
        "maximum",
        "The larger of two elements; NaN if either is NaN.",
        "raxis.tensor([1, 5]), raxis.tensor([3, 4])",
        "[3, 5]",
    ),
    inplace=False,
    vjp={
        "input": lambda grad, input, other: _larger(grad, input, other),
        "other": lambda grad, input, other: _larger(grad, other, input),
    },
)


minimum = elementwise(
    "minimum(Tensor input, Tensor other) -> Tensor",
    "minimum",
    binary(
        "minimum",
        "The smaller of two elements; NaN if either is NaN.",
        "raxis.tensor([1, 5]), raxis.tensor([3, 4])",
        "[1, 4]",
    ),
    inplace=False,
    vjp={
        "input": lambda grad, input, other: _smaller(grad, input, other),
        "other": lambda grad, input, other: _smaller(grad, other, input),
    },
)


fmax = computed(
    "fmax(Tensor input, Tensor other) -> Tensor",
    binary(
        "fmax",
        "The larger of two elements; NaN only if both are NaN.",
        "raxis.tensor([1.0, float('nan')]), raxis.tensor([3.0, 4.0])",
        "[3., 4.]",
    ),
    lambda input, other: where(input.isnan(), other, where(other.isnan(), input, maximum(input, other))),
    promotion=Promotion.ARITHMETIC,
    inplace=False,
    vjp={
        "input": lambda grad, input, other: where((input >= other) | other.isnan(), grad, 0),
        "other": lambda grad, input, other: where((input >= other) | other.isnan(), 0, grad),
    },
)


fmin = computed(
    "fmin(Tensor input, Tensor other) -> Tensor",
    binary(
        "fmin",
        "The smaller of two elements; NaN only if both are NaN.",
        "raxis.tensor([1.0, float('nan')]), raxis.tensor([3.0, 4.0])",
        "[1., 4.]",
    ),
    lambda input, other: where(input.isnan(), other, where(other.isnan(), input, minimum(input, other))),
    promotion=Promotion.ARITHMETIC,
    inplace=False,
    vjp={
        "input": lambda grad, input, other: where((input <= other) | other.isnan(), grad, 0),
        "other": lambda grad, input, other: where((input <= other) | other.isnan(), 0, grad),
    },
)
