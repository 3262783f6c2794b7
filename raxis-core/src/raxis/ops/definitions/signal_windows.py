"""The windows of ``raxis.signal.windows``: symmetric unless asked for, of any number of cosines, bells, decays.

Source: Harris, On the use of windows for harmonic analysis with the discrete Fourier transform (1978).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from raxis.dtypes import DType, float32, float64
from raxis.ops.definitions.factory import CREATION_OPTIONS
from raxis.ops.definitions.sequences import arange
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import created
from raxis.placement import DeviceLike
from raxis.tensor import Tensor

_OPTIONS = CREATION_OPTIONS.replace(" bool pin_memory=False,", "")
_NAMESPACE: dict[str, Any] = {"namespace": "raxis.signal.windows", "method": False}


def _schema(name: str, more: str = "") -> str:
    return f"{name}(int M, *, {more}bool sym=True, {_OPTIONS}) -> Tensor"


def _window(
    name: str,
    M: int,
    values: Callable[[Any, Any], Any],
    sym: bool,
    dtype: DType | None,
    device: DeviceLike | None,
) -> Callable[[], Tensor]:
    """`values` of the places (float64) and the period; a symmetric window's last place is a period after its first."""
    dtype = dtype or get_default_dtype()
    if dtype not in (float32, float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    return partial(_made, M, values, sym, dtype, device)


def _made(
    M: int, values: Callable[[Any, Any], Any], sym: bool, dtype: DType, device: DeviceLike | None
) -> Tensor:
    places = arange(M, dtype=float64, device=device)
    window: Tensor = values(places, M if M == 1 or not sym else M - 1) if M else places
    return window.to(dtype)


def _cosines(places: Any, period: int, *, factors: tuple[float, ...]) -> Any:
    """``factors[0] - factors[1] cos(2 pi n / N) + factors[2] cos(4 pi n / N) - ...``; 1 at a lone place."""
    if len(places) == 1:
        return places + 1
    turn = places * (2 * math.pi / period)
    return sum((-1) ** order * factor * (turn * order).cos() for order, factor in enumerate(factors))


def _triangle(places: Any, period: int) -> Any:
    return places + 1 if len(places) == 1 else 1 - (places * (2 / period) - 1).abs()


def _bessel(places: Any, period: int, *, beta: float) -> Any:
    if len(places) == 1:
        return places + 1
    inner = (1 - (places * (2 / period) - 1) ** 2).clamp_min(0).sqrt()
    return (inner * beta).i0() / places.new_full((), beta).i0()


def _bell(places: Any, period: int, *, std: float) -> Any:
    centre = period / 2 if len(places) > 1 else 0.0
    return (((places - centre) / (std * math.sqrt(2))) ** 2).neg().exp()


def _decay(places: Any, period: int, *, center: float | None, tau: float) -> Any:
    centre = (period / 2 if len(places) > 1 else 0.0) if center is None else center
    return ((places - centre).abs() / -tau).exp()


def _half_wave(places: Any, period: int, *, sym: bool) -> Any:
    length = len(places) + (not sym and len(places) > 1)
    return ((places + 0.5) * (math.pi / length)).sin()


@created(_schema("bartlett"), **_NAMESPACE)
def bartlett(
    M: int, *, sym: bool = True, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Bartlett's window, a triangle from 0 to 1 and back; arguments as `hann`.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.bartlett(4, sym=False)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("bartlett", M, _triangle, sym, dtype, device)


@created(_schema("blackman"), **_NAMESPACE)
def blackman(
    M: int, *, sym: bool = True, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Blackman's window, ``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``; arguments as `hann`.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.blackman(5)[1:4]
        tensor([0.3400, 1.0000, 0.3400])
    """
    return _window("blackman", M, partial(_cosines, factors=(0.42, 0.5, 0.08)), sym, dtype, device)


@created(_schema("cosine"), **_NAMESPACE)
def cosine(
    M: int, *, sym: bool = True, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Half a wave, ``sin(pi (n + 1/2) / M)``; arguments as `hann`.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])
    """
    return _window("cosine", M, partial(_half_wave, sym=sym), sym, dtype, device)


@created(_schema("exponential", "float? center=None, float tau=1.0, "), **_NAMESPACE)
def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A decay to both sides, ``exp(-abs(n - center) / tau)``.

    Args:
        M: number of elements.
        center: the place of the 1; default: the middle. It must not be given if `sym` is True.
        tau: places per factor e.
        sym: symmetric, or periodic.
        dtype: float32 or float64; default: the default float dtype.

    Raises:
        ValueError: if `tau` is not positive, `center` is given for a symmetric window, `M` is negative or the dtype
            is another.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.exponential(3)
        tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    return _window("exponential", M, partial(_decay, center=center, tau=tau), sym, dtype, device)


@created(_schema("gaussian", "float std=1.0, "), **_NAMESPACE)
def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Gauss's bell, ``exp(-((n - middle) / std) ** 2 / 2)``; other arguments as `hann`.

    Raises:
        ValueError: if `std` is not positive, `M` is negative or the dtype is neither float32 nor float64.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, partial(_bell, std=std), sym, dtype, device)


@created(_schema("general_cosine", "float[] a, "), **_NAMESPACE)
def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A sum of cosines, ``a[0] - a[1] cos(2 pi n / N) + a[2] cos(4 pi n / N) - ...``; other arguments as `hann`.

    Raises:
        TypeError: if `a` cannot be iterated.
        ValueError: if `a` is empty, `M` is negative or the dtype is neither float32 nor float64.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.general_cosine(3, a=[0.5, 0.5])
        tensor([0., 1., 0.])
    """
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    factors = tuple(a)
    if not factors:
        raise ValueError("Coefficients cannot be empty")
    return _window("general_cosine", M, partial(_cosines, factors=factors), sym, dtype, device)


@created(_schema("general_hamming", "float alpha=0.54, "), **_NAMESPACE)
def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """``alpha - (1 - alpha) cos(2 pi n / N)``; other arguments as `hann`.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.general_hamming(3, alpha=0.6)
        tensor([0.2000, 1.0000, 0.2000])
    """
    values = partial(_cosines, factors=(alpha, 1 - alpha))
    return _window("general_hamming", M, values, sym, dtype, device)


@created(_schema("hamming"), **_NAMESPACE)
def hamming(
    M: int, *, sym: bool = True, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Hamming's window, ``0.54 - 0.46 cos(2 pi n / N)``; arguments as `hann`.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.hamming(3)
        tensor([0.0800, 1.0000, 0.0800])
    """
    return _window("hamming", M, partial(_cosines, factors=(0.54, 0.46)), sym, dtype, device)


@created(_schema("hann"), **_NAMESPACE)
def hann(
    M: int, *, sym: bool = True, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Hann's window, ``sin(pi n / N) ** 2``.

    Args:
        M: number of elements.
        sym: N is one less than `M`, so that the window is symmetric; else `M`, so that repetitions continue it.
        dtype: float32 or float64; default: the default float dtype.

    Raises:
        ValueError: if `M` is negative or the dtype is another.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.hann(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _window("hann", M, partial(_cosines, factors=(0.5, 0.5)), sym, dtype, device)


@created(_schema("kaiser", "float beta=12.0, "), **_NAMESPACE)
def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Kaiser's window, ``i0(beta * sqrt(1 - (2 n / N - 1) ** 2)) / i0(beta)``; other arguments as `hann`.

    Raises:
        ValueError: if `beta` or `M` is negative or the dtype is neither float32 nor float64.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.kaiser(3, beta=0.0)
        tensor([1., 1., 1.])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _window("kaiser", M, partial(_bessel, beta=beta), sym, dtype, device)


@created(_schema("nuttall"), **_NAMESPACE)
def nuttall(
    M: int, *, sym: bool = True, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Nuttall's window of four cosines, whose first side lobe is the least; arguments as `hann`.

    Example:
        >>> import raxis
        >>> raxis.signal.windows.nuttall(3)[1]
        tensor(1.)
    """
    factors = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
    return _window("nuttall", M, partial(_cosines, factors=factors), sym, dtype, device)
