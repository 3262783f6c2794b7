"""What a tensor is: sizes, strides, dtype questions, its memory."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.autograd.grad_mode import mode
from raxis.dtypes import DType
from raxis.layout import contiguous_strides, layout_of, wrap_dim
from raxis.memory_format import channels_last, contiguous_format
from raxis.memory_format import memory_format as MemoryFormat
from raxis.ops.definitions.factory import sizes_of
from raxis.ops.table import composed
from raxis.placement import as_device
from raxis.size import Size
from raxis.storage import Storage
from raxis.tensor import Tensor, wrap
from raxis.untyped_storage import UntypedStorage


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
    return Size(layout.shape) if dim is None else layout.shape[_dim(dim, layout.ndim)]


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
    return layout.strides if dim is None else layout.strides[_dim(dim, layout.ndim)]


def _dim(dim: int, ndim: int) -> int:
    if ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, ndim)


@composed("dim(Tensor input) -> int", function=False, out=False)
def dim(input: Tensor) -> int:
    """The number of dimensions.

    Example:
        >>> import raxis
        >>> raxis.ones(2, 3).dim()
        2
    """
    return input._layout.ndim


@composed("ndimension(Tensor input) -> int", function=False, out=False)
def ndimension(input: Tensor) -> int:
    """The number of dimensions, as `dim`."""
    return input._layout.ndim


@composed("numel(Tensor input) -> int", out=False)
def numel(input: Tensor) -> int:
    """The number of elements.

    Example:
        >>> import raxis
        >>> raxis.numel(raxis.ones(2, 3))
        6
    """
    return input._layout.numel


@composed("nelement(Tensor input) -> int", function=False, out=False)
def nelement(input: Tensor) -> int:
    """The number of elements, as `numel`."""
    return input._layout.numel


@composed("element_size(Tensor input) -> int", function=False, out=False)
def element_size(input: Tensor) -> int:
    """Bytes of one element.

    Example:
        >>> import raxis
        >>> raxis.ones(2).element_size()
        4
    """
    return input._layout.dtype.itemsize


@composed("storage_offset(Tensor input) -> int", function=False, out=False)
def storage_offset(input: Tensor) -> int:
    """Where the first element lies in the storage, in elements.

    Example:
        >>> import raxis
        >>> raxis.arange(4)[2:].storage_offset()
        2
    """
    return input._offset


@composed("data_ptr(Tensor input) -> int", function=False, out=False)
def data_ptr(input: Tensor) -> int:
    """The address of the first element; 0 where there is no memory.

    Tensors of devices whose memory has no host address give a number that is the same for the same storage.
    """
    storage = input._storage
    if not input._layout.numel or input._layout.device.type == "meta":
        return 0
    return address_of(storage) + input._offset * input._layout.dtype.itemsize


def address_of(storage: Storage) -> int:
    """The host address of a storage's memory, or the identity of its buffer."""
    if storage.buffer is None:
        return 0
    memory = storage.place.backend.host_view(storage.buffer)
    return id(storage.buffer) if memory is None else int(memory.ctypes.data)


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
        return input._layout.is_contiguous
    if memory_format is not channels_last:
        raise RuntimeError(
            f"is_contiguous() takes contiguous_format or channels_last, but got {memory_format}."
        )
    return input._layout.ndim == 4 and input.permute(0, 2, 3, 1)._layout.is_contiguous


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


@composed("is_set_to(Tensor input, Tensor tensor) -> bool", function=False, out=False)
def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same view of the same storage."""
    same = input._storage is tensor._storage and input._offset == tensor._offset
    return (
        same
        and input._layout.shape == tensor._layout.shape
        and input._layout.strides == tensor._layout.strides
    )


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


@composed("is_pinned(Tensor input) -> bool", function=False, out=False)
def is_pinned(input: Tensor) -> bool:
    """False: host memory is never pinned."""
    return False


@composed("is_shared(Tensor input) -> bool", function=False, out=False)
def is_shared(input: Tensor) -> bool:
    """False: no memory is shared between processes."""
    return False


@composed("get_device(Tensor input) -> int", out=False)
def get_device(input: Tensor) -> int:
    """The index of the device; -1 for the CPU."""
    device = input._layout.device
    return -1 if device.type in ("cpu", "meta") else device.index or 0


@composed("untyped_storage(Tensor input) -> object", function=False, out=False)
def untyped_storage(input: Tensor) -> UntypedStorage:
    """The memory, shared by all views; see `raxis.untyped_storage.UntypedStorage`."""
    return UntypedStorage(input._storage)


@composed("resize_(Tensor input, int... size) -> Tensor", function=False, out=False)
def resize_(input: Tensor, *args: Any, memory_format: MemoryFormat | None = None) -> Tensor:
    """Change the shape in place, with more memory if needed; elements keep their place in memory.

    Raises:
        RuntimeError: if `input` requires grad, or a size is negative.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2, 3, 4]).resize_(2, 1)
        tensor([[1],
                [2]])
    """
    if input._edge is not None and mode.enabled:
        raise RuntimeError("cannot resize variables that require grad")
    shape = sizes_of(args)
    layout = layout_of(input._layout.dtype, shape, contiguous_strides(shape), input._layout.device)
    _grow(input._storage, (input._offset + layout.numel) * layout.dtype.itemsize)
    input._layout = layout
    return input


def _grow(storage: Storage, nbytes: int) -> None:
    """At least `nbytes` of memory, the present bytes kept."""
    if nbytes <= storage.nbytes:
        return
    place = storage.place
    fresh = Storage(place.backend.allocate(nbytes, place.index), nbytes, place)
    bytes_of(fresh)[: storage.nbytes].copy_(bytes_of(storage))
    storage.buffer, storage.nbytes = fresh.buffer, nbytes


def bytes_of(storage: Storage) -> Tensor:
    """A storage as a one-dimensional uint8 tensor."""
    return wrap(storage, 0, layout_of(dtypes.uint8, (storage.nbytes,), (1,), storage.place.device))


@composed("resize_as_(Tensor input, Tensor the_template) -> Tensor", out=False)
def resize_as_(input: Tensor, the_template: Tensor) -> Tensor:
    """Change the shape in place to `the_template`'s."""
    return resize_(input, the_template._layout.shape)


@composed("set_(Tensor input, Tensor source) -> Tensor", function=False, out=False)
def set_(input: Tensor, source: Tensor) -> Tensor:
    """Make `input` the same view of the same storage as `source`.

    Raises:
        RuntimeError: if the dtypes or devices differ.
    """
    if source._layout.dtype is not input._layout.dtype or source._layout.device is not input._layout.device:
        raise RuntimeError(
            f"set_() expects a source of dtype {input.dtype} on {input.device}, but got {source.dtype} on "
            f"{source.device}."
        )
    input._storage, input._offset, input._layout = source._storage, source._offset, source._layout
    return input


_TYPE_NAMES = {
    "bool": "BoolTensor", "uint8": "ByteTensor", "int8": "CharTensor", "int16": "ShortTensor", "int32": "IntTensor",
    "int64": "LongTensor", "float16": "HalfTensor", "bfloat16": "BFloat16Tensor", "float32": "FloatTensor",
    "float64": "DoubleTensor", "complex64": "ComplexFloatTensor", "complex128": "ComplexDoubleTensor",
}  # fmt: skip
_TYPES = {name: dtypes.by_name(key) for key, name in _TYPE_NAMES.items()}


@composed(
    "type(Tensor input, object dtype=None, bool non_blocking=False) -> object", function=False, out=False
)
def type(input: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The type's name, such as ``'raxis.FloatTensor'``; with `dtype` (a dtype or such a name), `input` cast to it.

    Raises:
        ValueError: if there is no such type.

    Example:
        >>> import raxis
        >>> raxis.ones(1).type()
        'raxis.FloatTensor'
    """
    if dtype is None:
        device = input._layout.device.type
        prefix = "raxis" if device == "cpu" else f"raxis.{device}"
        return f"{prefix}.{_TYPE_NAMES[input._layout.dtype.name]}"
    if isinstance(dtype, DType):
        return input.to(dtype)
    *prefix_words, name = str(dtype).split(".")
    if name not in _TYPES:
        raise ValueError(f"invalid type: {dtype!r}")
    return input.to(as_device(prefix_words[1] if len(prefix_words) > 1 else "cpu"), _TYPES[name])


@composed("type_as(Tensor input, Tensor other) -> Tensor", function=False, out=False)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` with `other`'s dtype and device.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).type_as(raxis.zeros(1))
        tensor([1., 2.])
    """
    return input.to(other)


def _publish_casts() -> None:
    """The methods named after dtypes: ``float()``, ``half()``, ..."""
    names = {
        "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
        "half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64", "cfloat": "complex64",
        "cdouble": "complex128",
    }  # fmt: skip
    for name, dtype_name in names.items():
        composed(
            f"{name}(Tensor input, *, memory_format? memory_format=None) -> Tensor", function=False, out=False
        )(_cast_method(dtypes.by_name(dtype_name)))


def _cast_method(target: DType) -> Any:
    def method(input: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
        if input._layout.dtype is target and memory_format is None:
            return input
        return input.to(target, memory_format=memory_format)

    method.__doc__ = f"`input` in {target.name}; itself if it has that dtype."
    return method


_publish_casts()


@composed("cpu(Tensor input) -> Tensor", function=False, out=False)
def cpu(input: Tensor) -> Tensor:
    """`input` in host memory; itself if it is there.

    Example:
        >>> import raxis
        >>> raxis.ones(2).cpu()
        tensor([1., 1.])
    """
    return input.to("cpu")


@composed(
    "cuda(Tensor input, object device=None, bool non_blocking=False) -> Tensor", function=False, out=False
)
def cuda(input: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """`input` on a CUDA device; itself if it is there.

    Raises:
        RuntimeError: if there is no CUDA backend or device.
    """
    if isinstance(device, int):
        device = f"cuda:{device}"
    return input.to("cuda" if device is None else device)
