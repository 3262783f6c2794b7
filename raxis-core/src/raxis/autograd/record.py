"""Recording: from an executed plan to a node of the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.autograd import anomaly
from raxis.autograd.anomaly import state as anomaly_state
from raxis.autograd.node import Gradients, Node, next_number
from raxis.autograd.saved import SavedTensor, save, save_result, unpack
from raxis.dtypes import Category
from raxis.layout import Layout

if TYPE_CHECKING:
    from raxis.ops.plan import Plan
    from raxis.ops.table import Formula
    from raxis.tensor import Tensor

GRAD, GRADS, STATIC, SAVED = range(4)
"""Where an argument of a formula comes from."""

OPERAND, OPERANDS, NUMBER, RESULT, RESULTS = range(5)
"""What a node keeps: an operand, a list of them, a run-time number, the first result, all results."""


class Step(NamedTuple):
    """One formula to run: sources of its arguments, and the edges its gradients go to."""

    function: Callable[..., Any]
    sources: tuple[tuple[int, Any], ...]
    edges: tuple[int, ...]
    single: bool


class Recipe(NamedTuple):
    """What a node of one plan does when a given set of operands requires grad.

    `edges` has the index of the operand each edge belongs to (None: a number), `layouts` its layout,
    `saved` what to keep.
    """

    steps: tuple[Step, ...]
    edges: tuple[int | None, ...]
    layouts: tuple[Layout | None, ...]
    saved: tuple[tuple[int, Any], ...]


class OpNode(Node):
    """The backward of one op of the table."""

    plan: Plan
    recipe: Recipe
    saved: list[Any] | None

    def name(self) -> str:
        words = self.plan.op.name.strip("_").split("_")
        return "".join(word[:1].upper() + word[1:] for word in words) + "Backward0"

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
        steps, edges, layouts, _ = self.recipe
        found: list[Tensor | None] = [None] * len(edges)
        for function, sources, targets, single in steps:
            results = function(*[self._argument(kind, detail, gradients) for kind, detail in sources])
            for target, gradient in zip(targets, (results,) if single else results, strict=True):
                layout = layouts[target]
                if gradient is not None and layout is not None and self.edges[target] is not None:
                    found[target] = gradient if gradient._layout is layout else fit(gradient, layout)
        return found

    def _argument(self, kind: int, detail: Any, gradients: Gradients) -> Any:
        if kind == GRAD:
            return gradients[0] if gradients[0] is not None else _zeros(self.result_layouts[0])
        if kind == SAVED:
            assert self.saved is not None  # checked by apply
            return unpack(self.saved[detail], self)
        return detail if kind == STATIC else tuple(gradients)


def record(
    plan: Plan, operands: Sequence[Tensor], arguments: Sequence[Any], results: Sequence[Tensor]
) -> OpNode:
    """Put an executed op on the tape; floating point results get their edges.

    `operands` are the tensors among `arguments`, lists flattened.
    """
    needs = tuple([operand._edge is not None for operand in operands])
    recipe = plan.recipes.get(needs)
    if recipe is None:
        recipe = plan.recipes.setdefault(needs, make_recipe(plan, operands, arguments, needs))
    node = OpNode()
    node.number = next_number()
    node.plan = plan
    node.recipe = recipe
    node.edges = [None if index is None else operands[index]._edge for index in recipe.edges]
    node.result_layouts = plan.results
    node.saved = [_kept(kind, detail, operands, arguments, results) for kind, detail in recipe.saved]
    if anomaly_state.enabled:
        node.forward_line = anomaly.user_line()
    for position, result in enumerate(results):
        if result._layout.dtype.category >= Category.FLOAT:
            result._edge = (node, position)
    return node


def _kept(
    kind: int,
    detail: Any,
    operands: Sequence[Tensor],
    arguments: Sequence[Any],
    results: Sequence[Tensor],
) -> Any:
    if kind == OPERAND:
        return save(operands[detail])
    if kind == RESULT:
        return save_result(results[0], 0)
    if kind == NUMBER:
        return arguments[detail]
    if kind == OPERANDS:
        return tuple(None if index is None else save(operands[index]) for index in detail)
    return tuple(save_result(result, position) for position, result in enumerate(results))


class _Positions:
    """Which flattened operands belong to which argument."""

    def __init__(self, plan: Plan, arguments: Sequence[Any]) -> None:
        self.schema = plan.op.schema
        self.arguments = arguments
        self.of_argument: list[Any] = []
        count = 0
        for parameter, value in zip(plan.op.parameters, arguments, strict=True):
            if not parameter.is_tensor:
                self.of_argument.append(None)
            elif isinstance(value, (tuple, list)):
                indices = []
                for item in value:
                    indices.append(None if item is None else count)
                    count += item is not None
                self.of_argument.append(tuple(indices))
            elif hasattr(value, "_layout"):
                self.of_argument.append(count)
                count += 1
            else:
                self.of_argument.append(None)

    def __getitem__(self, name: str) -> Any:
        return self.of_argument[self.schema.position(name)]


def make_recipe(
    plan: Plan, operands: Sequence[Tensor], arguments: Sequence[Any], needs: Sequence[bool]
) -> Recipe:
    """Choose the formulas that serve an operand that requires grad."""
    positions = _Positions(plan, arguments)
    needed = {
        parameter.name for parameter in plan.op.parameters if _is_needed(positions[parameter.name], needs)
    }
    steps: list[Step] = []
    edges: list[int | None] = []
    saved: list[tuple[int, Any]] = []
    for formula in plan.op.vjp:
        if needed.isdisjoint(formula.targets):
            continue
        start = len(edges)
        for target in formula.targets:
            found = positions[target]
            edges.extend(found if isinstance(found, tuple) else (found,))
        sources = tuple(
            _source(plan, formula, name, positions, needed, saved, operands) for name in formula.names
        )
        single = len(formula.targets) == 1 and not isinstance(positions[formula.targets[0]], tuple)
        steps.append(Step(formula.function, sources, tuple(range(start, len(edges))), single))
    layouts = tuple(None if index is None else operands[index]._layout for index in edges)
    return Recipe(tuple(steps), tuple(edges), layouts, tuple(saved))


def _is_needed(indices: Any, needs: Sequence[bool]) -> bool:
    if isinstance(indices, tuple):
        return any(index is not None and needs[index] for index in indices)
    return indices is not None and needs[indices]


def _source(
    plan: Plan,
    formula: Formula,
    name: str,
    positions: _Positions,
    needed: set[str],
    saved: list[tuple[int, Any]],
    operands: Sequence[Tensor],
) -> tuple[int, Any]:
    """Where a formula's parameter comes from; what must be kept is added to `saved`."""
    if name == "grad":
        return (GRAD, None)
    if name == "grads":
        return (GRADS, None)
    if name == "needs":
        return (STATIC, tuple(target in needed for target in formula.targets))
    if name == "result_layout":
        return (STATIC, plan.results[0])
    if name in plan.static:
        return (STATIC, plan.static[name])
    if name == "result":
        return _keep(saved, (RESULT, None))
    if name == "results":
        return _keep(saved, (RESULTS, None))
    if name.endswith("_layout"):
        return (STATIC, _layouts(positions[name.removesuffix("_layout")], operands))
    return _argument_source(plan, name, positions, saved)


def _argument_source(
    plan: Plan, name: str, positions: _Positions, saved: list[tuple[int, Any]]
) -> tuple[int, Any]:
    indices = positions[name]
    if isinstance(indices, tuple):
        return _keep(saved, (OPERANDS, indices))
    if indices is not None:
        return _keep(saved, (OPERAND, indices))
    return _keep(saved, (NUMBER, plan.op.schema.position(name)))


def _keep(saved: list[tuple[int, Any]], item: tuple[int, Any]) -> tuple[int, Any]:
    if item not in saved:
        saved.append(item)
    return (SAVED, saved.index(item))


def _layouts(indices: Any, operands: Sequence[Tensor]) -> Any:
    if isinstance(indices, tuple):
        return tuple(_layouts(index, operands) for index in indices)
    return None if indices is None else operands[indices]._layout


def fit(gradient: Tensor, layout: Layout) -> Tensor:
    """Undo broadcasting and promotion: sum to the operand's shape, cast to its dtype."""
    own = gradient._layout
    if own.dtype.is_complex and not layout.dtype.is_complex:
        gradient = gradient.real  # type: ignore[assignment]
    if own.shape != layout.shape:
        gradient = gradient.sum_to_size(layout.shape)
    return gradient if gradient._layout.dtype is layout.dtype else gradient.to(layout.dtype)


def _zeros(layout: Layout) -> Tensor:
    from raxis.ops.definitions.creation import zeros

    made: Tensor = zeros(layout.shape, dtype=layout.dtype, device=layout.device)
    return made


__all__ = ["OpNode", "SavedTensor", "record"]
