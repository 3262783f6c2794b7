"""New tensors of random numbers: rand, randn, randint, randperm and their *_like forms."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.layout import Layout
from raxis.memory_format import memory_format
from raxis.numeric_limits import finfo
from raxis.ops.call import repeated
from raxis.ops.definitions import random
from raxis.ops.definitions.factory import CREATION_OPTIONS, empty_of, like_layout, sizes_of
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import OPS, Effect, created
from raxis.placement import DeviceLike, as_device
from raxis.tensor import Tensor

_OPTIONS: dict[str, Any] = {"method": False, "effect": Effect.RANDOM}
_SIZED = f"(int... size, *, Generator? generator=None, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor"
_LIKE = f"(Tensor input, *, Generator? generator=None, {CREATION_OPTIONS}, memory_format? memory_format=None) -> Tensor"


@created("rand" + _SIZED, **_OPTIONS)
def rand(
    *args: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[..., Tensor]:
    """Numbers uniform on [0, 1).

    Args:
        size: ints, or one sequence of ints.
        generator: stream to draw from; default: the device's, see `manual_seed`.
        dtype: floating point or complex; default: `get_default_dtype`.

    Raises:
        RuntimeError: for other dtypes or negative sizes.

    Example:
        >>> import raxis
        >>> x = raxis.rand(100)
        >>> bool(((x >= 0) & (x < 1)).all())
        True
    """
    return _drawn("_rand", sizes_of(args, size), dtype, device)


@created("randn" + _SIZED, **_OPTIONS)
def randn(
    *args: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[..., Tensor]:
    """Normal numbers of mean 0 and variance 1 (Box and Muller, 1958); arguments as `rand`.

    Example:
        >>> import raxis
        >>> raxis.randn(2, 3).shape
        raxis.Size([2, 3])
    """
    return _drawn("_randn", sizes_of(args, size), dtype, device)


def _drawn(
    name: str, size: tuple[int, ...], dtype: DType | None, device: DeviceLike | None
) -> Callable[..., Tensor]:
    return repeated(OPS[name], size, dtype or get_default_dtype(), as_device(device))


@created("rand_like" + _LIKE, **_OPTIONS)
def rand_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[..., Tensor]:
    """Numbers uniform on [0, 1) with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.rand_like(raxis.ones(2, 3)).shape
        raxis.Size([2, 3])
    """
    return _drawn_like("_rand", input, dtype, device, memory_format)


@created("randn_like" + _LIKE, **_OPTIONS)
def randn_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[..., Tensor]:
    """Normal numbers with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.randn_like(raxis.ones(2, 3)).shape
        raxis.Size([2, 3])
    """
    return _drawn_like("_randn", input, dtype, device, memory_format)


def _drawn_like(
    name: str, input: Tensor, dtype: DType | None, device: DeviceLike | None, order: memory_format | None
) -> Callable[..., Tensor]:
    target = like_layout(input, dtype, device, order)
    return _in_order(target, repeated(OPS[name], target.shape, target.dtype, target.device))


def _in_order(target: Layout, draw: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`draw`, whose results are laid out as `target`."""
    if target.is_contiguous:
        return draw
    return lambda generator: empty_of(target).copy_(draw(generator))


@created(
    "randint(int low, int? high=None, int[]? size=None, *, Generator? generator=None, Tensor? out=None, "
    f"{CREATION_OPTIONS}) -> Tensor",
    **_OPTIONS,
)
def randint(
    *args: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[..., Tensor]:
    """Integers uniform on ``[low, high)``: ``randint(high, size)`` or ``randint(low, high, size)``.

    Args:
        low: smallest value; default 0.
        high: one above the largest value.
        size: sequence of ints.
        generator: stream to draw from.
        dtype: default: int64.

    Raises:
        RuntimeError: if ``low >= high``, or the bounds do not fit `dtype`.

    Example:
        >>> import raxis
        >>> x = raxis.randint(3, 5, (100,))
        >>> x.min().item() >= 3 and x.max().item() < 5
        True
    """
    low, high, shape = _randint_arguments(args, low, high, size)
    target = dtype or dtypes.int64
    integers = integer_range("random_", low, high, target)
    return repeated(OPS["_randint"], shape, *integers, target, as_device(device))


def _randint_arguments(args: tuple[Any, ...], low: int, high: int | None, size: Any) -> tuple[int, int, Any]:
    given = list(args)
    if given and not isinstance(given[-1], int) and size is None:
        size = given.pop()
    if len(given) == 2:
        low, high = given
    elif len(given) == 1:
        low, high = (low, given[0]) if high is None else (given[0], high)
    if high is None or size is None:
        raise TypeError("randint() takes (high, size) or (low, high, size).")
    return integer_bound("randint", "low", low), integer_bound("randint", "high", high), sizes_of((size,))


def integer_bound(function: str, name: str, value: Any) -> int:
    """An argument that must be an integer.

    Raises:
        TypeError: if it is none.
    """
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{function}(): argument '{name}' must be int, not {type(value).__name__}") from None


def integer_range(name: str, low: int, high: int, dtype: DType) -> tuple[int, int, int]:
    """The integers of ``[low, high)`` as `random.range_of_integers`.

    Raises:
        RuntimeError: if there is none, or `dtype` does not hold them all.
    """
    if low >= high:
        raise RuntimeError(f"{name} expects 'from' to be less than 'to', but got from={low} >= to={high}")
    smallest, largest = integer_bounds(dtype)
    for what, value in (("from", low), ("to - 1", high - 1)):
        if not smallest <= value <= largest:
            raise RuntimeError(
                f"{what} is out of bounds for {dtype.name}: {value} is not in [{smallest}, {largest}]"
            )
    return random.range_of_integers(low, high - low)


def integer_bounds(dtype: DType) -> tuple[int, int]:
    """The integers that `dtype` holds; for floats, those that `random_` may be asked for."""
    if dtype.category is Category.BOOL:
        return 0, 1
    if dtype.category is Category.INTEGER:
        bits = 8 * dtype.itemsize
        return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype.is_signed else (0, (1 << bits) - 1)
    if dtype.is_complex:
        raise NotImplementedError(f'"random_" not implemented for {dtype.name}')
    highest = int(finfo(dtype).max)
    return max(-highest, -(1 << 63)), min(highest, (1 << 63) - 1)


@created(
    f"randint_like(Tensor input, int low, int? high=None, *, Generator? generator=None, {CREATION_OPTIONS}, "
    "memory_format? memory_format=None) -> Tensor",
    **_OPTIONS,
)
def randint_like(
    input: Tensor,
    *args: Any,
    low: int = 0,
    high: int | None = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[..., Tensor]:
    """Integers uniform on ``[low, high)`` with `input`'s shape and, unless given, its dtype and device.

    Called as ``randint_like(input, high)`` or ``randint_like(input, low, high)``.

    Raises:
        RuntimeError: if ``low >= high``, or the bounds do not fit the dtype.

    Example:
        >>> import raxis
        >>> raxis.randint_like(raxis.ones(2), 1)
        tensor([0., 0.])
    """
    low, high, shape = _randint_arguments(args, low, high, input._layout.shape)
    target = like_layout(input, dtype, device, memory_format)
    integers = integer_range("random_", low, high, target.dtype)
    return _in_order(target, repeated(OPS["_randint"], shape, *integers, target.dtype, target.device))


@created(
    f"randperm(int n, *, Generator? generator=None, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor",
    **_OPTIONS,
)
def randperm(
    n: int,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[..., Tensor]:
    """The integers 0 to ``n - 1`` in random order.

    Raises:
        RuntimeError: if `n` is negative, or `dtype` does not hold ``n - 1``.

    Example:
        >>> import raxis
        >>> raxis.randperm(4).sort().values
        tensor([0, 1, 2, 3])
    """
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    target = dtype or dtypes.int64
    limit = 1 << random.MANTISSA_BITS[target] if target.is_floating_point else integer_bounds(target)[1]
    if n - 1 > limit:
        raise RuntimeError(f"n is too large for result tensor type: {target.name} does not hold {n - 1}")
    return repeated(OPS["_randperm"], n, target, as_device(device))
