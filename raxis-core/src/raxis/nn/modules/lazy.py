"""Modules that learn the size of their input from their first call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import raxis
from raxis.nn.modules.module import Module
from raxis.nn.parameter import UninitializedParameter, is_lazy

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin(Module):
    """Makes a module lazy: parameters get their shape at the first call, then the class is `cls_to_become`.

    A lazy class inherits from the mixin first, then from the class it becomes. It assigns
    `raxis.nn.UninitializedParameter` and `raxis.nn.UninitializedBuffer` in ``__init__`` and defines
    ``initialize_parameters``.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> from raxis.nn.modules.lazy import LazyModuleMixin
        >>> class Scale(LazyModuleMixin):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = nn.UninitializedParameter()
        ...     def initialize_parameters(self, input):
        ...         if self.has_uninitialized_params():
        ...             self.factor.materialize(input.shape[-1:])
        ...             nn.init.ones_(self.factor)
        ...     def forward(self, input):
        ...         return input * self.factor
        >>> Scale()(raxis.ones(2, 3)).shape
        raxis.Size([2, 3])
    """

    cls_to_become: ClassVar[type[Module] | None] = None

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give every parameter and buffer its shape and first values; called with the arguments of ``forward``.

        Parameters may have them already, from ``load_state_dict``.
        """
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module, children aside, has no shape yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _register_uninitialized(
        self, wanted: dict[str, bool], device: Device | str | None, dtype: DType | None
    ) -> None:
        """Register parameters without a shape, and None for those that are not wanted."""
        for name, is_wanted in wanted.items():
            parameter = UninitializedParameter(device=device, dtype=dtype) if is_wanted else None
            self.register_parameter(name, parameter)

    def reset_parameters(self) -> None:
        """Draw new starting values as the class does that this becomes, once there are shapes."""
        if not self.has_uninitialized_params():
            super().reset_parameters()  # type: ignore[misc]

    def _materialize(self, **shapes: tuple[int, ...]) -> None:
        """Give the parameters and buffers of these names shape and starting values; loaded ones keep theirs."""
        tensors = {name: getattr(self, name) for name in shapes if getattr(self, name) is not None}
        loaded = {name: tensor.clone() for name, tensor in tensors.items() if not is_lazy(tensor)}
        for name in tensors.keys() - loaded:
            tensors[name].materialize(shapes[name])
        self.reset_parameters()
        for name, values in loaded.items():
            tensors[name].copy_(values)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with raxis.no_grad():
            self.initialize_parameters(*args, **kwargs)
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        if self.cls_to_become is None:
            return super().__call__(*args, **kwargs)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        return self(*args, **kwargs)
