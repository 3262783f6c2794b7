"""Windows that signals are multiplied with before they are transformed: hann_window and relatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from raxis.device import Device
from raxis.dtypes import DType, float64, int64
from raxis.ops.call import repeated
from raxis.ops.definitions.creation import ones
from raxis.ops.definitions.factory import CREATION_OPTIONS
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import INTERNAL, OPS, created, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.placement import DeviceLike, as_device
from raxis.tensor import Tensor

_OPTIONS = CREATION_OPTIONS.replace(" bool pin_memory=False,", "")


def _schema(name: str, more: str = "") -> str:
    return f"{name}(int window_length, bool periodic=True, {more}*, {_OPTIONS}) -> Tensor"


def _window(
    name: str,
    kind: str,
    parameters: tuple[float, ...],
    length: int,
    periodic: bool,
    dtype: DType | None,
    device: DeviceLike | None,
) -> Callable[[], Tensor]:
    """A window of a kind in `_KINDS`, computed in float64; a periodic one is one longer, cut off."""
    dtype = dtype or get_default_dtype()
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    if length < 2:
        return partial(ones, length, dtype=dtype, device=device)
    last = length if periodic else length - 1
    return repeated(OPS["_taper"], 2 / last, length, kind, parameters, dtype, as_device(device))


@lowered(
    "_taper(Scalar step, int length, str kind, float[] parameters, *, dtype dtype, device device) -> Tensor",
    **INTERNAL,
)
def _taper(
    step: Tensor, length: int, kind: str, parameters: tuple[float, ...], dtype: DType, device: Device
) -> Any:
    """The values of a window at the multiples of `step`."""
    places = cast(emit("iota", shape=(length,), dtype=int64, dim=0), float64)
    return cast(_KINDS[kind](places * step, *parameters), dtype)


def _cosines(places: Any, *factors: float) -> Any:
    """``sum(factors[k] * cos(pi k place))``."""
    return sum(
        (factor * (places * (order * math.pi)).cos() for order, factor in enumerate(factors[1:], 1)),
        start=factors[0],
    )


def _triangle(places: Any) -> Any:
    return 1 - (places - 1).abs()


def _bessel(places: Any, beta: float) -> Any:
    inner = (1 - (places - 1) ** 2).clamp_min(0).sqrt()
    return (inner * beta).i0() / constant(beta, float64).i0()


_KINDS: dict[str, Callable[..., Any]] = {"cosines": _cosines, "triangle": _triangle, "bessel": _bessel}
"""Windows as functions of places from 0 to 2, of which 1 is the middle."""


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
    return _window("hann_window", "cosines", (0.5, -0.5), window_length, periodic, dtype, device)


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
    return _window("hamming_window", "cosines", (alpha, -beta), window_length, periodic, dtype, device)


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
    return _window("blackman_window", "cosines", (0.42, -0.5, 0.08), window_length, periodic, dtype, device)


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
    return _window("bartlett_window", "triangle", (), window_length, periodic, dtype, device)


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
    return _window("kaiser_window", "bessel", (beta,), window_length, periodic, dtype, device)
