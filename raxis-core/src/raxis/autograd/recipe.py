"""Recorders: generated code that makes the node of one plan for one set of operands that require grad.

Which formulas serve, what they need kept, and where their gradients go is the same at every call, so it is
worked out once and written as straight-line Python: one function that records, one that derives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from raxis.autograd import anomaly, saved_hooks
from raxis.autograd.grad_mode import ever
from raxis.autograd.node import next_number
from raxis.autograd.record import Indices, OpNode, constant_of, fit, freed
from raxis.autograd.saved import save, save_result, unpack
from raxis.dtypes import Category
from raxis.ops.source import compile_function

if TYPE_CHECKING:
    from raxis.layout import Layout
    from raxis.ops.plan import Plan
    from raxis.ops.table import Formula


def make_recorder(
    plan: Plan, layouts: Sequence[Layout], indices: Sequence[Indices], needs: Sequence[bool]
) -> Callable[..., OpNode]:
    """The function ``(*arguments, *results) -> node`` for calls in which these operands require grad.

    Args:
        plan: what the calls execute.
        layouts: of the operands, lists flattened.
        indices: for every argument, where among them its tensors are.
        needs: which of them require grad.
    """
    writer = _Writer(plan, layouts, indices, needs)
    for formula in plan.op.vjp:
        if any(writer.is_needed(target) for target in formula.targets):
            writer.add(formula)
    return writer.recorder()


class _Writer:
    """Collects formulas, then writes the two functions."""

    def __init__(
        self, plan: Plan, layouts: Sequence[Layout], indices: Sequence[Indices], needs: Sequence[bool]
    ) -> None:
        self._plan = plan
        self._layouts = layouts
        self._needs = needs
        names = [parameter.name for parameter in plan.op.parameters]
        self._indices: dict[str, Indices] = dict(zip(names, indices, strict=True))
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
        own, made = self._layouts[index].device, self._plan.results[0].device
        if own is not made:
            gather, device = self._bind("gather", made.gathered), self._bind("device", own)
            self._lines.append(f"if {name} is not None: {name} = {gather}({name}, {device})")
        layout = self._bind("layout", self._layouts[index])
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
            return (self._layouts_of(self._indices[name.removesuffix("_layout")]),)
        return None

    def _layouts_of(self, indices: Indices) -> Any:
        if isinstance(indices, tuple):
            return tuple(self._layouts_of(index) for index in indices)
        return None if indices is None else self._layouts[indices]

    def _result_source(self, name: str) -> str:
        positions = range(len(self._plan.results))
        quick = [
            f"(r{at}._storage, r{at}._storage.version, r{at}._offset, _results[{at}], {at})"
            for at in positions
        ]
        careful = [f"_save_result(r{at}, {at})" for at in positions]
        if name == "result":
            return f"_unpack({self._slot(quick[0], careful[0])}, node)"
        return f"_unpack({self._slot(_listed(quick), _listed(careful))}, node)"

    def _argument(self, name: str) -> str:
        indices = self._indices[name]
        if indices is None:
            return self._slot(name, name)
        if not isinstance(indices, tuple):
            return self._operand(indices)
        quick = ["None" if index is None else self._quick(index) for index in indices]
        careful = ["None" if index is None else f"_save(o{index})" for index in indices]
        return f"_unpack({self._slot(_listed(quick), _listed(careful))}, node)"

    def _operand(self, index: int) -> str:
        """The local name of a saved operand; one that is a pair and was not overwritten needs no call."""
        name = f"k{index}"
        slot = self._slot(self._quick(index), f"_save(o{index})")
        restored = (
            f"{name}[0] if type({name}) is tuple and {name}[0]._storage.version == {name}[1] "
            f"else _unpack({name}, node)"
        )
        lines = [f"{name} = {slot}", f"{name} = {restored}"]
        if lines[0] not in self._lines:
            self._lines += lines
        return name

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
            "_ever": ever,
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
            f"record({', '.join(self._parameters())})", self._record_lines(), names
        )
        return recorder

    def _compile(self, signature: str, lines: list[str], names: dict[str, Any]) -> Any:
        source = f"def {signature}:\n" + "".join(f"    {line}\n" for line in lines)
        name = signature[: signature.index("(")]
        return compile_function(source, name, f"<raxis {name} {self._plan.op.name}>", names)

    def _parameters(self) -> list[str]:
        """The arguments of the op, tensors by their number among the operands, and the results."""
        arguments = [
            f"o{indices}" if isinstance(indices, int) else name for name, indices in self._indices.items()
        ]
        return [*arguments, *(f"r{position}" for position in range(len(self._plan.results)))]

    def _derive_lines(self) -> list[str]:
        gradients = "".join(f"g{edge}, " for edge in range(len(self._edges)))
        return [
            "saved = node.saved",
            "if saved is None: raise _freed(node)",
            *self._lines,
            f"return ({gradients})",
        ]

    def _record_lines(self) -> list[str]:
        lines = []
        for name, indices in self._indices.items():
            if isinstance(indices, tuple) and indices:
                lines.append("".join("_, " if at is None else f"o{at}, " for at in indices) + f"= {name}")
        edges = "".join("None, " if index is None else f"o{index}._edge, " for index in self._edges)
        lines += [
            "node = _node()",
            "node.number = _next()",
            "node.plan = _plan",
            "node.derive = _derive",
            "node.result_layouts = _results",
            f"node.edges = ({edges})",
            f"node.saved = {self._saved()}",
            "if _ever.observed and _anomaly.state.enabled: node.forward_line = _anomaly.user_line()",
        ]
        for position, layout in enumerate(self._plan.results):
            if layout.dtype.category >= Category.FLOAT:
                lines.append(f"r{position}._edge = (node, {position})")
        return [*lines, "return node"]

    def _saved(self) -> str:
        """Source of the list of what is kept."""
        quick = f"[{', '.join(pair[0] for pair in self._kept)}]"
        careful = f"[{', '.join(pair[1] for pair in self._kept)}]"
        conditions = ["(_ever.observed and _hooks.hooks)"] if quick != careful else []
        inferred = " or ".join(dict.fromkeys(f"o{index}._inference" for index in self._checked))
        if inferred:
            conditions.append(f"(_ever.inferred and ({inferred}))")
        return f"{careful} if {' or '.join(conditions)} else {quick}" if conditions else quick


def _listed(sources: Sequence[str]) -> str:
    """Source of a list."""
    return f"[{', '.join(sources)}]"
