"""Parameters and buffers: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any, TypeVar

import raxis
from raxis.tensor import Tensor

__all__ = ["Buffer", "Parameter"]


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
