"""The base class of every layer and model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raxis.autograd.leaf import clear_grad
from raxis.interception import active, anyone
from raxis.nn.modules.convert import Conversion
from raxis.nn.modules.hooks import HookRegistration, call_with_hooks
from raxis.nn.modules.state import StateDictMixin
from raxis.nn.modules.traversal import Traversal
from raxis.nn.parameter import Buffer, Parameter
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from typing_extensions import Self

_STORES = ("_parameters", "_buffers", "_modules")


class Module(Traversal, HookRegistration, StateDictMixin, Conversion):
    """A computation with parameters, buffers and submodules, registered by assigning them as attributes.

    Subclasses call ``super().__init__()``, assign their parts and define ``forward``.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> class Scale(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = nn.Parameter(raxis.tensor(2.0))
        ...     def forward(self, input):
        ...         return input * self.factor
        >>> Scale()(raxis.tensor([1.0, 2.0])).tolist()
        [2.0, 4.0]
    """

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Define the computation of a call. Every subclass that is called overrides it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if anyone.records and active.recording is not None:
            active.recording.note_module(self)
        if self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks:
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # -- registration ---------------------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under `name`; None reserves the name without a parameter.

        Raises:
            AttributeError: before ``Module.__init__()``.
            KeyError: the name is empty, contains a dot or is taken.
            TypeError: the name is not a string or `param` not a Parameter.
            ValueError: `param` is the result of a computation.
        """
        self._require_free_name(name, "_parameters", "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(raxis.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        anyone.changes += 1
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is part of the module's state, but not trained.

        It moves with the module. Without `persistent` it is left out of ``state_dict()``.

        Raises:
            AttributeError: before ``Module.__init__()``.
            KeyError: the name is empty, contains a dot or is taken.
            TypeError: the name is not a string or `tensor` not a tensor.
        """
        self._require_free_name(name, "_buffers", "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (raxis.Tensor or None required)"
            )
        anyone.changes += 1
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under `name`; the same as `add_module`."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under `name`.

        Raises:
            KeyError: the name is empty, contains a dot or is taken.
            TypeError: the name is not a string or `module` not a Module.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._require_free_name(name, "_modules", "module")
        anyone.changes += 1
        self._modules[name] = module

    def _require_free_name(self, name: Any, store: str, role: str) -> None:
        self._require_initialised(role)
        if not isinstance(name, str):
            raise TypeError(f"{role} name should be a string. Got {type(name).__name__}")
        if hasattr(self, name) and name not in self.__dict__[store]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{role} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{role} name can\'t be empty string ""')

    def _require_initialised(self, role: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {role} before Module.__init__() call")

    # -- attributes -----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__
        for store in _STORES:
            if store in fields and name in fields[store]:
                return fields[store][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        anyone.changes += 1
        fields = self.__dict__
        if isinstance(value, Parameter):
            self._require_initialised("parameter")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif name in fields.get("_parameters", ()):
            self._replace("_parameters", name, value, "parameter", "raxis.nn.Parameter")
        elif isinstance(value, Module):
            self._require_initialised("module")
            self._forget(name, keep="_modules")
            self.add_module(name, value)
        elif name in fields.get("_modules", ()):
            self._replace("_modules", name, value, "child module", "raxis.nn.Module")
        elif isinstance(value, Buffer):
            self._require_initialised("buffer")
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in fields.get("_buffers", ()):
            self._replace("_buffers", name, value, "buffer", "raxis.Tensor")
        else:
            super().__setattr__(name, value)

    def _replace(self, store: str, name: str, value: Any, role: str, expected: str) -> None:
        """Put None, or into a buffer another tensor, in the place of a registered part."""
        if value is not None and not (store == "_buffers" and isinstance(value, Tensor)):
            raise TypeError(
                f"cannot assign '{type(value).__name__}' as {role} '{name}' ({expected} or None expected)"
            )
        self.__dict__[store][name] = value

    def _forget(self, name: str, keep: str | None = None) -> bool:
        """Remove whatever `name` stands for, except in the store `keep`; whether there was anything."""
        fields = self.__dict__
        found = fields.pop(name, self) is not self
        for store in _STORES:
            if store != keep:
                found = fields[store].pop(name, self) is not self or found
        if keep != "_buffers":
            self._non_persistent_buffers_set.discard(name)
        return found

    def __delattr__(self, name: str) -> None:
        anyone.changes += 1
        if any(name in self.__dict__.get(store, ()) for store in _STORES):
            self._forget(name)
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = set(super().__dir__()).union(*(self.__dict__[store] for store in _STORES))
        # Names of numbered children such as "0" cannot be typed after a dot.
        return sorted(name for name in names if not name[:1].isdigit())

    # -- modes ----------------------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set this module and all below it to training mode, or to evaluation with ``mode=False``.

        Raises:
            ValueError: `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Set this module and all below it to evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients are recorded for the parameters of the tree."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros when `set_to_none` is false."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    # -- printing -------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What ``repr`` shows of this module besides its children; subclasses override it."""
        return ""

    def __repr__(self) -> str:
        own = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): {indented(repr(child))}" for name, child in self._modules.items()]
        if not children and len(own) <= 1:
            return f"{self._get_name()}({''.join(own)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(own + children) + "\n)"


def indented(text: str) -> str:
    """`text` with every line but the first moved right by two spaces."""
    return text.replace("\n", "\n  ")
