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
    return RemovableHandle.attach(node.own_hooks().tensors.setdefault(position, OrderedDict()), hook)


def register_accumulate_hook(tensor: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call `hook` with the leaf `tensor` each time its ``grad`` was added to."""
    node, _ = _edge(tensor, "register a hook on")
    if not isinstance(node, AccumulateGrad):
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return RemovableHandle.attach(node.own_hooks().accumulate, hook)


def retain_grad(tensor: Tensor) -> None:
    """Let a non-leaf keep its gradient in ``grad``; leaves do so anyway."""
    node, position = _edge(tensor, "call retain_grad() on")
    if node.is_accumulator or tensor._retains_grad:
        return
    tensor._retains_grad = True
    node.own_hooks().retained[position] = weakref.ref(tensor)


def follow_retained(tensor: Tensor, old: Edge | None) -> None:
    """After an in-place write: a retained gradient belongs to the new values."""
    if not tensor._retains_grad:
        return
    if old is not None and old[0].hooks is not None:
        old[0].hooks.retained.pop(old[1], None)
    tensor._retains_grad = False
    retain_grad(tensor)
