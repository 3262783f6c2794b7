"""Parameters and buffers: tensors that a module registers when they are assigned to it.

Those of lazy modules are uninitialized, without a shape, until the first call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import raxis
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self

    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.size import Size

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class Parameter(Tensor):
    """A tensor that a module trains.

    Assigned as an attribute of a `raxis.nn.Module` it is listed by ``parameters()`` and saved by
    ``state_dict()``. It shares memory with ``data``, but is a leaf of the autograd graph.

    Args:
        data: tensor of any shape; an empty float tensor when omitted.
        requires_grad: whether gradients are recorded; needs a floating or complex dtype when true.

    Example:
        >>> import raxis
        >>> weight = raxis.nn.Parameter(raxis.zeros(2, 3))
        >>> weight.requires_grad, weight.is_leaf
        (True, True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        parameter = _sharing(cls, _or_empty(data))
        parameter.requires_grad = requires_grad
        return parameter

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuild_parameter, (type(self), self.data, self.requires_grad)


class Buffer(Tensor):
    """A tensor that belongs to a module's state, but is not trained.

    Args:
        data: tensor of any shape; an empty float tensor when omitted.
        persistent: whether ``state_dict()`` of the owning module contains it.

    Example:
        >>> import raxis
        >>> module = raxis.nn.Module()
        >>> module.mean = raxis.nn.Buffer(raxis.zeros(3))
        >>> list(module.state_dict())
        ['mean']
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        buffer = _sharing(cls, _or_empty(data))
        buffer.persistent = persistent
        return buffer


class _Uninitialized(Tensor):
    """A dtype and a device, those of `_stand_in`; no shape and no values, until `materialize`."""

    cls_to_become: ClassVar[type[Tensor]]

    _stand_in: Tensor

    def materialize(
        self, shape: Sequence[int], device: Device | str | None = None, dtype: DType | None = None
    ) -> None:
        """Become an ordinary tensor of `shape` with arbitrary values.

        Args:
            shape: its size.
            device: where it lives, if elsewhere than promised so far.
            dtype: its dtype, if another than promised so far.
        """
        made = raxis.empty(tuple(shape), device=device or self.device, dtype=dtype or self.dtype)
        requires_grad = self.requires_grad
        del self._stand_in
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        self._storage, self._offset, self._layout = made._storage, made._offset, made._layout
        self.requires_grad = requires_grad

    def __getattr__(self, name: str) -> Any:
        # Every op looks at one of these first, and an uninitialized tensor has none of them.
        if name in ("_storage", "_offset", "_layout"):
            raise self._used_too_early()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _used_too_early(self) -> ValueError:
        return ValueError(
            f"Attempted to use an {type(self).__name__}, which has no shape and no values yet. "
            "Call the lazy module it belongs to with an example first."
        )

    @property
    def shape(self) -> Size:
        """Not known.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            f"An {type(self).__name__} has no shape yet. Call the lazy module it belongs to with an example first; "
            "if this happens in load_state_dict, the module whose state is loaded."
        )

    @property
    def dtype(self) -> DType:
        """The element type it is going to have."""
        return self._stand_in.dtype

    @property
    def device(self) -> Device:
        """The device it is going to live on."""
        return self._stand_in.device

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are going to flow to it."""
        return self._stand_in.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._stand_in.requires_grad = value

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` in place; the tensor itself is returned."""
        self.requires_grad = requires_grad
        return self

    @property
    def data(self) -> Tensor:
        """Refused, as there are no values; assigning takes over dtype and device.

        Raises:
            ValueError: when read.
        """
        raise self._used_too_early()

    @data.setter
    def data(self, value: Tensor) -> None:
        self._stand_in = raxis.empty(
            0, dtype=value.dtype, device=value.device, requires_grad=self.requires_grad
        )

    def detach(self) -> Self:
        """The tensor itself: nothing is on the tape."""
        return self

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating one."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return self.dtype.is_complex

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """An uninitialized tensor of another dtype or on another device; arguments as of ``Tensor.to``."""
        converted = self.__deepcopy__({})
        converted.data = self._stand_in.detach().to(*args, **kwargs)
        return converted

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        if id(self) not in memo:
            rebuild, arguments = self.__reduce_ex__(2)
            memo[id(self)] = rebuild(*arguments)
        copied: Self = memo[id(self)]
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter of unknown shape, which becomes a `Parameter` by ``materialize(shape)``.

    It can be moved to another dtype or device; everything that needs its values is refused.

    Raises:
        ValueError: when it is used in an op.
        RuntimeError: when it is asked for its shape.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> weight = nn.UninitializedParameter(dtype=raxis.float64)
        >>> weight
        <UninitializedParameter>
        >>> weight.materialize((2, 3))
        >>> type(weight).__name__, tuple(weight.shape), weight.dtype
        ('Parameter', (2, 3), raxis.float64)
    """

    cls_to_become = Parameter

    def __new__(
        cls,
        requires_grad: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> UninitializedParameter:
        made = object.__new__(cls)
        made._stand_in = raxis.empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
        return made


class UninitializedBuffer(_Uninitialized, Buffer):
    """A buffer of unknown shape, which becomes a `Buffer` by ``materialize(shape)``.

    Raises:
        ValueError: when it is used in an op.
        RuntimeError: when it is asked for its shape.

    Example:
        >>> from raxis import nn
        >>> mean = nn.UninitializedBuffer()
        >>> mean.materialize((3,))
        >>> tuple(mean.shape)
        (3,)
    """

    cls_to_become = Buffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        made = object.__new__(cls)
        made._stand_in = raxis.empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
        made.persistent = persistent
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        rebuild, arguments = super().__reduce_ex__(protocol)
        return rebuild, (*arguments, self.persistent)


def is_lazy(param: Any) -> bool:
    """Whether `param` is an `UninitializedParameter` or an `UninitializedBuffer`.

    Example:
        >>> from raxis import nn
        >>> nn.parameter.is_lazy(nn.UninitializedParameter())
        True
    """
    return isinstance(param, _Uninitialized)


TensorClass = TypeVar("TensorClass", bound=Tensor)


def _sharing(cls: type[TensorClass], data: Tensor) -> TensorClass:
    """A leaf of class `cls` over the memory of `data`."""
    if not isinstance(data, Tensor):
        raise TypeError(f"{cls.__name__} expects a raxis.Tensor, but got {type(data).__name__}.")
    leaf = object.__new__(cls)
    leaf._storage, leaf._offset, leaf._layout = data._storage, data._offset, data._layout
    return leaf


def _or_empty(data: Tensor | None) -> Tensor:
    return raxis.empty(0) if data is None else data


def _rebuild_parameter(cls: type[Parameter], data: Tensor, requires_grad: bool) -> Parameter:
    return cls(data, requires_grad)
