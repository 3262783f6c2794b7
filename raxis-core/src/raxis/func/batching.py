"""Batching: from a program for one example to the program for all of them.

Primitive by primitive: an instruction none of whose operands differs between examples stays as it is, any other goes
through the rule of its primitive (`raxis.func.rules`). Values that differ have the examples as their first dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from raxis import dtypes
from raxis.ptir.builder import Builder
from raxis.ptir.program import Instruction, Program, Region, Value
from raxis.ptir.types import TensorType


class Lane(NamedTuple):
    """A value of the batched program.

    Attributes:
        value: its first dimension are the examples if it is `batched`.
        batched: whether it differs between examples.
    """

    value: Value
    batched: bool


Rule = Callable[["Batcher", Instruction, Sequence[Lane]], Sequence[Lane]]


class Batcher:
    """Builds the batched form of one program or region.

    Args:
        builder: collects the instructions.
        size: the number of examples.
        draws: whether every example has random numbers of its own.
    """

    def __init__(self, builder: Builder, size: int, draws: bool) -> None:
        self.builder = builder
        self.size = size
        self.draws = draws
        self.counter: Value | None = None
        """The number that random counters of the program start from; regions know none."""

    def emit(self, primitive: str, *operands: Value, **attributes: object) -> Value:
        """Append an instruction with one result."""
        return self.builder.emit_all(primitive, operands, attributes)[0]

    def parameter(self, known: Value, batched: bool) -> Lane:
        """A parameter like one of the program for one example."""
        by_value = getattr(known, "by_value", False)
        type = self.widened(known.type) if batched else known.type
        return Lane(self.builder.parameter(type, by_value=by_value), batched)

    def widened(self, type: TensorType) -> TensorType:
        """The type of one value for each example."""
        return TensorType(type.dtype, (self.size, *type.shape))

    def repeated(self, lane: Lane) -> Value:
        """The lane's values with the examples as first dimension, also if they are all the same."""
        if lane.batched:
            return lane.value
        type = self.widened(lane.value.type)
        return self.emit("broadcast", lane.value, shape=type.shape, dims=tuple(range(1, type.rank)))

    def moved(self, value: Value, source: int, target: int = 0) -> Value:
        """`value` with dimension `source` at `target`."""
        order = [dim for dim in range(value.type.rank) if dim != source]
        order.insert(target, source)
        if order == sorted(order):
            return value
        return self.emit("transpose", value, permutation=tuple(order))

    def reshaped(self, value: Value, shape: Sequence[int]) -> Value:
        """`value` in another shape."""
        return value if value.type.shape == tuple(shape) else self.emit("reshape", value, shape=tuple(shape))

    def run(self, body: Program | Region, lanes: Sequence[Lane]) -> list[Lane]:
        """Append a body with `lanes` for its parameters; the lanes of its results."""
        known: dict[Value, Lane] = dict(zip(body.parameters, lanes, strict=True))
        for instruction in body.instructions:
            operands = [known[operand] for operand in instruction.operands]
            known.update(zip(instruction.results, self._step(instruction, operands), strict=True))
        return [known[result] for result in body.results]

    def _step(self, instruction: Instruction, operands: Sequence[Lane]) -> Sequence[Lane]:
        from raxis.func.rules import RULES, batched_anyway

        if not any(lane.batched for lane in operands) and not batched_anyway(self, instruction):
            return self.alone(instruction, operands)
        if self.size == 0:
            return [Lane(self._empty(result.type), True) for result in instruction.results]
        return RULES[instruction.primitive](self, instruction, operands)

    def alone(self, instruction: Instruction, operands: Sequence[Lane]) -> list[Lane]:
        """The instruction as it is."""
        values = [lane.value for lane in operands]
        made = self.builder.emit_all(
            instruction.primitive, values, instruction.attributes, instruction.regions
        )
        return [Lane(value, False) for value in made]

    def _empty(self, type: TensorType) -> Value:
        return self.builder.constant(0, type.dtype, self.widened(type).shape)

    def region(
        self, body: Region, batched: Sequence[bool], wanted: Sequence[bool] | None = None
    ) -> tuple[Region, list[bool]]:
        """A region for all examples, and which of its results differ between them.

        Args:
            body: the region for one example.
            batched: which of its parameters differ between examples.
            wanted: which results must have the examples as a dimension, in any case.
        """
        inner = Batcher(Builder(), self.size, self.draws)
        lanes = [inner.parameter(known, flag) for known, flag in zip(body.parameters, batched, strict=True)]
        results = inner.finished(inner.run(body, lanes), wanted)
        return inner.builder.region([lane.value for lane in results]), [lane.batched for lane in results]

    def finished(self, results: Sequence[Lane], wanted: Sequence[bool] | None) -> list[Lane]:
        """Results, repeated for every example where that is wanted."""
        if wanted is None:
            return list(results)
        pairs = zip(results, wanted, strict=True)
        return [Lane(self.repeated(lane), True) if force else lane for lane, force in pairs]


class Batched(NamedTuple):
    """A program for all examples, and which of its results differ between them."""

    program: Program
    differs: tuple[bool, ...]


def batch(
    program: Program, batched: Sequence[bool], size: int, draws: bool, wanted: Sequence[bool] | None = None
) -> Batched:
    """The program that does for `size` examples what `program` does for one.

    Args:
        program: for one example.
        batched: which of its parameters differ between examples; these get the examples as first dimension.
        size: the number of examples.
        draws: whether every example has random numbers of its own.
        wanted: which results must have the examples as a dimension, in any case.

    Example:
        >>> import raxis
        >>> from raxis.ptir import capture
        >>> program = capture(lambda x: x.sum(), raxis.ones(3))
        >>> print(batch(program, [True], 2, False).program)
        ptir 1.0
        program "<lambda>"(%0: f32[2,3]) {
          %1 = reduce_sum(%0) {dims=[1]} : f32[2]
          return %1
        }
        <BLANKLINE>
    """
    batcher = Batcher(Builder(program.name), size, draws)
    lanes = [batcher.parameter(known, flag) for known, flag in zip(program.parameters, batched, strict=True)]
    batcher.counter = _counter(lanes)
    results = batcher.finished(batcher.run(program, lanes), wanted)
    attributes: Mapping[str, Any] = program.attributes
    made = batcher.builder.build([lane.value for lane in results], attributes)
    return Batched(made, tuple(lane.batched for lane in results))


def _counter(lanes: Sequence[Lane]) -> Value | None:
    """The last parameter of programs that draw random numbers: where their counters start."""
    last = lanes[-1].value if lanes else None
    return last if last is not None and last.type == TensorType(dtypes.int64, ()) else None
