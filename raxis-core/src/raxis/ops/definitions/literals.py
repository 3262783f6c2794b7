"""Tensors from Python values: tensor, as_tensor, asarray, scalar_tensor."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import PYTHON_CATEGORIES, Category, DType, promote_types
from raxis.frames import user_stacklevel
from raxis.interop import adopt, from_numpy, host_array
from raxis.layout import layout_of
from raxis.ops.creating import marked
from raxis.ops.definitions.factory import check_fits
from raxis.ops.promotion import default_dtype_of, get_default_dtype
from raxis.ops.table import composed
from raxis.placement import DeviceLike, as_device
from raxis.tensor import Tensor


@composed(
    "tensor(object data, *, dtype? dtype=None, device? device=None, bool requires_grad=False, "
    "bool pin_memory=False) -> Tensor",
    method=False,
    out=False,
)
def tensor(
    data: Any,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with a copy of Python numbers, nested sequences of them, an array or a tensor.

    Args:
        data: the values.
        dtype: default: from the values (bool, int64, default float or complex dtype; an array's own).
        device: default: `get_default_device`; of a tensor, its own.
        requires_grad: record operations on the result.
        pin_memory: accepted; host memory is never pinned.

    Raises:
        ValueError: if sequences of one level differ in length.
        TypeError: if a value is no number.
        RuntimeError: if an integer does not fit the dtype.

    Example:
        >>> import raxis
        >>> raxis.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than raxis.tensor(sourceTensor).",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
        target = data.device if device is None else device
        copied = data.detach().to(target, dtype, copy=True)
        return marked(copied, requires_grad)
    array, own = _of_plain_numbers(data, dtype) or _as_array(data, dtype)
    chosen = dtype or own
    layout = layout_of(chosen, array.shape, None, as_device(device))
    return marked(adopt(array, layout), requires_grad)


_WIDE = frozenset({dtypes.float32, dtypes.float64})
_LARGEST = float(1 << 62)


def _of_plain_numbers(data: Any, dtype: DType | None) -> tuple[np.ndarray, DType] | None:
    """What `_as_array` gives, at once for lists of Python's numbers that NumPy converts alike; None for others."""
    level: Sequence[Any] = (data,)
    shape: tuple[int, ...] = ()
    kinds = {type(data)}
    while kinds <= _LISTS and len(shape) < _DEEPEST:
        lengths = set(map(len, level))
        level = list(itertools.chain.from_iterable(level))
        if len(lengths) != 1 or not level:
            return None
        shape += tuple(lengths)
        kinds = set(map(type, level))
    own = _plain_dtype(kinds)
    if own is None or not level:
        return None
    chosen = dtype or own
    convertible = chosen in _WIDE and kinds <= {float, int}
    if not convertible and (chosen is not own or float in kinds):
        return None
    if not (min(level) > -_LARGEST and max(level) < _LARGEST):  # beyond lie also infinity and NaN
        return None
    return np.array(level, chosen.numpy).reshape(shape), own


_LISTS: frozenset[type] = frozenset({list, tuple})


def _plain_dtype(kinds: set[type]) -> DType | None:
    if float in kinds:
        return get_default_dtype() if kinds <= {float, int} else None
    if kinds == {int}:
        return dtypes.int64
    return dtypes.bool_ if kinds == {bool} else None


def _as_array(data: Any, dtype: DType | None) -> tuple[np.ndarray, DType]:
    """The values as an array of the wanted dtype, and the dtype they have on their own."""
    if isinstance(data, (np.ndarray, np.generic)) or hasattr(data, "__array_interface__"):
        array = np.asarray(data)
        if not array.dtype.isnative:
            raise ValueError(
                "given numpy array has byte order different from the native byte order. Convert it with "
                "array.astype(array.dtype.newbyteorder('='))."
            )
        if isinstance(data, np.generic):
            own = _leaf_dtype(data)
        else:
            own = dtypes.from_numpy_dtype(array.dtype)
        return _converted(array, dtype or own), own
    shape, leaves = _flatten(data)
    own = _common_dtype(leaves)
    return _from_leaves(leaves, dtype or own).reshape(shape), own


def _converted(array: np.ndarray, dtype: DType) -> np.ndarray:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        return array.astype(dtype.numpy)


_DEEPEST = 64
"""How deep lists may nest: NumPy's number of dimensions; a list that contains itself nests without end."""


def _flatten(data: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested sequences and their leaves in row-major order."""
    shape: list[int] = []
    level: list[Any] = [data]
    while level and _is_sequence(level[0]):
        if len(shape) == _DEEPEST:
            raise ValueError(f"too many dimensions {type(level[0]).__name__!r}: lists nest beyond {_DEEPEST}")
        length = len(level[0])
        for item in level:
            if not _is_sequence(item) or len(item) != length:
                _raise_ragged(item, length, len(shape))
        shape.append(length)
        level = list(itertools.chain.from_iterable(level))
    for item in level:
        if _is_sequence(item):
            raise TypeError(f"not a number, but a {type(item).__name__}, at dimension {len(shape)}")
    if level and shape and isinstance(level[0], str):
        raise ValueError("too many dimensions 'str'")
    return tuple(shape), level


def _raise_ragged(item: Any, length: int, dim: int) -> None:
    if _is_sequence(item):
        raise ValueError(f"expected sequence of length {length} at dim {dim} (got {len(item)})")
    raise TypeError(
        f"not a sequence: expected one of length {length} at dim {dim}, but got {type(item).__name__}"
    )


def _is_sequence(value: Any) -> bool:
    if type(value) in PYTHON_CATEGORIES:
        return False
    if isinstance(value, (np.ndarray, Tensor)):
        return value.ndim > 0
    if isinstance(value, (str, bytes, Mapping)):
        return False
    return isinstance(value, Sequence) or (hasattr(value, "__len__") and hasattr(value, "__getitem__"))


def _common_dtype(leaves: list[Any]) -> DType:
    kinds = set(map(type, leaves))
    if not kinds:
        return get_default_dtype()
    if kinds <= PYTHON_CATEGORIES.keys():
        return default_dtype_of(max(PYTHON_CATEGORIES[kind] for kind in kinds))
    found: DType | None = None
    for leaf in leaves:
        own = _leaf_dtype(leaf)
        found = own if found is None else promote_types(found, own)
    assert found is not None  # there are leaves
    return found


def _leaf_dtype(leaf: Any) -> DType:
    category = PYTHON_CATEGORIES.get(type(leaf))
    if category is not None:
        return default_dtype_of(category)
    if isinstance(leaf, Tensor):
        return leaf.dtype
    if isinstance(leaf, (np.ndarray, np.generic)):
        return dtypes.from_numpy_dtype(leaf.dtype)
    if isinstance(leaf, (str, bytes)):
        raise TypeError(f"new(): invalid data type {type(leaf).__name__!r}: {leaf!r}")
    try:
        return default_dtype_of(dtypes.scalar_category(leaf.__class__))
    except TypeError:
        raise RuntimeError(f"Could not infer dtype of {type(leaf).__name__}") from None


def _from_leaves(leaves: list[Any], dtype: DType) -> np.ndarray:
    numbers = [leaf.item() if isinstance(leaf, (Tensor, np.ndarray, np.generic)) else leaf for leaf in leaves]
    for number in numbers:
        if isinstance(number, complex) and dtype is not dtypes.bool_ and not dtype.is_complex:
            raise TypeError(f"must be real number, not complex: {number} does not convert to {dtype.name}")
        if isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
            raise ValueError(f"Overflow when unpacking long long: {number} does not fit 64 bits")
    if dtype.category is Category.INTEGER:
        return _integers(numbers, dtype)
    with np.errstate(all="ignore"):
        array = np.array(numbers, dtype=np.float32 if dtype in dtypes.HALF else dtype.numpy)
        return array.astype(dtype.numpy)


def _integers(numbers: list[Any], dtype: DType) -> np.ndarray:
    for number in numbers:
        check_fits(number, dtype)
    return np.array([int(number) for number in numbers], dtype=np.int64).astype(dtype.numpy)


@composed("as_tensor(object data, dtype? dtype=None, device? device=None) -> Tensor", method=False, out=False)
def as_tensor(data: Any, dtype: DType | None = None, device: DeviceLike | None = None) -> Tensor:
    """`data` as a tensor, sharing memory when it is a tensor or an array that needs no conversion.

    Example:
        >>> import numpy as np
        >>> import raxis
        >>> array = np.zeros(2)
        >>> raxis.as_tensor(array)[0] = 1
        >>> array
        array([1., 0.])
    """
    if isinstance(data, Tensor):
        return data.to(data.device if device is None else device, dtype)
    if isinstance(data, np.ndarray):
        return from_numpy(data).to(as_device(device), dtype)
    return tensor(data, dtype=dtype, device=device)


@composed(
    "asarray(object obj, *, dtype? dtype=None, device? device=None, bool? copy=None, "
    "bool requires_grad=False) -> Tensor",
    method=False,
    out=False,
)
def asarray(
    obj: Any,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`obj` as a tensor: shares memory where possible unless `copy`; ``copy=False`` forbids copying.

    Raises:
        ValueError: if ``copy=False`` and a copy is needed.

    Example:
        >>> import raxis
        >>> raxis.asarray([1.0, 2.0])
        tensor([1., 2.])
    """
    sharable = isinstance(obj, (Tensor, np.ndarray))
    made = as_tensor(obj, dtype, device)
    shares = sharable and np.shares_memory(_memory(obj), _memory(made)) if made.numel() else sharable
    if copy is False and not shares:
        raise ValueError(f"can't alias arbitrary sequence or convert without a copy: {type(obj).__name__}")
    if copy and shares:
        made = made.clone()
    return marked(made.detach() if requires_grad and made.requires_grad else made, requires_grad)


def _memory(value: Any) -> np.ndarray:
    return host_array(value) if isinstance(value, Tensor) else value


@composed(
    "scalar_tensor(Scalar s, *, dtype? dtype=None, device? device=None, bool requires_grad=False) -> Tensor",
    method=False,
    out=False,
)
def scalar_tensor(
    s: Any, *, dtype: DType | None = None, device: DeviceLike | None = None, requires_grad: bool = False
) -> Tensor:
    """A 0-d tensor holding one number; without `dtype` of the default float dtype.

    Example:
        >>> import raxis
        >>> raxis.scalar_tensor(3)
        tensor(3.)
    """
    return tensor(s, dtype=dtype or get_default_dtype(), device=device, requires_grad=requires_grad)


@composed(
    "new_tensor(Tensor input, object data, *, dtype? dtype=None, device? device=None, "
    "bool requires_grad=False) -> Tensor",
    function=False,
    out=False,
)
def new_tensor(
    input: Tensor,
    data: Any,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor with a copy of `data`, of `input`'s dtype and device unless given.

    Example:
        >>> import raxis
        >>> raxis.ones(1).new_tensor([1, 2])
        tensor([1., 2.])
    """
    return tensor(
        data,
        dtype=dtype or input.dtype,
        device=input.device if device is None else device,
        requires_grad=requires_grad,
    )
