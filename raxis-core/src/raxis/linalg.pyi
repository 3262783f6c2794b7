"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

def cross(input: Tensor, other: Tensor, *, dim: builtins.int = ..., out: Any = ...) -> Tensor:
    """The cross product of vectors of size 3 along `dim`."""

def matmul(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """Another name of `raxis.matmul`."""

def matrix_norm(input: Tensor, ord: Any = ..., dim: builtins.int | Sequence[builtins.int] = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The norm of matrices in the two dimensions `dim`."""

def multi_dot(tensors: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """The product of several matrices, multiplied in the cheapest order."""

def norm(input: Tensor, ord: Any = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """A vector norm or a matrix norm, by the number of dimensions in `dim`."""

def vecdot(x: Tensor, y: Tensor, *, dim: builtins.int = ..., out: Any = ...) -> Tensor:
    """The dot products of vectors along `dim`, the first conjugated."""

def vector_norm(input: Tensor, ord: Any = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """``sum(abs(input) ** ord) ** (1 / ord)`` over `dim`, or over all elements."""
