"""Moving a module to another device or dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import raxis
from raxis.device import Device
from raxis.dtypes import DType
from raxis.interception import anyone
from raxis.nn.modules.base import ModuleFields
from raxis.nn.parameter import Parameter
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self

    from raxis.nn.modules.module import Module


class Conversion(ModuleFields):
    """`to` and its short forms. All of them change the module in place and return it."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the data of every parameter, its gradient and every buffer by `fn` of it.

        Parameters stay the same objects, so an optimizer that holds them keeps working.
        """
        if recurse:
            for child in self._modules.values():
                if child is not None:
                    child._apply(fn)
        with raxis.no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    _convert_parameter(parameter, fn)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    anyone.changes += 1
                    self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module of the tree, children before parents.

        Example:
            >>> from raxis import nn
            >>> model = nn.Sequential(nn.Linear(2, 2)).apply(lambda module: module.eval())
            >>> model[0].training
            False
        """
        for child in self._modules.values():
            if child is not None:
                child.apply(fn)
        fn(cast("Module", self))
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move parameters and buffers to a device, cast the floating and complex ones, or both.

        Called as ``to(device)``, ``to(dtype)``, ``to(device, dtype)`` or ``to(tensor)``; the latter takes both from
        the tensor. `non_blocking` is passed on to ``Tensor.to``.

        Raises:
            TypeError: `dtype` is neither floating nor complex, or an argument has another type.

        Example:
            >>> import raxis
            >>> from raxis import nn
            >>> nn.Linear(2, 3).to(raxis.float64).weight.dtype
            raxis.float64
        """
        device, dtype, non_blocking = _parse_to(*args, **kwargs)

        def convert(tensor: Tensor) -> Tensor:
            inexact = tensor.is_floating_point() or tensor.is_complex()
            return tensor.to(device, dtype if inexact else None, non_blocking=non_blocking)

        return self._apply(convert)

    def to_empty(self, *, device: Device | str, recurse: bool = True) -> Self:
        """Move to `device` without copying: parameters and buffers hold arbitrary values afterwards."""
        return self._apply(lambda tensor: raxis.empty_like(tensor, device=device), recurse)

    def cpu(self) -> Self:
        """Move to the CPU."""
        return self.to("cpu")

    def cuda(self, device: Device | int | None = None) -> Self:
        """Move to a CUDA device, by default the current one."""
        if device is None:
            return self.to("cuda")
        return self.to(f"cuda:{device}" if isinstance(device, int) else device)

    def type(self, dst_type: DType) -> Self:
        """Cast every parameter and buffer, integers included."""
        return self._apply(lambda tensor: tensor.to(dst_type))

    def float(self) -> Self:
        """Cast floating tensors to float32."""
        return self._cast_floating(raxis.float32)

    def double(self) -> Self:
        """Cast floating tensors to float64."""
        return self._cast_floating(raxis.float64)

    def half(self) -> Self:
        """Cast floating tensors to float16."""
        return self._cast_floating(raxis.float16)

    def bfloat16(self) -> Self:
        """Cast floating tensors to bfloat16."""
        return self._cast_floating(raxis.bfloat16)

    def _cast_floating(self, dtype: DType) -> Self:
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)


def _convert_parameter(parameter: Parameter, fn: Callable[[Tensor], Tensor]) -> None:
    gradient = parameter.grad
    parameter.data = fn(parameter)
    if gradient is not None:
        parameter.grad = fn(gradient).requires_grad_(gradient.requires_grad)


def _parse_to(
    *args: Any,
    device: Device | str | None = None,
    dtype: DType | None = None,
    tensor: Tensor | None = None,
    non_blocking: bool = False,
) -> tuple[Device | None, DType | None, bool]:
    """Device, dtype and `non_blocking` of a call of `Module.to`."""
    for argument in args:
        if isinstance(argument, bool):
            non_blocking = argument
        elif isinstance(argument, Tensor):
            tensor = argument
        elif isinstance(argument, DType):
            dtype = argument
        elif argument is not None:
            device = argument
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}. "
            "Use Module.type() to cast to an integer type."
        )
    return None if device is None else Device(device), dtype, non_blocking
