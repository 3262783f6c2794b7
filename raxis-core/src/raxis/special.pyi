"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

def entr(input: Tensor, *, out: Any = ...) -> Tensor:
    """``-input * log(input)``; 0 at 0, -inf below."""

def erfcx(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(input ** 2) * erfc(input)`` without overflow."""

def i0e(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(-abs(input)) * i0(input)``."""

def i1(input: Tensor, *, out: Any = ...) -> Tensor:
    """The modified Bessel function of the first kind, order 1."""

def i1e(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(-abs(input)) * i1(input)``."""

def log_ndtr(input: Tensor, *, out: Any = ...) -> Tensor:
    """The logarithm of the normal distribution function, accurate in the lower tail."""

def ndtr(input: Tensor, *, out: Any = ...) -> Tensor:
    """The normal distribution function."""

def ndtri(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse of the normal distribution function."""

def xlog1py(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input * log1p(other)``, and 0 where `input` is 0 (unless `other` is NaN)."""

def zeta(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """The Hurwitz zeta function: the sum of ``(other + k) ** -input`` over k >= 0."""
