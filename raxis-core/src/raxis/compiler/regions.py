"""Control flow of a recording as one instruction whose regions are traced functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.autograd.grad_mode import mode
from raxis.compiler.backend import recording_place
from raxis.compiler.memory import Memory, Region
from raxis.compiler.numbers import Source
from raxis.compiler.tracing import Traced
from raxis.layout import Strides, layout_of
from raxis.ptir.builder import Builder
from raxis.ptir.program import Program, Value
from raxis.ptir.program import Region as Body
from raxis.ptir.types import TensorType
from raxis.storage import allocate
from raxis.tensor import Tensor, wrap

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording


class Captured(NamedTuple):
    """What functions use besides their operands."""

    type: TensorType
    operand: tuple[Memory, Region] | Any

    @property
    def is_number(self) -> bool:
        """Whether it is a number of the host."""
        return not isinstance(self.operand, tuple)


class Instruction:
    """One instruction of control flow.

    Args:
        recording: notes it.
        functions: its functions; all take `carried`, then `sequences`.
        carried: operands that the regions are given whole.
        sequences: operands that they are given slices of.
    """

    def __init__(
        self,
        recording: Recording,
        functions: Sequence[Traced],
        carried: Sequence[Tensor],
        sequences: Sequence[Tensor] = (),
    ) -> None:
        self._recording = recording
        self._carried = carried
        self._sequences = sequences
        self._captured: dict[Any, Captured] = {}
        for function in functions:
            for parameter, given in zip(
                function.linked.program.parameters, function.linked.inputs, strict=True
            ):
                if isinstance(given, Source):
                    number = function.numbers[given.key]
                    self._captured[_key(given, parameter)] = Captured(parameter.type, number)
                elif given[0] not in function.stand_ins:
                    self._captured[_key(given, parameter)] = Captured(parameter.type, given)

    @property
    def carry_count(self) -> int:
        """How many operands the regions are given whole, with those that are captured."""
        return len(self._carried) + len(self._captured)

    def region(self, function: Traced, *, passes_on: bool = False) -> Body:
        """A function as region; one that `passes_on` also gives what is captured, after its first results."""
        builder = Builder()
        slices = [TensorType(item.dtype, tuple(item.shape)[1:]) for item in self._sequences]
        carried = [builder.parameter(type_of(tensor)) for tensor in self._carried]
        captured = {key: builder.parameter(known.type) for key, known in self._captured.items()}
        own = [*carried, *[builder.parameter(type) for type in slices]]
        program = function.linked.program
        operands = [
            own[function.stand_ins[given[0]]]
            if not isinstance(given, Source) and given[0] in function.stand_ins
            else captured[_key(given, parameter)]
            for parameter, given in zip(program.parameters, function.linked.inputs, strict=True)
        ]
        results = builder.inline(program, operands)
        count = len(carried)
        passed = captured.values() if passes_on else ()
        return builder.region([*results[:count], *passed, *results[count:]] if passes_on else results)

    def emit(
        self,
        primitive: str,
        regions: Sequence[Body],
        attributes: Mapping[str, object] | None = None,
        predicate: Tensor | None = None,
    ) -> list[Tensor]:
        """Note the instruction; tensors of its results, without those that pass on what is captured."""
        leading = [] if predicate is None else [predicate]
        program = self._program(primitive, regions, attributes or {}, leading)
        arguments: list[Any] = []
        strides: list[Strides | None] = []
        for operand in self._operands(leading):
            if isinstance(operand, tuple):
                arguments += [operand[0], operand[1].offset]
                strides.append(operand[1].strides)
            else:
                arguments.append(operand)
                strides.append(None)
        return self._noted(program, strides, arguments)

    def _program(
        self,
        primitive: str,
        regions: Sequence[Body],
        attributes: Mapping[str, object],
        leading: Sequence[Tensor],
    ) -> Program:
        builder = Builder(primitive)
        parameters: list[Value] = [
            builder.parameter(type_of(tensor)) for tensor in (*leading, *self._carried)
        ]
        parameters += [builder.parameter(known.type, known.is_number) for known in self._captured.values()]
        parameters += [builder.parameter(type_of(tensor)) for tensor in self._sequences]
        results = builder.emit_all(primitive, parameters, attributes, regions)
        if primitive != "cond":
            results = (*results[: len(self._carried)], *results[self.carry_count :])
        return builder.build(results)

    def _operands(self, leading: Sequence[Tensor]) -> list[Any]:
        return [
            *[self._part(tensor) for tensor in (*leading, *self._carried)],
            *[known.operand for known in self._captured.values()],
            *[self._part(tensor) for tensor in self._sequences],
        ]

    def _part(self, tensor: Tensor) -> tuple[Memory, Region]:
        self._recording.note((tensor,), tensor._layout.device)
        return self._recording.memory_of(tensor._storage.buffer), Region.of(tensor._layout, tensor._offset)

    def _noted(
        self, program: Program, strides: Sequence[Strides | None], arguments: Sequence[Any]
    ) -> list[Tensor]:
        device, real = self._recording.device, self._recording.real
        assert device is not None  # the operands were noted
        assert real is not None
        place = recording_place(real)
        layouts = [layout_of(value.type.dtype, value.type.shape, None, device) for value in program.results]
        kernel = place.backend.compile(program, strides, [layout.strides for layout in layouts])
        tensors = [wrap(allocate(layout.nbytes, place), 0, layout) for layout in layouts]
        kernel(*arguments, *[part for tensor in tensors for part in (tensor._storage.buffer, 0)])
        for tensor in tensors:
            tensor._inference = mode.inference
        return tensors


def type_of(tensor: Tensor) -> TensorType:
    """A tensor's dtype and shape in programs."""
    return TensorType(tensor._layout.dtype, tensor._layout.shape)


def _key(given: tuple[Memory, Region] | Source, parameter: Value) -> Any:
    return (given.key, parameter.type.dtype) if isinstance(given, Source) else given
