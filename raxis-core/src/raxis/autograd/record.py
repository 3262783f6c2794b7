"""Recording: from an executed plan to a node of the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raxis.autograd import anomaly
from raxis.autograd.node import Edge, Gradients, Node, next_number
from raxis.autograd.saved import SavedTensor, save, unpack
from raxis.dtypes import Category
from raxis.layout import Layout

if TYPE_CHECKING:
    from raxis.ops.plan import Plan
    from raxis.ops.table import Formula
    from raxis.tensor import Tensor


@dataclass(frozen=True)
class Step:
    """One formula to run: where its arguments come from and which edges its gradients go to."""

    function: Callable[..., Any]
    sources: tuple[tuple[str, Any], ...]
    edges: tuple[int, ...]
    single: bool


@dataclass(frozen=True)
class Recipe:
    """What a node of one plan does when a given set of arguments requires grad.

    `operands` are the (argument, element or None) pairs that edges belong to; `saved` names what to keep.
    """

    steps: tuple[Step, ...]
    operands: tuple[tuple[int, int | None], ...]
    saved: tuple[tuple[str, int], ...]


class OpNode(Node):
    """The backward of one op of the table."""

    plan: Plan
    recipe: Recipe
    layouts: list[Layout | None]
    saved: list[Any] | None

    def name(self) -> str:
        words = self.plan.op.name.strip("_").split("_")
        return "".join(word.capitalize() for word in words) + "Backward0"

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def apply(self, gradients: Gradients) -> Gradients:
        if self.saved is None:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they "
                f"have already been freed) at {self.name()}. Saved intermediate values of the graph are freed when "
                "you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved tensors after calling backward."
            )
        found: list[Tensor | None] = [None] * len(self.edges)
        for step in self.recipe.steps:
            results = step.function(*[self._argument(source, gradients) for source in step.sources])
            for edge, gradient in zip(step.edges, (results,) if step.single else results, strict=True):
                layout = self.layouts[edge]
                if gradient is not None and layout is not None and self.edges[edge] is not None:
                    found[edge] = _fit(gradient, layout)
        return found

    def _argument(self, source: tuple[str, Any], gradients: Gradients) -> Any:
        kind, detail = source
        if kind == "grad":
            return gradients[0] if gradients[0] is not None else _zeros(self.result_layouts[0])
        if kind == "saved":
            assert self.saved is not None  # checked by apply
            value = self.saved[detail]
            return unpack(value, self) if isinstance(value, (SavedTensor, tuple)) else value
        if kind == "grads":
            return tuple(gradients)
        return detail


def record(plan: Plan, arguments: Sequence[Any], results: Sequence[Tensor]) -> OpNode:
    """Put an executed op on the tape; floating point results get their edges."""
    needs = tuple(_needs(plan, arguments))
    recipe = plan.recipes.get(needs)
    if recipe is None:
        recipe = plan.recipes.setdefault(needs, _recipe(plan, arguments, needs))
    node = object.__new__(OpNode)
    node.number = next_number()
    node.plan = plan
    node.recipe = recipe
    operands = [_operand(arguments, position, element) for position, element in recipe.operands]
    node.edges = [getattr(operand, "_edge", None) for operand in operands]
    node.layouts = [getattr(operand, "_layout", None) for operand in operands]
    node.result_layouts = plan.results
    node.saved = [_saved_value(node, kind, index, arguments, results) for kind, index in recipe.saved]
    if anomaly.enabled():
        node.forward_line = anomaly.user_line()
    for position, result in enumerate(results):
        if result._layout.dtype.category >= Category.FLOAT:
            result._edge = (node, position)
    return node


def _needs(plan: Plan, arguments: Sequence[Any]) -> list[tuple[int, int | None]]:
    found: list[tuple[int, int | None]] = []
    for position, value in enumerate(arguments):
        if isinstance(value, (tuple, list)):
            if plan.op.parameters[position].is_tensor:
                found += [(position, i) for i, item in enumerate(value) if item is not None and item._edge is not None]
        elif getattr(value, "_edge", None) is not None:
            found.append((position, None))
    return found


def _operand(arguments: Sequence[Any], position: int, element: int | None) -> Any:
    value = arguments[position]
    return value if element is None else value[element]


def _recipe(plan: Plan, arguments: Sequence[Any], needs: Sequence[tuple[int, int | None]]) -> Recipe:
    """Choose the formulas that serve an argument in `needs`."""
    op = plan.op
    needed = {op.parameters[position].name for position, _ in needs}
    steps: list[Step] = []
    operands: list[tuple[int, int | None]] = []
    saved: list[tuple[str, int]] = []
    for formula in op.vjp:
        if needed.isdisjoint(formula.targets):
            continue
        edges = []
        for target in formula.targets:
            position = op.schema.index(target)
            for element in _elements(arguments[position]):
                edges.append(len(operands))
                operands.append((position, element))
        sources = tuple(_source(plan, formula, name, arguments, needed, saved) for name in formula.names)
        single = len(formula.targets) == 1 and not isinstance(arguments[op.schema.index(formula.targets[0])], (tuple, list))
        steps.append(Step(formula.function, sources, tuple(edges), single))
    return Recipe(tuple(steps), tuple(operands), tuple(saved))


def _elements(value: Any) -> Sequence[int | None]:
    return range(len(value)) if isinstance(value, (tuple, list)) else (None,)


def _source(
    plan: Plan, formula: Formula, name: str, arguments: Sequence[Any], needed: set[str], saved: list[tuple[str, int]]
) -> tuple[str, Any]:
    """Where a formula's parameter comes from."""
    op = plan.op
    if name in ("grad", "grads"):
        return (name, None)
    if name == "needs":
        return ("static", tuple(target in needed for target in formula.targets))
    if name == "result_layout":
        return ("static", plan.results[0])
    if name in plan.static:
        return ("static", plan.static[name])
    if name in ("result", "results"):
        return _keep(saved, (name, 0))
    if name.endswith("_layout"):
        return ("static", _layouts(arguments[op.schema.index(name.removesuffix("_layout"))]))
    return _keep(saved, ("argument", op.schema.index(name)))


def _keep(saved: list[tuple[str, int]], item: tuple[str, int]) -> tuple[str, int]:
    if item not in saved:
        saved.append(item)
    return ("saved", saved.index(item))


def _layouts(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(_layouts(item) for item in value)
    return getattr(value, "_layout", None)


def _saved_value(node: OpNode, kind: str, index: int, arguments: Sequence[Any], results: Sequence[Tensor]) -> Any:
    if kind == "result":
        return save(results[0], node, 0)
    if kind == "results":
        return tuple(save(result, node, position) for position, result in enumerate(results))
    value = arguments[index]
    if isinstance(value, (tuple, list)):
        return tuple(save(item) if hasattr(item, "_layout") else item for item in value)
    return save(value) if hasattr(value, "_layout") else value


def _fit(gradient: Tensor, layout: Layout) -> Tensor:
    """Undo broadcasting and promotion: sum to the operand's shape, cast to its dtype."""
    own = gradient._layout
    if own is layout:
        return gradient
    if own.dtype.is_complex and not layout.dtype.is_complex:
        gradient = gradient.real
    if own.shape != layout.shape:
        gradient = gradient.sum_to_size(layout.shape)
    return gradient if own.dtype is layout.dtype else gradient.to(layout.dtype)


def _zeros(layout: Layout) -> Tensor:
    from raxis.ops.definitions.creation import zeros

    made: Tensor = zeros(layout.shape, dtype=layout.dtype, device=layout.device)
    return made


__all__ = ["Edge", "OpNode", "record"]
