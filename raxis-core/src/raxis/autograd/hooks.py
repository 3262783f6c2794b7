"""Hooks of tensors: on their gradient, on its accumulation, and keeping it."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from raxis.autograd.handle import RemovableHandle
from raxis.autograd.node import AccumulateGrad, Edge

if TYPE_CHECKING:
    from raxis.tensor import Tensor


def _edge(tensor: Tensor, purpose: str) -> Edge:
    edge = tensor._edge
    if edge is None:
        raise RuntimeError(f"cannot {purpose} a tensor that doesn't require gradient")
    return edge


def register_hook(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call `hook` with the gradient of `tensor` whenever it is computed; a returned tensor replaces it."""
    node, position = _edge(tensor, "register a hook on")
    if node.tensor_hooks is None:
        node.tensor_hooks = {}
    return RemovableHandle.attach(node.tensor_hooks.setdefault(position, OrderedDict()), hook)


def register_accumulate_hook(tensor: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook` with the leaf `tensor` each time its ``grad`` was added to."""
    node, _ = _edge(tensor, "register a hook on")
    if not isinstance(node, AccumulateGrad):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if node.accumulate_hooks is None:
        node.accumulate_hooks = OrderedDict()
    return RemovableHandle.attach(node.accumulate_hooks, hook)


def retain_grad(tensor: Tensor) -> None:
    """Let a non-leaf keep its gradient in ``grad``; leaves do so anyway."""
    node, position = _edge(tensor, "call retain_grad() on")
    if node.is_accumulator or tensor._retains_grad:
        return
    tensor._retains_grad = True
    if node.retained is None:
        node.retained = {}
    node.retained[position] = weakref.ref(tensor)


def follow_retained(tensor: Tensor, old: Edge | None) -> None:
    """After an in-place write: a retained gradient belongs to the new values."""
    if not tensor._retains_grad:
        return
    if old is not None and old[0].retained is not None:
        old[0].retained.pop(old[1], None)
    tensor._retains_grad = False
    retain_grad(tensor)
