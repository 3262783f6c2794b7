"""The end of a row that was reduced in parts: their results are combined, in order, whichever threads made them."""

from __future__ import annotations

from raxis_cpu.llvm.compile import Target
from raxis_cpu.llvm.frame import Frame
from raxis_cpu.llvm.layout import Layout
from raxis_cpu.llvm.plan import Scope
from raxis_cpu.llvm.values import Values


class Combiner(Values):
    """Writes ``@combine``, which is called when all parts are done."""

    def __init__(self, layout: Layout, target: Target) -> None:
        super().__init__("@combine", layout, target)

    def render(self) -> str:
        """The text of the function."""
        function, frame = self.function, Frame()
        self._compute(frame, self._nodes_in(Scope.UNIT, 0))
        accumulators = {node: self._accumulator(node, 1) for node in self._plan.reductions(0)}
        with function.loop(0, self._units()) as part:
            for node, accumulated in accumulators.items():
                accumulated.take(self._load_partial(node, part), None, None)
        for node, accumulated in accumulators.items():
            accumulated.settle()
            frame.values[node] = accumulated.result(across=False)
        self._compute(frame, self._nodes_in(Scope.UNIT, 1))
        for number, store in enumerate(self._kernel.stores):
            self._store(frame, number, store)
        function.line("ret void")
        return function.text
