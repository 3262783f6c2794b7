"""Guards: what must still hold of the world outside for a recorded run to be repeated."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import CellType
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.compiler.memory import Argument
from raxis.compiler.watching import hooks_of_leaf, options_of_optimizer, state_of_module
from raxis.layout import Layout
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording
    from raxis.storage import Storage


class TensorGuard(NamedTuple):
    """A tensor outside shows the same storage in the same way, and requires grad as before."""

    tensor: Tensor
    storage: Storage
    layout: Layout
    requires_grad: bool


class GradGuard(NamedTuple):
    """The ``grad`` of a tensor is there or not, and of the same layout, as when the function began."""

    leaf: Tensor | Argument
    layout: Layout | None


class ModuleGuard(NamedTuple):
    """A module is in the same mode, and has the same parts, hooks and plain attributes."""

    module: Any
    training: bool
    state: tuple[Any, ...]


class OptimizerGuard(NamedTuple):
    """An optimizer has the same options."""

    optimizer: Any
    options: tuple[Any, ...]


class HookGuard(NamedTuple):
    """A leaf that got gradients has the same hooks."""

    leaf: Tensor
    hooks: tuple[int, ...]


class Guards(NamedTuple):
    """Everything outside of the arguments that a recorded run depended on.

    Attributes:
        same: arguments, by position, that the function may also know by itself: they must be these tensors.
        tensors: outside tensors that live on.
        gradients: of which tensors the ``grad`` took part.
        modules: that were called.
        optimizers: that made a step.
        hooks: of leaves that got gradients.
    """

    same: tuple[tuple[int, Tensor], ...]
    tensors: tuple[TensorGuard, ...]
    gradients: tuple[GradGuard, ...]
    modules: tuple[ModuleGuard, ...]
    optimizers: tuple[OptimizerGuard, ...]
    hooks: tuple[HookGuard, ...]

    def failure(self) -> str | None:
        """A sentence about the first guard that does not hold; None if all do."""
        for tensor, storage, layout, requires_grad in self.tensors:
            if tensor._storage is not storage:
                return f"a tensor of shape {list(tensor.shape)} outside of the function got other memory"
            if tensor._layout is not layout:
                return f"a tensor outside of the function had shape {list(layout.shape)} and has {list(tensor.shape)}"
            if (tensor._edge is not None) is not requires_grad:
                return (
                    f"requires_grad of a tensor of shape {list(tensor.shape)} outside of the function changed"
                )
        for leaf, shown in self.gradients:
            if isinstance(leaf, Argument):
                continue  # of which there is a new one at each call
            grad = leaf._grad
            if (None if grad is None else grad._layout) is not shown:
                return f"the grad of a tensor of shape {list(leaf.shape)} was {_described(shown, grad)}"
        for module, training, _ in self.modules:
            if module.training is not training:
                return f"a {type(module).__name__} changed from training={training} to training={module.training}"
        for optimizer, options in self.optimizers:
            if options_of_optimizer(optimizer) != options:
                return f"an option of a {type(optimizer).__name__} changed"
        return self.change()

    def change(self) -> str | None:
        """A sentence about what is looked at only after `raxis.interception.anyone.changes` rose."""
        for module, _, state in self.modules:
            if state_of_module(module) != state:
                return f"a {type(module).__name__} got other attributes, parts or hooks"
        for leaf, hooks in self.hooks:
            if hooks_of_leaf(leaf) != hooks:
                return f"a tensor of shape {list(leaf.shape)} outside of the function got other hooks"
        return None


def _described(layout: Layout | None, grad: Tensor | None) -> str:
    before = "None" if layout is None else f"a tensor of shape {list(layout.shape)}"
    return f"{before} and is now {'None' if grad is None else f'a tensor of shape {list(grad.shape)}'}"


def guards_of(recording: Recording) -> Guards:
    """The guards of a recording, which forgets the tensors that it alone kept alive."""
    seen = [
        (weakref.ref(tensor), storage, tensor._layout, tensor._edge is not None)
        for tensor, storage, _ in recording.tensors.values()
    ]
    recording.tensors.clear()
    recording.made.clear()
    alive = [
        TensorGuard(tensor, storage, layout, requires_grad)
        for reference, storage, layout, requires_grad in seen
        if (tensor := reference()) is not None
    ]
    gradients = [
        GradGuard(recording.named(leaf), None if entry is None else entry._layout)
        for leaf, entry in recording.leaves.values()
    ]
    leaves = [leaf for leaf, _ in recording.leaves.values() if isinstance(recording.named(leaf), Tensor)]
    return Guards(
        _known_twice(recording),
        tuple(alive),
        tuple(gradients),
        tuple(ModuleGuard(*known) for known in recording.modules.values()),
        tuple(OptimizerGuard(*known) for known in recording.optimizers.values()),
        tuple(HookGuard(leaf, hooks_of_leaf(leaf)) for leaf in leaves),
    )


def _known_twice(recording: Recording) -> tuple[tuple[int, Tensor], ...]:
    """The arguments that are tensors of the function, too: what it did with either cannot be told apart."""
    if not recording.positions:
        return ()
    own = {id(tensor) for tensor in tensors_of(recording.function)}
    for module, *_ in recording.modules.values():
        own.update(id(tensor) for tensor in (*module._parameters.values(), *module._buffers.values()))
    return tuple((at, recording.leaves_of_call[at]) for key, at in recording.positions.items() if key in own)


def tensors_of(function: Any) -> Iterator[Tensor]:
    """The tensors that a function knows: of its closure, its globals, and the object it is a method of."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return
    values = [getattr(function, "__self__", None)]
    values += [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
    values += [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    for value in values:
        yield from _tensors_in(value)


_EMPTY = CellType()


def _tensors_in(value: Any) -> Iterator[Tensor]:
    parts = (
        value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else (value,)
    )
    for part in parts:
        if isinstance(part, Tensor):
            yield part
        elif isinstance(getattr(part, "_parameters", None), dict):  # a module
            yield from (tensor for tensor in (*part.parameters(), *part.buffers()))
