"""The public random functions: rand, randn, randint, normal, bernoulli, multinomial and relatives."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.dtypes import DType
from raxis.layout import broadcast_shapes
from raxis.ops.creating import marked, prepared
from raxis.ops.definitions import random
from raxis.ops.definitions.creation import empty_like
from raxis.ops.definitions.random_creation import integer_bound, integer_bounds, integer_range, rand, randn
from raxis.ops.definitions.verdicts import require_fractions, require_none, saying
from raxis.ops.table import Effect, composed
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

_FUNCTION: dict[str, Any] = {"method": False, "out": False, "effect": Effect.RANDOM}
_METHOD: dict[str, Any] = {"function": False, "out": False, "effect": Effect.RANDOM}


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
    if not (args or bounds):
        return 0.0, 1.0
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
        RuntimeError: if `std` or an element of it is negative, or shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.normal(raxis.tensor([1.0, 2.0]), 0.0)
        tensor([1., 2.])
    """
    tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
    if isinstance(std, Tensor):
        require_none(~(std.detach() >= 0), saying(RuntimeError, "normal expects all elements of std >= 0.0"))
    else:
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
        RuntimeError: if `p` or an element of it is no probability.

    Example:
        >>> import raxis
        >>> raxis.empty(3).bernoulli_(1.0)
        tensor([1., 1., 1.])
    """
    random.check_real("bernoulli_", input._layout.dtype)
    if isinstance(p, Tensor):
        random.check_real("bernoulli_", p._layout.dtype)
        chances = p if p._edge is None else p.detach()
        require_fractions(chances, "bernoulli expects all probabilities to be in [0, 1]")
        shape = input._layout.shape
        return input._bernoulli_(chances if p._layout.shape == shape else chances.expand(shape), generator)
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
        RuntimeError: if `p`, or an element of `input` without it, is no probability, or `input` is no floating point
            tensor and `p` is missing.

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
        RuntimeError: if `lambd` is not positive, or `input` is not of a floating point dtype.
    """
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    _check_continuous("Exponential", input._layout.dtype)
    return input._exponential_(float(lambd), generator)


def _check_continuous(name: str, dtype: DType) -> None:
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {dtype.name}"
        )


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
        RuntimeError: if `sigma` is not positive, or `input` is not of a floating point dtype.
    """
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    _check_continuous("Cauchy", input._layout.dtype)
    return input._cauchy_(float(median), float(sigma), generator)


@composed(
    "random_(Tensor input, int from=0, int? to=None, *, Generator? generator=None) -> Tensor", **_METHOD
)
def random_(input: Tensor, *args: int, generator: Generator | None = None, **bounds: int) -> Tensor:
    """Fill with integers uniform on ``[from, to)``: ``random_()``, ``random_(to)`` or ``random_(from, to)``.

    Without bounds: from 0 to the largest integer up to which the dtype holds all.

    Raises:
        RuntimeError: if ``from >= to``, or the dtype does not hold the bounds.
        TypeError: if a bound is no integer.

    Example:
        >>> import raxis
        >>> raxis.empty(3).random_(1)
        tensor([0., 0., 0.])
    """
    dtype = input._layout.dtype
    names = ("to",) if len(args) == 1 and not bounds else ("from", "to")
    named = {**dict(zip(names, args, strict=False)), **bounds}
    low, to = integer_bound("random_", "from", named.get("from", 0)), named.get("to")
    high = _above_all(dtype) if to is None else integer_bound("random_", "to", to)
    return input._random_(*integer_range("random_", low, high, dtype), generator)


def _above_all(dtype: DType) -> int:
    """The end of the integers that `random_` draws without bounds."""
    largest = 1 << random.MANTISSA_BITS[dtype] if dtype.is_floating_point else integer_bounds(dtype)[1]
    return largest + 1


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
    made = categories(input.detach(), num_samples, replacement, generator)
    return made if out is None else prepared(out, made._layout.shape, None).copy_(made)


def categories(
    weights: Tensor, num_samples: int, replacement: bool, generator: Generator | None = None
) -> Tensor:
    """`multinomial` of weights that have been checked."""
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
    weights = input.detach()
    if not layout.numel:
        return
    sentence = "probability tensor contains either `inf`, `nan` or element < 0"
    require_none(~((weights >= 0) & (weights < math.inf)), saying(RuntimeError, sentence))
    sentence = "invalid multinomial distribution (sum of probabilities <= 0)"
    require_none(weights.sum(-1) <= 0, saying(RuntimeError, sentence))


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
