"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

def bartlett(M: builtins.int, *, sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Bartlett's window, a triangle from 0 to 1 and back; arguments as `hann`."""

def blackman(M: builtins.int, *, sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Blackman's window, ``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``; arguments as `hann`."""

def cosine(M: builtins.int, *, sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Half a wave, ``sin(pi (n + 1/2) / M)``; arguments as `hann`."""

def exponential(M: builtins.int, *, center: builtins.float | None = ..., tau: builtins.float = ..., sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A decay to both sides, ``exp(-abs(n - center) / tau)``."""

def gaussian(M: builtins.int, *, std: builtins.float = ..., sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Gauss's bell, ``exp(-((n - middle) / std) ** 2 / 2)``; other arguments as `hann`."""

def general_cosine(M: builtins.int, *, a: builtins.float | Sequence[builtins.float], sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A sum of cosines, ``a[0] - a[1] cos(2 pi n / N) + a[2] cos(4 pi n / N) - ...``; other arguments as `hann`."""

def general_hamming(M: builtins.int, *, alpha: builtins.float = ..., sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """``alpha - (1 - alpha) cos(2 pi n / N)``; other arguments as `hann`."""

def hamming(M: builtins.int, *, sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Hamming's window, ``0.54 - 0.46 cos(2 pi n / N)``; arguments as `hann`."""

def hann(M: builtins.int, *, sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Hann's window, ``sin(pi n / N) ** 2``."""

def kaiser(M: builtins.int, *, beta: builtins.float = ..., sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Kaiser's window, ``i0(beta * sqrt(1 - (2 n / N - 1) ** 2)) / i0(beta)``; other arguments as `hann`."""

def nuttall(M: builtins.int, *, sym: builtins.bool = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Nuttall's window of four cosines, whose first side lobe is the least; arguments as `hann`."""
