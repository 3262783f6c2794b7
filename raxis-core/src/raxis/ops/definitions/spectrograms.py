"""Short-time Fourier transforms: the spectra of overlapping frames of a signal, and back."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.complex import view_as_real
from raxis.ops.definitions.fourier import fft, ifft, irfft, rfft
from raxis.ops.definitions.padding import pad as padded
from raxis.ops.definitions.sequences import arange
from raxis.ops.definitions.verdicts import require_none, saying
from raxis.ops.table import composed
from raxis.tensor import Tensor


def _lengths(name: str, n_fft: int, hop_length: int | None, win_length: int | None) -> tuple[int, int]:
    """The distance of frames and the length of the window, with PyTorch's defaults."""
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}.")
    if not 0 < width <= n_fft:
        raise RuntimeError(
            f"{name}: expected 0 < win_length <= n_fft, but got win_length={width} and n_fft={n_fft}."
        )
    return hop, width


def _whole_window(name: str, window: Tensor | None, like: Tensor, n_fft: int, width: int) -> Any:
    """The window with zeros around it, of n_fft elements; ones where there is none."""
    if window is None:
        window = like.new_ones(width, dtype=like.dtype.to_real())
    if window.ndim != 1 or window.shape[0] != width:
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={width}, but got window with size "
            f"{list(window.shape)}."
        )
    before = (n_fft - width) // 2
    return padded(window, (before, n_fft - width - before)) if width < n_fft else window


@composed(
    "stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, "
    "str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? return_complex=None, "
    "bool? align_to_window=None) -> Tensor",
    out=False,
)
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The Fourier transforms of frames of `n_fft` elements, `hop_length` apart, multiplied by a window.

    Args:
        input: (length,) or (batch, length), floating point or complex.
        n_fft: length of frames.
        hop_length: distance of frames; default n_fft // 4.
        win_length: length of the window, which is filled up with zeros on both sides; default `n_fft`.
        window: (win_length,); default ones.
        center: fill up the signal so that frame t is centered at t * hop_length.
        pad_mode: how, see `raxis.nn.functional.pad`.
        normalized: divide by sqrt(n_fft).
        onesided: give n_fft // 2 + 1 frequencies, of real signals; default for them.
        return_complex: must be given for real signals; False gives real and imaginary parts in a last dimension.
        align_to_window: must be None with `center`; True is not supported.

    Returns:
        (batch, frequencies, frames), complex.

    Raises:
        RuntimeError: if arguments are out of range or do not fit.

    Example:
        >>> import raxis
        >>> raxis.stft(raxis.ones(16), 4, return_complex=True).shape
        raxis.Size([3, 17])
    """
    hop, width = _lengths("stft", n_fft, hop_length, win_length)
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    onesided = not is_complex if onesided is None else onesided
    complex_result = _check_stft(input, n_fft, is_complex, onesided, return_complex, center, align_to_window)
    signals = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        amount = n_fft // 2
        signals = padded(signals.unsqueeze(0), (amount, amount), pad_mode).squeeze(0)
    if not 0 < n_fft <= signals.shape[1]:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {signals.shape[1]}, but got n_fft={n_fft}.")
    frames = signals.unfold(1, n_fft, hop) * _whole_window("stft", window, input, n_fft, width)
    spectra = (rfft if onesided else fft)(frames, norm="ortho" if normalized else None).transpose(1, 2)
    result = spectra if input.ndim == 2 else spectra.squeeze(0)
    return result if complex_result else view_as_real(result)


def _check_stft(
    input: Tensor,
    n_fft: int,
    is_complex: bool,
    onesided: bool,
    return_complex: bool | None,
    center: bool,
    align_to_window: bool | None,
) -> bool:
    """Raise for arguments that do not fit; whether the result is complex."""
    if input.dtype.category < Category.FLOAT or input.ndim not in (1, 2):
        raise RuntimeError(
            f"stft: expected a 1D or 2D tensor of floating point or complex values, but got {input.ndim}D of "
            f"{input.dtype}."
        )
    if align_to_window is not None and (center or align_to_window):
        raise RuntimeError("stft align_to_window should only be set when center = false, and then to False.")
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    return is_complex if return_complex is None else return_complex


@composed(
    "istft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, "
    "bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
    out=False,
)
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal whose `stft` is `input`, as least squares see it: overlapping frames are added and normalised.

    Args:
        input: ([batch,] frequencies, frames), complex.
        n_fft: length of frames; further arguments as they were for `stft`.
        length: length of the signal; default what the frames cover.
        return_complex: whether the signal is complex.

    Returns:
        ([batch,] length).

    Raises:
        RuntimeError: if arguments are out of range or do not fit, or windows leave gaps.

    Example:
        >>> import raxis
        >>> window = raxis.hann_window(4)
        >>> spectra = raxis.stft(raxis.ones(8), 4, window=window, return_complex=True)
        >>> raxis.istft(spectra, 4, window=window)
        tensor([1., 1., 1., 1., 1., 1., 1., 1.])
    """
    hop, width = _lengths("istft", n_fft, hop_length, win_length)
    _check_istft(input, n_fft, window, onesided, return_complex)
    whole = _whole_window("istft", window, input, n_fft, width)
    spectra = (input if input.ndim == 3 else input.unsqueeze(0)).transpose(1, 2)
    norm = "ortho" if normalized else None
    frames = (
        ifft(spectra, norm=norm)
        if return_complex
        else irfft(spectra[..., : n_fft // 2 + 1], n_fft, norm=norm)
    )
    power = (whole * whole).expand(1, frames.shape[1], n_fft)
    start = n_fft // 2 if center else 0
    signals, envelope = (_overlapped(part, hop)[:, start:] for part in (frames * whole, power))
    end = length if length is not None else signals.shape[1] - start
    signals, envelope = signals[:, :end], envelope[:, :end]
    _require_no_gaps(envelope)
    result = signals / envelope
    if result.shape[1] < end:
        result = padded(result, (0, end - result.shape[1]))
    return result if input.ndim == 3 else result.squeeze(0)


def _check_istft(
    input: Tensor, n_fft: int, window: Tensor | None, onesided: bool | None, return_complex: bool
) -> None:
    """Raise for arguments that do not fit."""
    if not input.dtype.is_complex or input.ndim not in (2, 3) or input.numel() == 0:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True: 2D "
            f"or 3D and not empty, but got {list(input.shape)} of {input.dtype}."
        )
    frequencies = input.shape[-2]
    half = frequencies != n_fft if onesided is None else onesided
    expected = n_fft // 2 + 1 if half else n_fft
    if frequencies != expected:
        raise RuntimeError(
            f"istft: expected the frequency dimension (2nd to the last) of the input tensor to be {expected} when "
            f"onesided is {half}, but got {frequencies}."
        )
    is_complex = window is not None and window.dtype.is_complex
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if is_complex and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")


def _overlapped(frames: Tensor, hop: int) -> Any:
    """(batch, count, size) frames added at their places in a signal."""
    batch, count, size = frames.shape
    places = arange(count, device=frames.device).unsqueeze(1) * hop + arange(size, device=frames.device)
    signal = frames.new_zeros((batch, hop * (count - 1) + size))
    return signal.index_add(1, places.flatten(), frames.flatten(1))


def _require_no_gaps(envelope: Tensor) -> None:
    sentence = (
        "istft: the windows do not overlap enough: their squares add up to 0 somewhere. Use a smaller hop_length "
        "or a window without zeros there."
    )
    require_none(~(envelope.detach().abs() > 1e-11), saying(RuntimeError, sentence))
