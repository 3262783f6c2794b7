"""Walking a tree of modules: children, parameters and buffers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from raxis.nn.modules.base import ModuleFields
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.nn.modules.module import Module
    from raxis.tensor import Tensor

Member = TypeVar("Member")


def join(prefix: str, name: str) -> str:
    """The dotted name of `name` inside `prefix`."""
    return f"{prefix}.{name}" if prefix else name


class Traversal(ModuleFields):
    """Iterators over a module's parts and look-up by dotted name."""

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Yield this module and all below it with their dotted names, parents first.

        A module that is reachable twice is yielded once, unless `remove_duplicate` is false. `memo` holds modules
        to leave out and is extended while iterating.
        """
        memo = set() if memo is None else memo
        this = cast("Module", self)
        if this in memo:
            return
        if remove_duplicate:
            memo.add(this)
        yield prefix, this
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, join(prefix, name), remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """Yield this module and all below it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Yield the direct submodules with their names, each once."""
        seen: set[Module] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """Yield the direct submodules, each once."""
        return (child for _, child in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield parameters with their dotted names; a shared one once, unless `remove_duplicate` is false.

        Example:
            >>> from raxis import nn
            >>> [name for name, _ in nn.Sequential(nn.Linear(2, 3)).named_parameters()]
            ['0.weight', '0.bias']
        """
        return self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield parameters, each once; only this module's own when `recurse` is false."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield buffers with their dotted names; a shared one once, unless `remove_duplicate` is false."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield buffers, each once; only this module's own when `recurse` is false."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named_members(
        self,
        members_of: Callable[[Module], Iterable[tuple[str, Member | None]]],
        prefix: str,
        recurse: bool,
        remove_duplicate: bool,
    ) -> Iterator[tuple[str, Member]]:
        this = cast("Module", self)
        owners = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, this)]
        )
        seen: set[int] = set()
        for owner_name, owner in owners:
            for name, member in members_of(owner):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield join(owner_name, name), member

    def get_submodule(self, target: str) -> Module:
        """The submodule with the dotted name `target`; this module for the empty string.

        Raises:
            AttributeError: a part of the name does not exist or is not a module.
        """
        from raxis.nn.modules.module import Module

        found: Any = self
        for name in target.split(".") if target else []:
            found = _attribute(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` in `{target}` is a {type(found).__name__}, not an nn.Module.")
        return cast("Module", found)

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` in the place of the submodule with the dotted name `target`.

        Raises:
            ValueError: `target` is empty.
            AttributeError: the owner does not exist, or with `strict` the submodule.

        Example:
            >>> from raxis import nn
            >>> model = nn.Sequential(nn.Sequential(nn.ReLU()))
            >>> model.set_submodule("0.0", nn.Tanh())
            >>> model[0][0]
            Tanh()
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict:
            owner.get_submodule(name)
        setattr(owner, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with the dotted name `target`.

        Raises:
            AttributeError: the name does not exist or does not refer to a parameter.
        """
        found = self._get_member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target}` is a {type(found).__name__}, not an nn.Parameter.")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with the dotted name `target`.

        Raises:
            AttributeError: the name does not exist or does not refer to a buffer.
        """
        path, _, name = target.rpartition(".")
        found = self._get_member(target)
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{target}` is a {type(found).__name__}, not a buffer.")
        return cast("Tensor", found)

    def _get_member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        return _attribute(self.get_submodule(path), name)


def _attribute(owner: Any, name: str) -> Any:
    if not hasattr(owner, name):
        raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
    return getattr(owner, name)
