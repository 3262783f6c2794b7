"""What a tensor is: sizes, strides, dtype questions, its memory."""

from __future__ import annotations

from typing import Any

from raxis.interception import active, anyone
from raxis.layout import wrap_dim
from raxis.memory_format import channels_last, contiguous_format
from raxis.memory_format import memory_format as MemoryFormat
from raxis.ops.table import composed
from raxis.tensor import Tensor


@composed("size(Tensor input, int? dim=None) -> object", function=False, out=False)
def size(input: Tensor, dim: int | None = None) -> Any:
    """All sizes, or the size of one dimension.

    Raises:
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.ones(2, 3).size(), raxis.ones(2, 3).size(-1)
        (raxis.Size([2, 3]), 3)
    """
    layout = input._layout
    return _shown(layout.size if dim is None else layout.shape[_dim(dim, layout.ndim)])


@composed("stride(Tensor input, int? dim=None) -> object", function=False, out=False)
def stride(input: Tensor, dim: int | None = None) -> Any:
    """The distance between neighbours, in elements, of every dimension or of one.

    Raises:
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.ones(2, 3).stride()
        (3, 1)
    """
    layout = input._layout
    return _shown(layout.strides if dim is None else layout.strides[_dim(dim, layout.ndim)])


def _shown(answer: Any) -> Any:
    """What the thread's recording, if there is one, lets the user see."""
    return active.recording.shown(answer) if anyone.records and active.recording is not None else answer


def _dim(dim: int, ndim: int) -> int:
    if ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)


@composed("dim(Tensor input) -> int", aliases=("ndimension",), function=False, out=False)
def dim(input: Tensor) -> int:
    """The number of dimensions.

    Example:
        >>> import raxis
        >>> raxis.ones(2, 3).dim()
        2
    """
    return input._layout.ndim


@composed("numel(Tensor input) -> int", out=False)
def numel(input: Tensor) -> int:
    """The number of elements.

    Example:
        >>> import raxis
        >>> raxis.numel(raxis.ones(2, 3))
        6
    """
    return _shown(input._layout.numel)


@composed("nelement(Tensor input) -> int", function=False, out=False)
def nelement(input: Tensor) -> int:
    """The number of elements, as `numel`."""
    return _shown(input._layout.numel)


@composed("element_size(Tensor input) -> int", function=False, out=False)
def element_size(input: Tensor) -> int:
    """Bytes of one element.

    Example:
        >>> import raxis
        >>> raxis.ones(2).element_size()
        4
    """
    return input._layout.dtype.itemsize


@composed(
    "is_contiguous(Tensor input, *, memory_format? memory_format=None) -> bool", function=False, out=False
)
def is_contiguous(input: Tensor, memory_format: MemoryFormat | None = None) -> bool:
    """Whether the elements lie in row-major order, or in that of `memory_format`.

    Example:
        >>> import raxis
        >>> raxis.ones(2, 3).t().is_contiguous()
        False
    """
    if memory_format is None or memory_format is contiguous_format:
        return _shown(input._layout.is_contiguous)
    if memory_format is not channels_last:
        raise RuntimeError(
            f"is_contiguous() takes contiguous_format or channels_last, but got {memory_format}."
        )
    return _shown(input._layout.ndim == 4 and input.permute(0, 2, 3, 1)._layout.is_contiguous)


@composed("is_floating_point(Tensor input) -> bool", out=False)
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a real floating point one.

    Example:
        >>> import raxis
        >>> raxis.is_floating_point(raxis.ones(1))
        True
    """
    return input._layout.dtype.is_floating_point


@composed("is_complex(Tensor input) -> bool", out=False)
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return input._layout.dtype.is_complex


@composed("is_signed(Tensor input) -> bool", out=False)
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input._layout.dtype.is_signed


@composed("is_nonzero(Tensor input) -> bool", out=False)
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element differs from zero.

    Raises:
        RuntimeError: if there is not exactly one element.

    Example:
        >>> import raxis
        >>> raxis.is_nonzero(raxis.tensor([0.0]))
        False
    """
    return bool(input)


@composed("is_same_size(Tensor input, Tensor other) -> bool", out=False)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape."""
    return input._layout.shape == other._layout.shape


@composed("is_tensor(object obj) -> bool", method=False, out=False)
def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a Tensor.

    Example:
        >>> import raxis
        >>> raxis.is_tensor([1, 2])
        False
    """
    return isinstance(obj, Tensor)


@composed("is_conj(Tensor input) -> bool", out=False)
def is_conj(input: Tensor) -> bool:
    """False: conjugation is never left for later."""
    return False


@composed("is_neg(Tensor input) -> bool", out=False)
def is_neg(input: Tensor) -> bool:
    """False: negation is never left for later."""
    return False


@composed("get_device(Tensor input) -> int", out=False)
def get_device(input: Tensor) -> int:
    """The index of the device; -1 for the CPU."""
    device = input._layout.device
    return -1 if device.type in ("cpu", "meta") else device.index or 0
