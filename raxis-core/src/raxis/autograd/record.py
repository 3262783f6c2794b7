"""Recording: from an executed plan to a node of the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from raxis.autograd.node import Gradients, Node

if TYPE_CHECKING:
    from raxis.layout import Layout
    from raxis.ops.plan import Plan
    from raxis.tensor import Tensor


class OpNode(Node):
    """The backward of one op of the table.

    Attributes:
        plan: what was executed.
        saved: what was kept for `derive`, the instance's function from the results' gradients to the edges', which
            `raxis.autograd.recipe` writes; None once freed.
    """

    plan: Plan
    saved: list[Any] | None

    def name(self) -> str:
        words = self.plan.op.name.strip("_").split("_")
        return "".join(word[:1].upper() + word[1:] for word in words) + "Backward0"

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def apply(self, gradients: Gradients) -> Gradients:
        derive: Callable[[OpNode, Gradients], Gradients] = self.__dict__["derive"]
        return derive(self, gradients)


def record(
    plan: Plan, operands: Sequence[Tensor], arguments: Sequence[Any], results: Sequence[Tensor]
) -> OpNode:
    """Put an executed op on the tape; floating point results get their edges.

    `operands` are the tensors among `arguments`, lists flattened.
    """
    needs = tuple([operand._edge is not None for operand in operands])
    recorder = plan.recorders.get(needs)
    if recorder is None:
        from raxis.autograd.recipe import make_recorder

        recorder = plan.recorders.setdefault(needs, make_recorder(plan, operands, arguments, needs))
    node: OpNode = recorder(operands, arguments, results)
    return node


def freed(node: Node) -> RuntimeError:
    """The error of a second backward through a node whose saved tensors are gone."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        f"been freed) at {node.name()}. Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you "
        "need to access saved tensors after calling backward."
    )


def fit(gradient: Tensor, layout: Layout) -> Tensor:
    """Undo broadcasting and promotion: sum to the operand's shape, cast to its dtype."""
    own = gradient._layout
    if own.dtype.is_complex and not layout.dtype.is_complex:
        gradient = gradient.real
    if own.shape != layout.shape:
        gradient = gradient.sum_to_size(layout.shape)
    return gradient if gradient._layout.dtype is layout.dtype else gradient.to(layout.dtype)


def constant_of(layout: Layout, value: float) -> Tensor:
    """A new tensor of a layout's shape, dtype and device, filled with one number."""
    from raxis.ops.definitions.factory import filled

    return filled(layout.shape, value, layout.dtype, layout.device)
