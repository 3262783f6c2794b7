"""Recorders: generated code that makes the node of one plan for one set of operands that require grad.

Which formulas serve, what they need kept, and where their gradients go is the same at every call, so it is
worked out once and written as straight-line Python: one function that records, one that derives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from raxis.autograd import anomaly, saved_hooks
from raxis.autograd.node import next_number
from raxis.autograd.record import OpNode, constant_of, fit, freed
from raxis.autograd.saved import save, save_result, unpack
from raxis.dtypes import Category
from raxis.ops.source import compile_function

if TYPE_CHECKING:
    from raxis.ops.plan import Plan
    from raxis.ops.table import Formula
    from raxis.tensor import Tensor

Indices = int | tuple[int | None, ...] | None
"""Which of the flattened operands an argument is: one, several (a list), or none (a number)."""


def make_recorder(
    plan: Plan, operands: Sequence[Tensor], arguments: Sequence[Any], needs: Sequence[bool]
) -> Callable[..., OpNode]:
    """The function ``(operands, arguments, results) -> node`` for calls in which these operands require grad."""
    writer = _Writer(plan, operands, arguments, needs)
    for formula in plan.op.vjp:
        if any(writer.is_needed(target) for target in formula.targets):
            writer.add(formula)
    return writer.recorder()


class _Writer:
    """Collects formulas, then writes the two functions."""

    def __init__(
        self, plan: Plan, operands: Sequence[Tensor], arguments: Sequence[Any], needs: Sequence[bool]
    ) -> None:
        self._plan = plan
        self._operands = operands
        self._needs = needs
        self._indices = _indices(plan, arguments)
        self._edges: list[int | None] = []
        self._kept: list[tuple[str, str]] = []
        self._checked: list[int] = []
        self._lines: list[str] = []
        self._names: dict[str, Any] = {
            "_constant": constant_of,
            "_fit": fit,
            "_freed": freed,
            "_unpack": unpack,
        }

    def is_needed(self, target: str) -> bool:
        """Whether a gradient of this argument is wanted."""
        found = self._indices[target]
        indices = found if isinstance(found, tuple) else (found,)
        return any(index is not None and self._needs[index] for index in indices)

    def add(self, formula: Formula) -> None:
        """Let `derive` call the formula and fit its gradients to their operands."""
        sources = ", ".join(self._source(formula, name) for name in formula.names)
        call = f"{self._bind('formula', formula.function)}({sources})"
        several = len(formula.targets) > 1 or isinstance(self._indices[formula.targets[0]], tuple)
        start = len(self._edges)
        for target in formula.targets:
            found = self._indices[target]
            self._edges.extend(found if isinstance(found, tuple) else (found,))
        gradients = [f"g{edge}" for edge in range(start, len(self._edges))]
        self._lines.append(f"{', '.join(gradients)}{',' if several else ''} = {call}")
        for edge in range(start, len(self._edges)):
            self._fit(edge)

    def _fit(self, edge: int) -> None:
        index = self._edges[edge]
        name = f"g{edge}"
        if index is None or not self._needs[index]:
            self._edges[edge] = None
            self._lines.append(f"{name} = None")
            return
        layout = self._bind("layout", self._operands[index]._layout)
        self._lines.append(
            f"if {name} is not None and {name}._layout is not {layout}: {name} = _fit({name}, {layout})"
        )

    def _bind(self, prefix: str, thing: object) -> str:
        name = f"_{prefix}{len(self._names)}"
        self._names[name] = thing
        return name

    # ---- where a formula's arguments come from -----------------------------------------------------

    def _source(self, formula: Formula, name: str) -> str:
        plan = self._plan
        if name == "grad":
            if len(plan.results) == 1:
                return "gradients[0]"
            return f"_constant({self._bind('layout', plan.results[0])}, 0) if gradients[0] is None else gradients[0]"
        if name == "grads":
            return "tuple(gradients)"
        static = self._static(formula, name)
        if static is not None:
            return self._bind("static", static[0])
        return self._result_source(name) if name in ("result", "results") else self._argument(name)

    def _static(self, formula: Formula, name: str) -> tuple[Any] | None:
        """A value known already, in a tuple; None if there is none."""
        if name == "needs":
            return (tuple(self.is_needed(target) for target in formula.targets),)
        if name == "result_layout":
            return (self._plan.results[0],)
        if name in self._plan.static:
            return (self._plan.static[name],)
        if name.endswith("_layout"):
            return (self._layouts(self._indices[name.removesuffix("_layout")]),)
        return None

    def _layouts(self, indices: Indices) -> Any:
        if isinstance(indices, tuple):
            return tuple(self._layouts(index) for index in indices)
        return None if indices is None else self._operands[indices]._layout

    def _result_source(self, name: str) -> str:
        saves = [
            f"_save_result(results[{position}], {position})" for position in range(len(self._plan.results))
        ]
        if name == "result":
            return f"_unpack({self._slot(saves[0], saves[0])}, node)"
        listed = f"[{', '.join(saves)}]"
        return f"_unpack({self._slot(listed, listed)}, node)"

    def _argument(self, name: str) -> str:
        indices = self._indices[name]
        if indices is None:
            number = f"arguments[{self._plan.op.schema.position(name)}]"
            return self._slot(number, number)
        if not isinstance(indices, tuple):
            return f"_unpack({self._slot(self._quick(indices), f'_save(o{indices})')}, node)"
        quick = ", ".join("None" if index is None else self._quick(index) for index in indices)
        careful = ", ".join("None" if index is None else f"_save(o{index})" for index in indices)
        return f"_unpack({self._slot(f'[{quick}]', f'[{careful}]')}, node)"

    def _quick(self, index: int) -> str:
        self._checked.append(index)
        return f"(o{index}, o{index}._storage.version)"

    def _slot(self, quick: str, careful: str) -> str:
        """The place in ``node.saved`` of something kept; equal things are kept once."""
        pair = (quick, careful)
        if pair not in self._kept:
            self._kept.append(pair)
        return f"saved[{self._kept.index(pair)}]"

    # ---- the functions -----------------------------------------------------------------------------

    def recorder(self) -> Callable[..., OpNode]:
        """Compile both functions; the recording one is returned."""
        names = {
            **self._names,
            "_anomaly": anomaly,
            "_new": OpNode.__new__,
            "_next": next_number,
            "_node": OpNode,
            "_plan": self._plan,
            "_results": self._plan.results,
            "_save": save,
            "_save_result": save_result,
            "_hooks": saved_hooks.stack,
        }
        names["_derive"] = self._compile("derive(node, gradients)", self._derive_lines(), names)
        recorder: Callable[..., OpNode] = self._compile(
            "record(operands, arguments, results)", self._record_lines(), names
        )
        return recorder

    def _compile(self, signature: str, lines: list[str], names: dict[str, Any]) -> Any:
        source = f"def {signature}:\n" + "".join(f"    {line}\n" for line in lines)
        name = signature[: signature.index("(")]
        return compile_function(source, name, f"<raxis {name} {self._plan.op.name}>", names)

    def _derive_lines(self) -> list[str]:
        gradients = "".join(f"g{edge}, " for edge in range(len(self._edges)))
        return [
            "saved = node.saved",
            "if saved is None: raise _freed(node)",
            *self._lines,
            f"return ({gradients})",
        ]

    def _record_lines(self) -> list[str]:
        operands = "".join(f"o{index}, " for index in range(len(self._operands)))
        edges = "".join("None, " if index is None else f"o{index}._edge, " for index in self._edges)
        quick = f"[{', '.join(pair[0] for pair in self._kept)}]"
        careful = f"[{', '.join(pair[1] for pair in self._kept)}]"
        condition = " or ".join(
            ["_hooks.hooks", *dict.fromkeys(f"o{index}._inference" for index in self._checked)]
        )
        lines = [
            f"{operands}= operands",
            "node = _new(_node)",
            "node.number = _next()",
            "node.plan = _plan",
            "node.derive = _derive",
            "node.result_layouts = _results",
            f"node.edges = ({edges})",
            f"node.saved = {f'{careful} if {condition} else {quick}' if self._checked else quick}",
            "if _anomaly.state.enabled: node.forward_line = _anomaly.user_line()",
        ]
        for position, layout in enumerate(self._plan.results):
            if layout.dtype.category >= Category.FLOAT:
                lines.append(f"results[{position}]._edge = (node, {position})")
        return [*lines, "return node"]


def _indices(plan: Plan, arguments: Sequence[Any]) -> dict[str, Indices]:
    """Which of the flattened operands each argument is."""
    found: dict[str, Indices] = {}
    count = 0
    for parameter, value in zip(plan.op.parameters, arguments, strict=True):
        indices: Indices = None
        if parameter.is_tensor and isinstance(value, (tuple, list)):
            present = [item is not None for item in value]
            indices = tuple(count + sum(present[:at]) if there else None for at, there in enumerate(present))
            count += sum(present)
        elif parameter.is_tensor and hasattr(value, "_layout"):
            indices = count
            count += 1
        found[parameter.name] = indices
    return found
