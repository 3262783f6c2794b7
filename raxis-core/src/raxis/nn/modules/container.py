"""Modules that hold other modules: in a row, in a list, by name."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, cast, overload

from raxis.nn.modules.module import Module, indented

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _ModuleSequence(Module):
    """Children in an order, named by their position unless given other names."""

    def _children_list(self) -> list[Module]:
        return cast("list[Module]", list(self._modules.values()))

    def _name_at(self, index: int) -> str:
        position = operator.index(index)
        if not -len(self) <= position < len(self):
            raise IndexError(f"index {index} is out of range for a {self._get_name()} of {len(self)} modules")
        return next(itertools.islice(self._modules, position % len(self), None))

    def _set_children(self, modules: Iterable[Module]) -> None:
        """Replace all children and number them."""
        self._modules = {}
        self.extend(modules)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._children_list())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        if isinstance(index, slice):
            return self._slice(index)
        return cast("Module", self._modules[self._name_at(index)])

    def _slice(self, index: slice) -> Self:
        return type(self)(self._children_list()[index])  # type: ignore[call-arg]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            delattr(self, name)
        self._set_children(self._children_list())

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end.

        Raises:
            TypeError: `modules` is not iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{self._get_name()}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before position `index`.

        Raises:
            IndexError: the position is outside.
            TypeError: `module` is not a Module.
        """
        if not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        children = self._children_list()
        children.insert(index, module)
        self._set_children(children)
        return self

    def pop(self, key: int) -> Module:
        """Remove the module at position `key` and return it."""
        module = self[key]
        del self[key]
        return module

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)


class Sequential(_ModuleSequence):
    """Calls its modules one after the other, each with the result of the one before.

    Takes modules, or one ordered dictionary of them by name.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> tuple(model(raxis.zeros(3, 4)).shape)
        (3, 2)
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def _slice(self, index: slice) -> Self:
        return type(self)(OrderedDict(list(self._modules.items())[index]))

    def forward(self, input: Any) -> Any:
        """Apply all modules in order."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other).__name__} is given."
            )
        return Sequential(*self, *other)

    def __mul__(self, count: int) -> Sequential:
        return Sequential(*self._repeated(count))

    __rmul__ = __mul__

    def __imul__(self, count: int) -> Self:
        self._set_children(self._repeated(count))
        return self

    def _repeated(self, count: int) -> list[Module]:
        """The children `count` times over; the copies share their parameters."""
        if not isinstance(count, int):
            raise TypeError(
                f"unsupported operand type(s) for *: {self._get_name()} and {type(count).__name__}"
            )
        if count <= 0:
            raise ValueError(f"Non-positive multiplication factor {count} for {self._get_name()}")
        return self._children_list() * count


class ModuleList(_ModuleSequence):
    """Modules in a list, to be called by the module that owns it.

    Example:
        >>> from raxis import nn
        >>> layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        >>> len(list(layers.parameters()))
        6
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        lines, position = [], 0
        for text, group in itertools.groupby(map(repr, self)):
            count = len(list(group))
            last = position + count - 1
            entry = f"({position}): {text}" if count == 1 else f"({position}-{last}): {count} x {text}"
            lines.append(indented(entry))
            position += count
        return f"{self._get_name()}(" + ("\n  " + "\n  ".join(lines) + "\n" if lines else "") + ")"


class ModuleDict(Module):
    """Modules by name, to be called by the module that owns it. Keeps the order of insertion.

    Example:
        >>> from raxis import nn
        >>> choices = nn.ModuleDict({"relu": nn.ReLU(), "tanh": nn.Tanh()})
        >>> list(choices)
        ['relu', 'tanh']
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return cast("Module", self._modules[key])

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove a module and return it."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """Names and modules."""
        return cast("ItemsView[str, Module]", self._modules.items())

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return cast("ValuesView[Module]", self._modules.values())

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules from a mapping or from pairs of name and module.

        Raises:
            TypeError: `modules` is neither.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(modules).__name__}"
            )
        for name, module in OrderedDict(modules).items():
            self[name] = module
