"""Comparisons, tests of values, choosing between values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.layout import broadcast_shapes
from raxis.ops.definitions.elementwise import binary, computed, unary
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, elementwise, lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.tensor import Tensor

_ANY_DTYPE = "any dtype"


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
    made: Tensor = _where(condition, input, other)
    return made


# ---- tests of values -----------------------------------------------------------------------------------


def _test(
    name: str, summary: str, argument: str, result: str, body: Callable[[Tensor], Any]
) -> Callable[..., Any]:
    return computed(
        f"{name}(Tensor input) -> Tensor",
        unary(name, summary, argument, result, _ANY_DTYPE),
        body,
        promotion=Promotion.ARITHMETIC,
        inplace=False,
        out=name in ("isposinf", "isneginf"),
    )


def _never(input: Tensor) -> Any:
    return constant(False, dtypes.bool_, input.shape)


def _is_exact(input: Tensor) -> bool:
    return input.dtype.category <= Category.INTEGER


def _isnan(input: Tensor) -> Any:
    return _never(input) if _is_exact(input) else emit("ne", input, input)


def _isinf(input: Tensor) -> Any:
    if input.dtype.is_complex:
        return _isinf(emit("real", input)) | _isinf(emit("imag", input))
    return _never(input) if _is_exact(input) else input.abs() == math.inf


def _isfinite(input: Tensor) -> Any:
    if input.dtype.is_complex:
        return _isfinite(emit("real", input)) & _isfinite(emit("imag", input))
    return ~_never(input) if _is_exact(input) else input.abs() < math.inf


def _is_infinity(sign: float) -> Callable[[Tensor], Any]:
    def body(input: Tensor) -> Any:
        return _never(input) if _is_exact(input) else input == sign

    return body


def _isreal(input: Tensor) -> Any:
    return emit("imag", input) == 0 if input.dtype.is_complex else ~_never(input)


_INFINITIES = "[float('inf'), -float('inf')]"
_NAN_AND_INF = "[1.0, float('nan'), float('inf')]"

isnan = _test("isnan", "Whether each element is NaN.", _NAN_AND_INF, "[False,  True, False]", _isnan)
isinf = _test("isinf", "Whether each element is infinite.", _NAN_AND_INF, "[False, False,  True]", _isinf)
isfinite = _test(
    "isfinite",
    "Whether each element is neither infinite nor NaN.",
    _NAN_AND_INF,
    "[ True, False, False]",
    _isfinite,
)
isreal = _test(
    "isreal", "Whether each element has no imaginary part.", "[1 + 0j, 1j]", "[ True, False]", _isreal
)
isposinf = _test(
    "isposinf", "Whether each element is +inf.", _INFINITIES, "[ True, False]", _is_infinity(math.inf)
)
isneginf = _test(
    "isneginf", "Whether each element is -inf.", _INFINITIES, "[False,  True]", _is_infinity(-math.inf)
)


def _check_close(input: Tensor, other: Tensor, rtol: float, atol: float) -> None:
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"{input.dtype} did not match {other.dtype}: isclose compares tensors of one dtype."
        )
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"rtol and atol must be at least zero, but got rtol={rtol}, atol={atol}.")


@lowered(
    "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    check=_check_close,
    out=False,
)
def isclose(input: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Whether ``|input - other| <= atol + rtol * |other|``, element by element.

    Args:
        input: any shape.
        other: same dtype; its shape must broadcast with `input`'s.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether two NaNs are close.

    Raises:
        RuntimeError: if the dtypes differ or a tolerance is negative.

    Example:
        >>> import raxis
        >>> raxis.isclose(raxis.tensor([1.0, 2.0]), raxis.tensor([1.0, 2.1]))
        tensor([ True, False])
    """
    close = input == other
    if equal_nan and not _is_exact(input):
        close = close | (_isnan(input) & _isnan(other))
    if rtol == 0 and atol == 0:
        return close
    if _is_exact(input):
        input, other = cast(input, dtypes.float64), cast(other, dtypes.float64)
    error = (input - other).abs()
    return close | (_isfinite(error) & (error <= atol + (rtol * other).abs()))


@composed(
    "allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    out=False,
)
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close; see `isclose`.

    Example:
        >>> import raxis
        >>> raxis.allclose(raxis.tensor([1.0]), raxis.tensor([1.0 + 1e-7]))
        True
    """
    close: Tensor = isclose(input, other, rtol, atol, equal_nan)
    return bool(close.all())


@composed("equal(Tensor input, Tensor other) -> Tensor", out=False)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and equal elements (NaN equals nothing).

    Raises:
        RuntimeError: if the dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.equal(raxis.tensor([1, 2]), raxis.tensor([1, 2]))
        True
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(f"equal() expected tensors of one dtype, but got {input.dtype} and {other.dtype}.")
    return tuple(input.shape) == tuple(other.shape) and bool(eq(input, other).all())


# ---- extremes of two tensors ---------------------------------------------------------------------------


def _split_ties(chosen: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The gradient where `chosen` holds, half of it at ties, all of it at NaN."""

    def gradient(grad: Tensor, first: Tensor, second: Tensor) -> Tensor:
        made: Tensor = where(first == second, grad / 2, where(chosen(second, first), 0, grad))
        return made

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
    lambda input, other: where(_isnan(input), other, where(_isnan(other), input, maximum(input, other))),
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
    lambda input, other: where(_isnan(input), other, where(_isnan(other), input, minimum(input, other))),
    promotion=Promotion.ARITHMETIC,
    inplace=False,
    vjp={
        "input": lambda grad, input, other: where((input <= other) | other.isnan(), grad, 0),
        "other": lambda grad, input, other: where((input <= other) | other.isnan(), 0, grad),
    },
)
