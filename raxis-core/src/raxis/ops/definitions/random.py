"""Random numbers: uniform, normal, integers, permutations, choices.

Words come from Philox 4x32-10 (`Tracer.random_bits`), so that all backends give the same numbers. Floats
take the upper 24 (float32) or 53 (float64) bits of a word; half precision is rounded from float32.
"""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.device import Device
from raxis.dtypes import Category, DType
from raxis.layout import Shape
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.formulas import wide_dtype
from raxis.ops.table import Effect, lowered
from raxis.ops.trace import broadcast, cast, constant, current_tracer, emit
from raxis.tensor import Tensor

MANTISSA_BITS = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}
"""Bits of a uniform number: as many as the dtype holds, so that rounding never reaches 1."""


def unit_interval(dtype: DType, shape: Shape, width: float = 1.0) -> Tensor:
    """Traced uniform numbers of [0, width), with `dtype`'s precision; half precision comes as float32."""
    words = dtypes.int64 if dtype is dtypes.float64 else dtypes.int32
    return unit_interval_of(current_tracer().random_bits(words, shape), dtype, width)


def unit_interval_of(bits: Tensor, dtype: DType, width: float = 1.0) -> Tensor:
    """Traced uniform numbers made of random words."""
    kept, words, shape = MANTISSA_BITS[dtype], bits._layout.dtype, bits._layout.shape
    size, dtype = 8 * words.itemsize, wide_dtype(dtype)
    mask = constant((1 << kept) - 1, words, shape)
    upper = emit("and", emit("shift_right", bits, constant(size - kept, words, shape)), mask)
    return emit("mul", cast(upper, dtype), constant(2.0**-kept * width, dtype, shape))


def standard_normal(dtype: DType, shape: Shape) -> Tensor:
    """Traced normal numbers in float32 or float64, by Box and Muller (1958): both of each pair are used."""
    dtype = wide_dtype(dtype)
    count = math.prod(shape)
    pairs = ((count + 1) // 2,)
    first = unit_interval(dtype, pairs)
    angle = unit_interval(dtype, pairs, 2.0 * math.pi)
    away_from_zero = emit("sub", constant(1.0, dtype, pairs), first)
    radius = emit("sqrt", emit("mul", emit("log", away_from_zero), constant(-2.0, dtype, pairs)))
    both = [emit("mul", radius, emit(wave, angle)) for wave in ("cos", "sin")]
    flat = emit("concatenate", *both, dim=0)
    if 2 * pairs[0] != count:
        flat = emit("slice", flat, start=(0,), stop=(count,), step=(1,))
    return emit("reshape", flat, shape=shape)


def check_real(name: str, dtype: DType) -> None:
    """Raise NotImplementedError for complex dtypes."""
    if dtype.is_complex:
        raise NotImplementedError(f'"{name}" not implemented for {dtype.name}: a real dtype is needed.')


def check_float(name: str, dtype: DType) -> None:
    """Raise NotImplementedError unless `dtype` is a floating point or complex one."""
    if dtype.category < Category.FLOAT:
        raise NotImplementedError(
            f'"{name}" not implemented for {dtype.name}: a floating point dtype is needed.'
        )


def _components(draw: Any, dtype: DType, shape: Shape, scale: float = 1.0) -> Tensor:
    """Numbers of a float or complex dtype, components drawn independently."""
    real_dtype = dtype.to_real()
    if not dtype.is_complex:
        return cast(draw(real_dtype, shape), dtype)
    parts = [draw(real_dtype, shape) for _ in range(2)]
    if scale != 1.0:
        parts = [emit("mul", part, constant(scale, real_dtype, shape)) for part in parts]
    return emit("make_complex", *parts)


_NEW: dict[str, Any] = {"method": False, "function": False, "out": False, "effect": Effect.RANDOM}
_IN_PLACE: dict[str, Any] = {
    "vjp": {"input": lambda grad: zeros_like(grad)},
    "inplace": True,
    "function": False,
    "out": False,
    "effect": Effect.RANDOM,
}


@lowered("_rand(int[] size, dtype dtype, device device, Generator? generator=None) -> Tensor", **_NEW)
def _rand(size: Shape, dtype: DType, device: Device) -> Any:
    """Uniform numbers of [0, 1)."""
    check_float("rand", dtype)
    return _components(unit_interval, dtype, size)


@lowered("_randn(int[] size, dtype dtype, device device, Generator? generator=None) -> Tensor", **_NEW)
def _randn(size: Shape, dtype: DType, device: Device) -> Any:
    """Normal numbers of mean 0 and variance 1; a complex number's variance is that of both components."""
    check_float("randn", dtype)
    return _components(standard_normal, dtype, size, math.sqrt(0.5))


@lowered(
    "_randint(int[] size, Scalar low, Scalar count, int bits, dtype dtype, device device, "
    "Generator? generator=None) -> Tensor",
    **_NEW,
)
def _randint(size: Shape, low: Tensor, count: Tensor, bits: int, dtype: DType, device: Device) -> Any:
    """Integers uniform on ``[low, low + count)``; the numbers are those of `range_of_integers`."""
    return cast(integers(low, count, bits, size), dtype)


def range_of_integers(low: int, count: int) -> tuple[int, int, int]:
    """``(low, count, bits)`` for `integers`: both as signed 64-bit numbers, and how long the random words are.

    Some of the integers are likelier than others: of few, by 1 in 256 at most; of more, by ``count`` in 2**63; from
    2**63 on, up to twice as likely.
    """
    bits = 32 if count <= 1 << 24 else 63 if count < 1 << 63 else 64
    return _wrapped(low), _wrapped(count), bits


def _wrapped(number: int) -> int:
    """The signed number of the same lowest 64 bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def integers(low: Tensor, count: Tensor, bits: int, shape: Shape) -> Tensor:
    """Traced int64 numbers: ``low + (word * count >> 32)`` of words of 32 bits, else ``low + word mod count``."""
    low, count = broadcast(low, shape), broadcast(count, shape)
    words = current_tracer().random_bits(dtypes.int32 if bits == 32 else dtypes.int64, shape)
    word = cast(words, dtypes.int64)
    if bits == 64:
        return emit("add", low, _unsigned_remainder(word, count))
    kept = constant((1 << bits) - 1, dtypes.int64, shape)
    word = emit("and", word, kept)
    if bits == 63:
        return emit("add", low, emit("remainder", word, count))
    product = emit("mul", word, emit("and", count, kept))
    return emit("add", low, emit("shift_right", product, constant(32, dtypes.int64, shape)))


def _unsigned_remainder(word: Tensor, count: Tensor) -> Tensor:
    """The remainder of 64-bit words read without sign, for a count of 2**63 or more; 0 stands for 2**64."""
    sign = constant(-(1 << 63), dtypes.int64, word._layout.shape)
    below = emit("lt", emit("xor", word, sign), emit("xor", count, sign))
    return emit("select", below, word, emit("sub", word, count))


_SHORT_WORDS = 1 << 24
"""Among so many words of 32 bits, those that are equal are too few for their order to be noticed."""


@lowered("_randperm(int n, dtype dtype, device device, Generator? generator=None) -> Tensor", **_NEW)
def _randperm(n: int, dtype: DType, device: Device) -> Any:
    """The order that sorts n random words."""
    words = current_tracer().random_bits(dtypes.int32 if n <= _SHORT_WORDS else dtypes.int64, (n,))
    return cast(emit("sort", words, dim=0, descending=False, stable=True)[1], dtype)


def _unit(input: Tensor) -> Tensor:
    """Uniform numbers of [0, 1) in the dtype that `input`'s values are computed in."""
    return unit_interval(wide_dtype(_real(input)), input._layout.shape)


def _real(input: Tensor) -> DType:
    dtype = input._layout.dtype
    return dtype.to_real() if dtype.category >= Category.FLOAT else dtypes.float32


def _like(value: Tensor, operand: Tensor) -> Tensor:
    """A rank-0 number in `operand`'s dtype and shape."""
    return broadcast(cast(value, operand._layout.dtype), operand._layout.shape)


@lowered("_uniform(Tensor input, Scalar low, Scalar width, Generator? generator=None) -> Tensor", **_IN_PLACE)
def _uniform(input: Tensor, low: Tensor, width: Tensor) -> Any:
    """Uniform numbers of ``[low, low + width)``; both components of complex ones."""
    dtype, shape = input._layout.dtype, input._layout.shape
    parts = [_between(dtype.to_real(), shape, low, width) for _ in range(2 if dtype.is_complex else 1)]
    return emit("make_complex", *parts) if dtype.is_complex else parts[0]


def _between(dtype: DType, shape: Shape, low: Tensor, width: Tensor) -> Tensor:
    """Uniform numbers of ``[low, low + width)``; one that rounding takes to the upper end becomes `low`."""
    drawn = unit_interval(dtype, shape)
    value = cast(emit("add", emit("mul", drawn, _like(width, drawn)), _like(low, drawn)), dtype)
    end = cast(emit("add", _like(low, drawn), _like(width, drawn)), dtype)
    return emit("select", emit("lt", value, end), value, _like(low, value))


@lowered("_normal(Tensor input, Scalar mean, Scalar std, Generator? generator=None) -> Tensor", **_IN_PLACE)
def _normal(input: Tensor, mean: Tensor, std: Tensor) -> Any:
    """Normal numbers."""
    dtype = input._layout.dtype
    wide = dtype if dtype.is_complex else wide_dtype(dtype)
    drawn = _components(standard_normal, wide, input._layout.shape, math.sqrt(0.5))
    return cast(emit("add", emit("mul", drawn, _like(std, drawn)), _like(mean, drawn)), dtype)


@lowered("_exponential(Tensor input, Scalar rate, Generator? generator=None) -> Tensor", **_IN_PLACE)
def _exponential(input: Tensor, rate: Tensor) -> Any:
    """``-log(1 - u) / rate``."""
    drawn = _unit(input)
    return cast(
        emit("div", emit("neg", emit("log1p", emit("neg", drawn))), _like(rate, drawn)), input._layout.dtype
    )


@lowered("_geometric(Tensor input, Scalar p, Generator? generator=None) -> Tensor", **_IN_PLACE)
def _geometric(input: Tensor, p: Tensor) -> Any:
    """``ceil(log(1 - u) / log(1 - p))``: the number of trials until the first success."""
    drawn = _unit(input)
    failures = emit("div", emit("log1p", emit("neg", drawn)), emit("log1p", emit("neg", _like(p, drawn))))
    one = constant(1.0, drawn._layout.dtype, drawn._layout.shape)
    return cast(emit("maximum", emit("ceil", failures), one), input._layout.dtype)


@lowered(
    "_cauchy(Tensor input, Scalar median, Scalar sigma, Generator? generator=None) -> Tensor", **_IN_PLACE
)
def _cauchy(input: Tensor, median: Tensor, sigma: Tensor) -> Any:
    """``median + sigma * tan(pi * (u - 1/2))``."""
    drawn = _unit(input)
    dtype, shape = drawn._layout.dtype, drawn._layout.shape
    angle = emit("mul", emit("sub", drawn, constant(0.5, dtype, shape)), constant(math.pi, dtype, shape))
    value = emit("add", emit("mul", emit("tan", angle), _like(sigma, drawn)), _like(median, drawn))
    return cast(value, input._layout.dtype)


@lowered("_bernoulli(Tensor input, Tensor|Scalar p, Generator? generator=None) -> Tensor", **_IN_PLACE)
def _bernoulli(input: Tensor, p: Tensor) -> Any:
    """1 with probability `p`, else 0."""
    chance = broadcast(cast(p, wide_dtype(p._layout.dtype)), input._layout.shape)
    drawn = unit_interval(chance._layout.dtype, input._layout.shape)
    return cast(emit("lt", drawn, chance), input._layout.dtype)


@lowered(
    "_random(Tensor input, Scalar low, Scalar count, int bits, Generator? generator=None) -> Tensor",
    **_IN_PLACE,
)
def _random(input: Tensor, low: Tensor, count: Tensor, bits: int) -> Any:
    """Integers uniform on ``[low, low + count)``; the numbers are those of `range_of_integers`."""
    return cast(integers(low, count, bits, input._layout.shape), input._layout.dtype)


@lowered(
    "_dropout(Tensor input, float p, Generator? generator=None) -> (Tensor mask, Tensor output)",
    vjp={"input": lambda grads, result, p: None if grads[1] is None else grads[1] * result * kept_scale(p)},
    function=False,
    out=False,
    effect=Effect.RANDOM,
)
def _dropout(input: Tensor, p: float) -> Any:
    """The mask of kept elements, True with probability ``1 - p``, and the scaled input under it."""
    dtype, shape = wide_dtype(input._layout.dtype), input._layout.shape
    drawn = unit_interval(dtypes.float32, shape)
    mask = emit("ge", drawn, constant(p, dtypes.float32, shape))
    scaled = emit("mul", cast(input, dtype), constant(kept_scale(p), dtype, shape))
    output = emit("select", mask, scaled, constant(0.0, dtype, shape))
    return mask, cast(output, input._layout.dtype)


def kept_scale(p: float) -> float:
    """What kept elements are multiplied with, so that the mean stays."""
    return 0.0 if p == 1 else 1.0 / (1.0 - p)


@lowered("_interval_of(Tensor sums, Tensor points) -> Tensor", function=False, out=False)
def _interval_of(sums: Tensor, points: Tensor) -> Any:
    """For each point, the first index whose running sum is above it."""
    return emit("searchsorted", sums, points, right=True)
