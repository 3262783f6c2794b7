"""Nodes of the tape.

A node knows where gradients go next (its edges) and how to compute them. Nodes are numbered in the order
they were made, so going through them by falling number is a valid backward order.
"""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any

from raxis.autograd.handle import RemovableHandle

if TYPE_CHECKING:
    from raxis.tensor import Tensor

Edge = tuple["Node", int]
"""A node and which of its results a gradient belongs to."""
Gradients = Sequence["Tensor | None"]

Hooks = OrderedDict[int, Callable[..., Any]]

next_number = count().__next__


class NodeHooks:
    """The hooks of one node.

    Attributes:
        tensors: hooks of result tensors, by result position.
        retained: result tensors whose gradient is kept, by result position.
        pre: called before the node runs.
        post: called after it.
        accumulate: called after a leaf's ``grad`` was added to.
    """

    __slots__ = ("accumulate", "post", "pre", "retained", "tensors")

    def __init__(self) -> None:
        self.tensors: dict[int, Hooks] = {}
        self.retained: dict[int, weakref.ref[Tensor]] = {}
        self.pre: Hooks = OrderedDict()
        self.post: Hooks = OrderedDict()
        self.accumulate: Hooks = OrderedDict()


class Node:
    """One step of the backward pass.

    Attributes:
        number: position in the order of creation.
        edges: where each computed gradient goes; None for arguments that need none.
        result_layouts: layouts of the forward results, by position.
        forward_line: the user's line that made the node (anomaly mode only).
    """

    is_accumulator = False
    number: int
    edges: Sequence[Edge | None] = ()
    result_layouts: Sequence[Any] = ()
    forward_line: str | None = None
    hooks: NodeHooks | None = None
    """None until the first is registered."""

    def name(self) -> str:
        """The node's name as PyTorch prints it, such as ``MulBackward0``."""
        return type(self).__name__

    def apply(self, gradients: Gradients) -> Gradients:
        """Gradients for `edges`, given those of the results (None: no gradient reached that result)."""
        raise NotImplementedError

    def release(self) -> None:
        """Free what was saved for backward."""

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The nodes gradients go to, each with the position of the result there."""
        return tuple((None, 0) if edge is None else edge for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes on this node."""
        return self.__dict__.setdefault("_metadata", {})

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node ran; a returned tuple replaces grad_inputs."""
        return RemovableHandle.attach(self.own_hooks().post, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the node runs; a returned tuple replaces grad_outputs."""
        return RemovableHandle.attach(self.own_hooks().pre, hook)

    def own_hooks(self) -> NodeHooks:
        """`hooks`, made if there are none."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


_LEAF_LOCKS = [Lock() for _ in range(64)]
"""Made once: a lock takes longer to make than the rest of a leaf's node."""


def _renew_leaf_locks() -> None:
    _LEAF_LOCKS[:] = [Lock() for _ in _LEAF_LOCKS]


if hasattr(os, "register_at_fork"):
    # A thread that does not exist in a forked child may hold one.
    os.register_at_fork(after_in_child=_renew_leaf_locks)


class AccumulateGrad(Node):
    """The end of a path: adds to the ``grad`` of a leaf."""

    is_accumulator = True

    def __init__(self, leaf: Tensor) -> None:
        self.number = next_number()
        self.result_layouts = (leaf._layout,)
        self.leaf = weakref.ref(leaf)

    @property
    def lock(self) -> Lock:
        """Held while ``grad`` is added to; a few leaves share one."""
        return _LEAF_LOCKS[self.number % len(_LEAF_LOCKS)]

    @property
    def variable(self) -> Tensor | None:
        """The leaf; None once nobody holds it."""
        return self.leaf()
