"""The public random functions: rand, randn, randint, normal, bernoulli, multinomial and relatives."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.layout import broadcast_shapes
from raxis.memory_format import layout as StorageLayout
from raxis.memory_format import memory_format
from raxis.ops.definitions import random
from raxis.ops.definitions.creation import empty_like
from raxis.ops.definitions.factory import (
    CREATION_OPTIONS,
    check_layout,
    like_layout,
    marked,
    prepared,
    sizes_of,
)
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import Effect, composed
from raxis.placement import DeviceLike, as_device
from raxis.random import Generator
from raxis.tensor import Tensor

_SIZED = f"(int... size, *, Generator? generator=None, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor"
_LIKE = f"(Tensor input, *, Generator? generator=None, {CREATION_OPTIONS}, memory_format? memory_format=None) -> Tensor"
_FUNCTION: dict[str, Any] = {"method": False, "out": False, "effect": Effect.RANDOM}
_METHOD: dict[str, Any] = {"function": False, "out": False, "effect": Effect.RANDOM}


@composed("rand" + _SIZED, **_FUNCTION)
def rand(
    *args: Any,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
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
    return _drawn(random._rand, sizes_of(args, size), generator, out, dtype, layout, device, requires_grad)


@composed("randn" + _SIZED, **_FUNCTION)
def randn(
    *args: Any,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers of mean 0 and variance 1 (Box and Muller, 1958); arguments as `rand`.

    Example:
        >>> import raxis
        >>> raxis.randn(2, 3).shape
        raxis.Size([2, 3])
    """
    return _drawn(random._randn, sizes_of(args, size), generator, out, dtype, layout, device, requires_grad)


def _drawn(
    draw: Any,
    size: tuple[int, ...],
    generator: Generator | None,
    out: Tensor | None,
    dtype: DType | None,
    layout: StorageLayout | None,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    """The common body of rand and randn."""
    check_layout(layout)
    if out is not None:
        return prepared(out, size, dtype).copy_(draw(size, generator, dtype=out.dtype, device=out.device))
    return marked(
        draw(size, generator, dtype=dtype or get_default_dtype(), device=as_device(device)), requires_grad
    )


@composed("rand_like" + _LIKE, **_FUNCTION)
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """Numbers uniform on [0, 1) with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.rand_like(raxis.ones(2, 3)).shape
        raxis.Size([2, 3])
    """
    return _drawn_like(random._rand, input, generator, dtype, layout, device, requires_grad, memory_format)


@composed("randn_like" + _LIKE, **_FUNCTION)
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """Normal numbers with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.randn_like(raxis.ones(2, 3)).shape
        raxis.Size([2, 3])
    """
    return _drawn_like(random._randn, input, generator, dtype, layout, device, requires_grad, memory_format)


def _drawn_like(
    draw: Any,
    input: Tensor,
    generator: Generator | None,
    dtype: DType | None,
    layout: StorageLayout | None,
    device: DeviceLike | None,
    requires_grad: bool,
    order: memory_format | None,
) -> Tensor:
    check_layout(layout)
    target = like_layout(input, dtype, device, order)
    made = draw(target.shape, generator, dtype=target.dtype, device=target.device)
    if made._layout is not target:
        made = empty_like(input, dtype=target.dtype, device=target.device, memory_format=order).copy_(made)
    return marked(made, requires_grad)


@composed(
    "randint(int low, int? high=None, int[]? size=None, *, Generator? generator=None, Tensor? out=None, "
    f"{CREATION_OPTIONS}) -> Tensor",
    **_FUNCTION,
)
def randint(
    *args: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
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
    check_layout(layout)
    low, high, shape = _randint_arguments(args, low, high, size)
    target = dtype or (dtypes.int64 if out is None else out.dtype)
    count = _range("random_", low, high, target)
    where = as_device(device) if out is None else out.device
    made: Tensor = random._randint(shape, low, count, generator, dtype=target, device=where)
    return marked(made, requires_grad) if out is None else prepared(out, shape, dtype).copy_(made)


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
    return int(low), int(high), sizes_of((size,))


def _range(name: str, low: int, high: int, dtype: DType) -> int:
    """How many integers lie in ``[low, high)``.

    Raises:
        RuntimeError: if there is none, or `dtype` does not hold them all.
    """
    if low >= high:
        raise RuntimeError(f"{name} expects 'from' to be less than 'to', but got from={low} >= to={high}")
    smallest, largest = _integer_bounds(dtype)
    for what, value in (("from", low), ("to - 1", high - 1)):
        if not smallest <= value <= largest:
            raise RuntimeError(
                f"{what} is out of bounds for {dtype.name}: {value} is not in [{smallest}, {largest}]"
            )
    return min(high - low, (1 << 63) - 1)


def _integer_bounds(dtype: DType) -> tuple[int, int]:
    """The integers that `dtype` holds; for floats, those that `random_` may be asked for."""
    if dtype.category is Category.BOOL:
        return 0, 1
    if dtype.category is Category.INTEGER:
        bits = 8 * dtype.itemsize
        return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype.is_signed else (0, (1 << bits) - 1)
    if dtype.is_complex:
        raise RuntimeError(f'"random_" not implemented for {dtype.name}')
    return -(1 << 63), (1 << 63) - 1


@composed(
    f"randint_like(Tensor input, int low, int? high=None, *, Generator? generator=None, {CREATION_OPTIONS}, "
    "memory_format? memory_format=None) -> Tensor",
    **_FUNCTION,
)
def randint_like(
    input: Tensor,
    *args: Any,
    low: int = 0,
    high: int | None = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    **options: Any,
) -> Tensor:
    """Integers uniform on ``[low, high)`` with `input`'s shape and, unless given, its dtype and device.

    Called as ``randint_like(input, high)`` or ``randint_like(input, low, high)``.

    Raises:
        RuntimeError: if ``low >= high``, or the bounds do not fit the dtype.

    Example:
        >>> import raxis
        >>> raxis.randint_like(raxis.ones(2), 1)
        tensor([0., 0.])
    """
    options.pop("memory_format", None)
    target = input.device if device is None else device
    return randint(
        *args,
        low=low,
        high=high,
        size=input._layout.shape,
        dtype=dtype or input.dtype,
        device=target,
        **options,
    )


@composed(
    f"randperm(int n, *, Generator? generator=None, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor",
    **_FUNCTION,
)
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """The integers 0 to ``n - 1`` in random order.

    Raises:
        RuntimeError: if `n` is negative, or `dtype` does not hold ``n - 1``.

    Example:
        >>> import raxis
        >>> raxis.randperm(4).sort().values
        tensor([0, 1, 2, 3])
    """
    check_layout(layout)
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    target = dtype or (dtypes.int64 if out is None else out.dtype)
    limit = 1 << random.MANTISSA_BITS[target] if target.is_floating_point else _integer_bounds(target)[1]
    if n - 1 > limit:
        raise RuntimeError(f"n is too large for result tensor type: {target.name} does not hold {n - 1}")
    where = as_device(device) if out is None else out.device
    made: Tensor = random._randperm(n, generator, dtype=target, device=where)
    return marked(made, requires_grad) if out is None else prepared(out, (n,), dtype).copy_(made)


@composed(
    "uniform_(Tensor input, float from=0.0, float to=1.0, *, Generator? generator=None) -> Tensor", **_METHOD
)
def uniform_(input: Tensor, *args: float, generator: Generator | None = None, **bounds: float) -> Tensor:
    """Fill with numbers uniform on ``[from, to)``.

    Args:
        input: floating point, any shape.
        from: lower end; default 0.
        to: upper end; default 1.
        generator: stream to draw from.

    Raises:
        RuntimeError: if ``from > to``.

    Example:
        >>> import raxis
        >>> x = raxis.empty(100).uniform_(-1, 1)
        >>> bool(((x >= -1) & (x < 1)).all())
        True
    """
    low, high = _uniform_bounds(args, bounds)
    random.check_float("uniform_", input._layout.dtype)
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
    return input._uniform_(low, high - low, generator)


def _uniform_bounds(args: tuple[float, ...], bounds: dict[str, float]) -> tuple[float, float]:
    """The ends, whose names ``from`` and ``to`` cannot all be parameter names in Python."""
    named = {"from": 0.0, "to": 1.0, **dict(zip(("from", "to"), args, strict=False)), **bounds}
    if len(named) > 2 or len(args) > 2:
        raise TypeError(
            f"uniform_() takes 'from' and 'to', but got {len(args)} numbers and {sorted(bounds)}."
        )
    return float(named["from"]), float(named["to"])


@composed(
    "normal_(Tensor input, float mean=0.0, float std=1.0, *, Generator? generator=None) -> Tensor", **_METHOD
)
def normal_(
    input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normal numbers.

    Raises:
        RuntimeError: if `std` is negative, or `input` is neither floating point nor complex.

    Example:
        >>> import raxis
        >>> raxis.empty(2).normal_(5, 0)
        tensor([5., 5.])
    """
    _check_std(std)
    random.check_float("normal_", input._layout.dtype)
    return input._normal_(mean, std, generator)


def _check_std(std: float) -> None:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")


@composed(
    "normal(Tensor|Scalar mean, Tensor|Scalar std=1.0, int[]? size=None, *, Generator? generator=None, "
    "Tensor? out=None, **options) -> Tensor",
    **_FUNCTION,
)
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    **options: Any,
) -> Tensor:
    """Normal numbers whose means and standard deviations are numbers or tensors (broadcast).

    Args:
        mean: number or floating point tensor.
        std: number or floating point tensor; not negative.
        size: sizes, when both are numbers.
        generator: stream to draw from.

    Raises:
        RuntimeError: if a number `std` is negative, or shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.normal(raxis.tensor([1.0, 2.0]), 0.0)
        tensor([1., 2.])
    """
    tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
    if not isinstance(std, Tensor):
        _check_std(std)
    if not tensors:
        made = randn(size, generator=generator, dtype=dtype, device=device, **options)
    else:
        shape = broadcast_shapes(*[value._layout.shape for value in tensors])
        first = tensors[0]._layout
        made = randn(shape, generator=generator, dtype=first.dtype, device=first.device)
    made = made * _detached(std) + _detached(mean)
    return (
        marked(made, requires_grad) if out is None else prepared(out, made._layout.shape, dtype).copy_(made)
    )


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


@composed("bernoulli_(Tensor input, Tensor|Scalar p=0.5, *, Generator? generator=None) -> Tensor", **_METHOD)
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 with probability `p`, else 0.

    Args:
        input: any shape and dtype.
        p: number, or tensor that broadcasts to `input`'s shape.

    Raises:
        RuntimeError: if a number `p` is no probability.

    Example:
        >>> import raxis
        >>> raxis.empty(3).bernoulli_(1.0)
        tensor([1., 1., 1.])
    """
    if isinstance(p, Tensor):
        return input._bernoulli_(p.detach(), generator)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return input._bernoulli_(float(p), generator)


@composed("bernoulli(Tensor input, float? p=None, *, Generator? generator=None, Tensor? out=None) -> Tensor",
          out=False, effect=Effect.RANDOM)  # fmt: skip
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor:
    """1 or 0 for each element, 1 with the probability that the element (or the number `p`) says.

    Raises:
        RuntimeError: if `p` is no probability, or `input` is no floating point tensor and `p` is missing.

    Example:
        >>> import raxis
        >>> raxis.bernoulli(raxis.tensor([0.0, 1.0]))
        tensor([0., 1.])
    """
    if p is None:
        random.check_float("bernoulli", input._layout.dtype)
    chances = input if p is None else p
    target = empty_like(input) if out is None else prepared(out, input._layout.shape, None)
    return bernoulli_(target, chances, generator=generator)


@composed("exponential_(Tensor input, float lambd=1.0, *, Generator? generator=None) -> Tensor", **_METHOD)
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers of the exponential distribution of rate `lambd`.

    Raises:
        RuntimeError: if `lambd` is not positive.
    """
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    random.check_float("exponential_", input._layout.dtype)
    return input._exponential_(float(lambd), generator)


@composed("geometric_(Tensor input, float p, *, Generator? generator=None) -> Tensor", **_METHOD)
def geometric_(input: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of trials until the first success of probability `p`.

    Raises:
        RuntimeError: if `p` is not in (0, 1).
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return input._geometric_(float(p), generator)


@composed(
    "log_normal_(Tensor input, float mean=1.0, float std=2.0, *, Generator? generator=None) -> Tensor",
    **_METHOD,
)
def log_normal_(
    input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers whose logarithms are normal.

    Raises:
        RuntimeError: if `std` is not positive.
    """
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return normal_(input, mean, std, generator=generator).exp_()


@composed(
    "cauchy_(Tensor input, float median=0.0, float sigma=1.0, *, Generator? generator=None) -> Tensor",
    **_METHOD,
)
def cauchy_(
    input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers of the Cauchy distribution.

    Raises:
        RuntimeError: if `sigma` is not positive.
    """
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    random.check_float("cauchy_", input._layout.dtype)
    return input._cauchy_(float(median), float(sigma), generator)


@composed(
    "random_(Tensor input, int from=0, int? to=None, *, Generator? generator=None) -> Tensor", **_METHOD
)
def random_(input: Tensor, *args: int, generator: Generator | None = None, **bounds: int) -> Tensor:
    """Fill with integers uniform on ``[from, to)``: ``random_()``, ``random_(to)`` or ``random_(from, to)``.

    Without bounds: from 0 to the largest integer up to which the dtype holds all.

    Raises:
        RuntimeError: if ``from >= to``, or the dtype does not hold the bounds.

    Example:
        >>> import raxis
        >>> raxis.empty(3).random_(1)
        tensor([0., 0., 0.])
    """
    dtype = input._layout.dtype
    names = ("to",) if len(args) == 1 and not bounds else ("from", "to")
    named = {**dict(zip(names, args, strict=False)), **bounds}
    low = named.get("from", 0)
    high = named.get("to")
    if high is None:
        high = (
            (1 << random.MANTISSA_BITS[dtype]) + 1
            if dtype.is_floating_point
            else _integer_bounds(dtype)[1] + 1
        )
    return input._random_(low, _range("random_", low, high, dtype), generator)


@composed(
    "multinomial(Tensor input, int num_samples, bool replacement=False, *, Generator? generator=None, "
    "Tensor? out=None) -> Tensor",
    out=False,
    effect=Effect.RANDOM,
)
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn with the probabilities (not necessarily normalised) of each row.

    Without replacement the indices are those of the largest ``p / e`` with exponential e (Efraimidis and
    Spirakis, 2006).

    Args:
        input: shape ``(categories,)`` or ``(rows, categories)``, floating point, not negative.
        num_samples: indices per row.
        replacement: whether an index may be drawn again.

    Returns:
        int64, shape ``(num_samples,)`` or ``(rows, num_samples)``.

    Raises:
        RuntimeError: for other shapes or dtypes, negative or infinite numbers, rows of zeros, or too many samples.

    Example:
        >>> import raxis
        >>> raxis.multinomial(raxis.tensor([0.0, 1.0, 0.0]), 2, replacement=True)
        tensor([1, 1])
    """
    _check_multinomial(input, num_samples, replacement)
    if out is not None and out.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.name}")
    made = _categories(input.detach(), num_samples, replacement, generator)
    return made if out is None else prepared(out, made._layout.shape, None).copy_(made)


def _categories(weights: Tensor, num_samples: int, replacement: bool, generator: Generator | None) -> Tensor:
    if replacement:
        sums = weights.double().cumsum(-1)
        points = rand(
            (*sums._layout.shape[:-1], num_samples),
            generator=generator,
            dtype=dtypes.float64,
            device=weights.device,
        )
        return sums._interval_of(points * sums.narrow(-1, sums._layout.shape[-1] - 1, 1))
    scores = weights / empty_like(weights).exponential_(generator=generator)
    return scores.topk(num_samples, -1)[1] if num_samples > 1 else scores.argmax(-1, keepdim=True)


def _check_multinomial(input: Tensor, num_samples: int, replacement: bool) -> None:
    layout = input._layout
    if layout.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, but got {layout.ndim} dimensions")
    if not layout.dtype.is_floating_point:
        raise RuntimeError(
            f"multinomial only supports floating-point dtypes for input, got: {layout.dtype.name}"
        )
    if num_samples <= 0:
        raise RuntimeError(f"cannot sample n_sample <= 0 samples, but got {num_samples}")
    if not replacement and num_samples > layout.shape[-1]:
        raise RuntimeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement: {num_samples} of "
            f"{layout.shape[-1]}"
        )
    if layout.device.type == "meta":
        return
    lowest: Any = input.amin().item()
    highest: Any = input.amax().item()
    if not (lowest >= 0 and highest < math.inf):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not (input.sum(-1) > 0).all().item():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


@composed("native_dropout(Tensor input, float p, bool? train=True) -> (Tensor output, Tensor mask)",
          out=False, method=False, effect=Effect.RANDOM)  # fmt: skip
def native_dropout(input: Tensor, p: float, train: bool | None = True) -> tuple[Tensor, Tensor]:
    """`input` with elements zeroed with probability `p` and the others scaled by ``1 / (1 - p)``; and the kept mask.

    Args:
        input: any shape, floating point.
        p: probability, in [0, 1].
        train: False: keep everything.

    Raises:
        RuntimeError: if `p` is no probability.

    Example:
        >>> import raxis
        >>> raxis.native_dropout(raxis.ones(2), 0.5, False)[0]
        tensor([1., 1.])
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if train is False:
        return input.clone(), empty_like(input, dtype=dtypes.bool_).fill_(True)
    mask, output = input._dropout(float(p))
    return output, mask
