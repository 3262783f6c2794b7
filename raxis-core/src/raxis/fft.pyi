"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

def fft(input: Tensor, n: builtins.int | None = ..., dim: builtins.int = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The discrete Fourier transform along `dim`."""

def fft2(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The discrete Fourier transform along two dimensions."""

def fftfreq(n: builtins.int, d: builtins.float = ..., *, out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """The frequencies of the elements of `fft`'s result: 0, 1, ..., -2, -1 over ``n * d``."""

def fftn(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The discrete Fourier transform along several dimensions."""

def fftshift(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
    """Reorders so that frequency 0 is in the middle."""

def hfft(input: Tensor, n: builtins.int | None = ..., dim: builtins.int = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The real transform of a Hermitian signal of which `input` is one half."""

def hfft2(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The real transform of a Hermitian signal, of which `input` has half of the last dimension, along two dimensions."""

def hfftn(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The real transform of a Hermitian signal, of which `input` has half of the last dimension, along several dimensions."""

def ifft(input: Tensor, n: builtins.int | None = ..., dim: builtins.int = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The inverse discrete Fourier transform along `dim`."""

def ifft2(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The inverse discrete Fourier transform along two dimensions."""

def ifftn(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The inverse discrete Fourier transform along several dimensions."""

def ifftshift(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
    """The inverse of `fftshift`."""

def ihfft(input: Tensor, n: builtins.int | None = ..., dim: builtins.int = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The inverse of `hfft`: half of the inverse transform of real numbers."""

def ihfft2(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The inverse of `hfftn`, half of the last dimension, along two dimensions."""

def ihfftn(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The inverse of `hfftn`, half of the last dimension, along several dimensions."""

def irfft(input: Tensor, n: builtins.int | None = ..., dim: builtins.int = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The real numbers whose `rfft` is `input`."""

def irfft2(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The real numbers whose `rfftn` is `input`, transformed along two dimensions."""

def irfftn(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The real numbers whose `rfftn` is `input`, transformed along several dimensions."""

def rfft(input: Tensor, n: builtins.int | None = ..., dim: builtins.int = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The first n // 2 + 1 elements of the transform of real numbers, which the others mirror."""

def rfft2(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The discrete Fourier transform of real numbers, half of the last dimension, along two dimensions."""

def rfftfreq(n: builtins.int, d: builtins.float = ..., *, out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """The frequencies of the elements of `rfft`'s result: 0, 1, ..., n // 2 over ``n * d``."""

def rfftn(input: Tensor, s: builtins.int | Sequence[builtins.int] | None = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., norm: builtins.str | None = ..., *, out: Any = ...) -> Tensor:
    """The discrete Fourier transform of real numbers, half of the last dimension, along several dimensions."""
