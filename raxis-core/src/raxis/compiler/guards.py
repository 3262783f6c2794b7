"""Guards: what must still hold of the world outside for a recorded run to be repeated."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.layout import Layout

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording
    from raxis.storage import Storage
    from raxis.tensor import Tensor


class TensorGuard(NamedTuple):
    """A tensor outside shows the same storage, and requires grad as before."""

    tensor: Tensor
    storage: Storage
    requires_grad: bool


class GradGuard(NamedTuple):
    """The ``grad`` of a tensor is there or not, and of the same layout, as when the function began."""

    leaf: Tensor
    layout: Layout | None


class ModuleGuard(NamedTuple):
    """A module is in the same mode."""

    module: Any
    training: bool


class Guards(NamedTuple):
    """Everything outside of the arguments that a recorded run depended on."""

    tensors: tuple[TensorGuard, ...]
    gradients: tuple[GradGuard, ...]
    modules: tuple[ModuleGuard, ...]

    def failure(self) -> str | None:
        """A sentence about the first guard that does not hold; None if all do."""
        for tensor, storage, requires_grad in self.tensors:
            if tensor._storage is not storage:
                return f"a tensor of shape {list(tensor.shape)} outside of the function got other memory"
            if (tensor._edge is not None) is not requires_grad:
                return (
                    f"requires_grad of a tensor of shape {list(tensor.shape)} outside of the function changed"
                )
        for leaf, layout in self.gradients:
            grad = leaf._grad
            if (None if grad is None else grad._layout) is not layout:
                return f"the grad of a tensor of shape {list(leaf.shape)} was {_described(layout, grad)}"
        for module, training in self.modules:
            if module.training is not training:
                return f"a {type(module).__name__} changed from training={training} to training={module.training}"
        return None


def _described(layout: Layout | None, grad: Tensor | None) -> str:
    before = "None" if layout is None else f"a tensor of shape {list(layout.shape)}"
    return f"{before} and is now {'None' if grad is None else f'a tensor of shape {list(grad.shape)}'}"


def guards_of(recording: Recording) -> Guards:
    """The guards of a recording, which forgets the tensors that it alone kept alive."""
    seen = [
        (weakref.ref(tensor), storage, tensor._edge is not None)
        for tensor, storage in recording.tensors.values()
    ]
    recording.tensors.clear()
    alive = [
        TensorGuard(tensor, storage, requires_grad)
        for reference, storage, requires_grad in seen
        if (tensor := reference()) is not None
    ]
    gradients = [
        GradGuard(leaf, None if entry is None else entry._layout) for leaf, entry in recording.leaves.values()
    ]
    modules = [ModuleGuard(module, training) for module, training in recording.modules.values()]
    return Guards(tuple(alive), tuple(gradients), tuple(modules))
