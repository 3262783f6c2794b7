"""The tape and in-place writes: which are allowed, and the edges afterwards.

Writing v = base[region] in place is recorded as base' = base with region replaced by v'. So the base's
new edge is a `RegionWrite` node whose gradients go to the old base (region zeroed) and to v'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raxis.autograd.grad_mode import mode
from raxis.autograd.hooks import follow_retained
from raxis.autograd.node import Edge, Gradients, Node, next_number
from raxis.autograd.record import record
from raxis.dtypes import Category
from raxis.layout import Layout
from raxis.tensor import Tensor, View

if TYPE_CHECKING:
    from raxis.ops.plan import Plan


def check_inplace(name: str, target: Tensor) -> None:
    """Raise if `target` cannot be written in place: RuntimeError for the tape, ValueError for read-only memory."""
    if target._storage.read_only:
        raise ValueError(
            f"{name}: the tensor shares the memory of a read-only array, which must not change. Copy it first: "
            "tensor.clone()."
        )
    if target._inference and not mode.inference:
        raise RuntimeError(
            f"{name}: Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone "
            "to get a normal tensor before doing inplace update."
        )
    if not mode.enabled:
        return
    edge = target._edge
    if edge is not None and edge[0].is_accumulator:
        raise RuntimeError(
            f"{name}: a leaf Variable that requires grad is being used in an in-place operation. Wrap the write in "
            "raxis.no_grad(), or write to a clone()."
        )
    base = target._base
    if base is None:
        return
    if base._edge is not None and base._edge[0].is_accumulator:
        raise RuntimeError(
            f"{name}: a view of a leaf Variable that requires grad is being used in an in-place operation. Wrap the "
            "write in raxis.no_grad(), or write to a view of a clone()."
        )
    if base._edge is not None and edge is None:
        raise RuntimeError(
            f"{name}: A view was created in no_grad mode and is being modified inplace with grad mode enabled. Write "
            "in no_grad mode too, or make the view with grad mode enabled."
        )
    maker = target._one_of_many if isinstance(target, View) else None
    if maker is not None and target._edge is not None:
        raise RuntimeError(
            f"{name}: Output 0 of {maker} is a view and is being modified inplace. This view is the output of a "
            "function that returns multiple views. Such functions do not allow the output views to be modified "
            "inplace. You should replace the inplace operation by an out-of-place one."
        )


def rebase(plan: Plan, arguments: Sequence[Any], target: Tensor) -> None:
    """Record an in-place op whose `target` already holds the new values."""
    if target._layout.dtype.category < Category.FLOAT:
        return
    old = target._edge
    record(plan, arguments, (target,))
    base = target._base
    if base is None:
        target._rebased += 1
        follow_retained(target, old)
        return
    written = target.__dict__["_own_edge"]
    base._edge = (RegionWrite(base, target, written), 0)
    base._rebased += 1


class RegionWrite(Node):
    """Backward of replacing a region of `base` by the values of a view."""

    def __init__(self, base: Tensor, view: Tensor, written: Edge) -> None:
        self.number = next_number()
        self.edges = [base._edge, written]
        self.result_layouts = (base._layout,)
        self._base_layout = base._layout
        self._view_layout = view._layout
        self._offset = view._offset - base._offset

    def name(self) -> str:
        return "CopySlices"

    def apply(self, gradients: Gradients) -> Gradients:
        gradient = gradients[0]
        if gradient is None:
            return [None, None]
        from raxis.ops.definitions.creation import empty_strided

        shape = self._base_layout.shape
        kept = empty_strided(shape, self._base_layout.strides, dtype=gradient.dtype, device=gradient.device)
        kept.copy_(gradient)
        region = kept.as_strided(self._view_layout.shape, self._view_layout.strides, self._offset)
        written = region.clone()
        if self.edges[0] is None:
            return [None, written]
        region.zero_()
        return [kept, written]


def edge_from_base(view: View, base: Tensor) -> Edge | None:
    """The edge of a view whose base was rewritten: as if viewed from the base anew."""
    if base._edge is None:
        return None
    return (Review(base, view), 0)


class Review(Node):
    """Backward of viewing a region of `base`."""

    def __init__(self, base: Tensor, view: View) -> None:
        self.number = next_number()
        self.edges = [base._edge]
        self.result_layouts = (view._layout,)
        self._base_layout: Layout = base._layout
        self._view_layout: Layout = view._layout
        self._offset = view._offset - base._offset

    def name(self) -> str:
        return "AsStridedBackward0"

    def apply(self, gradients: Gradients) -> Gradients:
        gradient = gradients[0]
        if gradient is None:
            return [None]
        from raxis.ops.definitions.strided_views import as_strided_gradient

        return [
            as_strided_gradient(
                gradient, self._base_layout, self._view_layout.shape, self._view_layout.strides, self._offset
            )
        ]
