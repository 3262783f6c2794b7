"""Windows that signals are multiplied with before they are transformed: hann_window and relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from raxis.dtypes import DType, float64
from raxis.ops.definitions.factory import CREATION_OPTIONS
from raxis.ops.definitions.sequences import arange
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import created
from raxis.placement import DeviceLike
from raxis.tensor import Tensor

_OPTIONS = CREATION_OPTIONS.replace(" bool pin_memory=False,", "")


def _schema(name: str, more: str = "") -> str:
    return f"{name}(int window_length, bool periodic=True, {more}*, {_OPTIONS}) -> Tensor"


def _window(
    name: str,
    length: int,
    periodic: bool,
    values: Callable[[Any, int], Any],
    dtype: DType | None,
    device: DeviceLike | None,
) -> Callable[[], Tensor]:
    """`values` of the places (float64) and the greatest place, in `dtype`; a periodic window is one longer, cut off."""
    dtype = dtype or get_default_dtype()
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    return partial(_made, length, periodic, values, dtype, device)


def _made(
    length: int, periodic: bool, values: Callable[[Any, int], Any], dtype: DType, device: DeviceLike | None
) -> Tensor:
    places = arange(length, dtype=float64, device=device)
    last = length if periodic else length - 1
    window: Tensor = values(places, last) if length > 1 else places + 1
    return window.to(dtype)


def _cosines(places: Any, last: int, *, factors: tuple[float, ...]) -> Any:
    """``sum(factors[k] * cos(2 pi k place / last))``."""
    turn = 2 * math.pi / last
    return sum(
        (factor * (places * (order * turn)).cos() for order, factor in enumerate(factors[1:], 1)),
        start=factors[0],
    )


@created(_schema("hann_window"), method=False)
def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Hann's window, ``sin(pi n / N) ** 2``.

    Args:
        window_length: number of elements.
        periodic: N is `window_length`, so that repetitions continue the window; else one less, so that it is symmetric.
        dtype: floating point; default: the default float dtype.

    Raises:
        RuntimeError: if the length is negative or the dtype is not floating point.

    Example:
        >>> import raxis
        >>> raxis.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    values = partial(_cosines, factors=(0.5, -0.5))
    return _window("hann_window", window_length, periodic, values, dtype, device)


@created(_schema("hamming_window", "float alpha=0.54, float beta=0.46, "), method=False)
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Hamming's window, ``alpha - beta * cos(2 pi n / N)``; other arguments as `hann_window`.

    Example:
        >>> import raxis
        >>> raxis.hamming_window(2)
        tensor([0.0800, 1.0000])
    """
    values = partial(_cosines, factors=(alpha, -beta))
    return _window("hamming_window", window_length, periodic, values, dtype, device)


@created(_schema("blackman_window"), method=False)
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Blackman's window, ``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``; arguments as `hann_window`.

    Example:
        >>> import raxis
        >>> raxis.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])
    """
    values = partial(_cosines, factors=(0.42, -0.5, 0.08))
    return _window("blackman_window", window_length, periodic, values, dtype, device)


@created(_schema("bartlett_window"), method=False)
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Bartlett's window, a triangle from 0 to 1 and back; arguments as `hann_window`.

    Example:
        >>> import raxis
        >>> raxis.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("bartlett_window", window_length, periodic, _triangle, dtype, device)


def _triangle(places: Any, last: int) -> Any:
    return 1 - (places * (2 / last) - 1).abs()


@created(_schema("kaiser_window", "float beta=12.0, "), method=False)
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Kaiser's window, ``i0(beta * sqrt(1 - (2 n / N - 1) ** 2)) / i0(beta)``; other arguments as `hann_window`.

    Example:
        >>> import raxis
        >>> raxis.kaiser_window(3, False)[1]
        tensor(1.)
    """
    return _window("kaiser_window", window_length, periodic, partial(_bessel, beta=beta), dtype, device)


def _bessel(places: Any, last: int, *, beta: float) -> Any:
    inner = (1 - (places * (2 / last) - 1) ** 2).clamp_min(0).sqrt()
    return (inner * beta).i0() / (places.new_full((), beta)).i0()
