"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

def amax(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The greatest marked element, the dtype's lowest value where none is; arguments as `raxis.masked.sum`."""

def amin(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The least marked element, the dtype's greatest value where none is; arguments as `raxis.masked.sum`."""

def argmax(input: Tensor, dim: builtins.int | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The place of the greatest marked element, in `input`'s dtype; other arguments as `raxis.masked.sum`."""

def argmin(input: Tensor, dim: builtins.int | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The place of the least marked element, in `input`'s dtype; arguments as `raxis.masked.argmax`."""

def cumprod(input: Tensor, dim: builtins.int, *, dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """Running products of the marked elements, in `input`'s dtype; arguments as `raxis.masked.softmax`."""

def cumsum(input: Tensor, dim: builtins.int, *, dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """Running sums of the marked elements, in `input`'s dtype; arguments as `raxis.masked.softmax`."""

def log_softmax(input: Tensor, dim: builtins.int, *, dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The logarithm of `raxis.masked.softmax`, which has the same arguments."""

def logaddexp(input: Tensor, other: Tensor, *, dtype: DType | None = ..., input_mask: Tensor | None = ..., other_mask: Tensor | None = ...) -> Tensor:
    """``log(exp(input) + exp(other))``, where elements that are not marked count as -inf."""

def logsumexp(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The logarithm of the sum of the exponentials of the marked elements; arguments as `raxis.masked.sum`."""

def mean(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The mean of the marked elements, NaN where none is; arguments as `raxis.masked.sum`."""

def median(input: Tensor, dim: builtins.int = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The median of the marked elements, NaN where none is; other arguments as `raxis.masked.sum`."""

def norm(input: Tensor, ord: builtins.float | None = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The norm of the marked elements; other arguments as `raxis.masked.sum`."""

def normalize(input: Tensor, ord: builtins.float, dim: builtins.int, *, eps: builtins.float = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The marked elements divided by their norm along `dim`, 0 at others; other arguments as `raxis.masked.softmax`."""

def prod(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The product of the marked elements; arguments as `raxis.masked.sum`."""

def softmax(input: Tensor, dim: builtins.int, *, dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """``exp(input) / sum(exp(input))`` along `dim` among the marked elements, 0 at others."""

def softmin(input: Tensor, dim: builtins.int, *, dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """`raxis.masked.softmax` of ``-input``; the same arguments."""

def std(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., unbiased: builtins.bool | None = ..., *, correction: builtins.float | None = ..., keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The standard deviation of the marked elements; arguments as `raxis.masked.var`."""

def sum(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., *, keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The sum of the marked elements."""

def var(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., unbiased: builtins.bool | None = ..., *, correction: builtins.float | None = ..., keepdim: builtins.bool = ..., dtype: DType | None = ..., mask: Tensor | None = ...) -> Tensor:
    """The variance of the marked elements; other arguments as `raxis.masked.sum`."""
