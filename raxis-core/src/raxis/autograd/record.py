"""Recording: from an executed plan to a node of the tape."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
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
        derive: the function of the node and its results' gradients that gives the edges' gradients, written by
            `raxis.autograd.recipe`; an attribute of the instance, so no method.
        saved: what was kept for `derive`; None once freed.
    """

    plan: Plan
    derive: Callable[[OpNode, Gradients], Gradients]
    saved: list[Any] | None

    def name(self) -> str:
        words = self.plan.op.name.strip("_").split("_")
        return "".join(word[:1].upper() + word[1:] for word in words) + "Backward0"

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def apply(self, gradients: Gradients) -> Gradients:
        return self.derive(self, gradients)


Indices = int | tuple[int | None, ...] | None
"""Which of the flattened operands an argument is: one, several (a list), or none (a number)."""


class Recorders(dict[tuple[bool, ...], Callable[..., OpNode]]):
    """The functions ``(*arguments, *results) -> node`` of one plan, by which of its operands require grad.

    Each is written when it is first asked for.

    Args:
        plan: what the calls execute.
        arguments: of one such call.

    Attributes:
        layouts: of the operands, lists flattened.
        indices: for every argument, where in `layouts` its tensors are.
    """

    __slots__ = ("indices", "layouts", "plan")

    def __init__(self, plan: Plan, arguments: Sequence[Any]) -> None:
        super().__init__()
        self.plan = plan
        self.layouts: list[Layout] = []
        pairs = zip(plan.op.parameters, arguments, strict=True)
        self.indices = [self._places(value) if parameter.is_tensor else None for parameter, value in pairs]

    def _places(self, value: Any) -> Indices:
        if isinstance(value, (tuple, list)):
            return tuple([self._place(item) for item in value])
        return self._place(value)

    def _place(self, value: Any) -> int | None:
        layout = getattr(value, "_layout", None)
        if layout is None:
            return None
        self.layouts.append(layout)
        return len(self.layouts) - 1

    def __missing__(self, needs: tuple[bool, ...]) -> Callable[..., OpNode]:
        from raxis.autograd.recipe import make_recorder

        return self.setdefault(needs, make_recorder(self.plan, self.layouts, self.indices, needs))


def record(plan: Plan, arguments: Sequence[Any], results: Sequence[Tensor]) -> None:
    """Put an executed op on the tape; floating point results get their edges."""
    recorders = plan.recorders
    if recorders is not None:
        needs = [value._edge is not None for value in _flattened(arguments) if hasattr(value, "_layout")]
        recorders[tuple(needs)](*arguments, *results)


def _flattened(arguments: Sequence[Any]) -> Iterator[Any]:
    for value in arguments:
        if isinstance(value, (tuple, list)):
            yield from value
        else:
            yield value


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
    return _filled()(layout.shape, value, layout.dtype, layout.device)


@functools.cache
def _filled() -> Callable[..., Tensor]:
    from raxis.ops.definitions.factory import filled  # late: definitions import this module

    return filled
