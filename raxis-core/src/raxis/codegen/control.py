"""Branches and loops: regions are programs on the device; the host reads the conditions and says which runs next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from raxis.codegen.copies import copy_kernel
from raxis.codegen.launching import Memory, Part, Scalars, loop_part
from raxis.codegen.routine import Call
from raxis.layout import Strides, contiguous_strides
from raxis.ptir.program import Region
from raxis.ptir.types import TensorType
from raxis.schedule.graph import region_program


class _Control(Part):
    """What branches and loops have in common."""

    def __init__(self, call: Call) -> None:
        self.backend = call.backend
        self.regions = call.instruction.regions
        count = len(call.instruction.operands)
        self.operands, self.results = call.slots[:count], call.slots[count:]
        self.strides = [buffer.strides for buffer in call.buffers[:count]]
        self.result_strides = [buffer.strides for buffer in call.buffers[count:]]
        self.types = [value.type for value in call.instruction.results]

    def compiled(
        self, region: Region, inputs: Sequence[Strides], outputs: Sequence[Strides]
    ) -> Callable[[Sequence[Memory]], None]:
        """A region as a function of where its operands and results lie."""
        executable = self.backend.compile(region_program(region), inputs, outputs)
        return lambda places: executable(*(part for place in places for part in place))

    def holds(self, place: Memory) -> bool:
        """Whether a condition on the device is true."""
        found = np.empty(1, np.uint8)
        self.backend.copy_to_host(place[0], place[1], found)
        return bool(found[0])

    def room(self, types: Sequence[TensorType], index: int) -> list[Memory]:
        """New dense memory."""
        return [(self.backend.allocate(type.size * type.dtype.itemsize, index), 0) for type in types]

    def index(self, memory: Sequence[Memory]) -> int:
        """The device that everything is on."""
        return self.backend.index_of(memory[self.operands[0]][0])


class _Cond(_Control):
    """One of two regions, by the first operand."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self._branches = [
            self.compiled(region, self.strides[1:], self.result_strides) for region in self.regions
        ]

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        chosen = self._branches[0 if self.holds(memory[self.operands[0]]) else 1]
        chosen([memory[slot] for slot in (*self.operands[1:], *self.results)])


class _Loop(_Control):
    """A loop with carried values, which take turns in two sets of dense memory."""

    def __init__(self, call: Call, carries: int) -> None:
        super().__init__(call)
        self.carried = self.types[:carries]
        self.dense = [contiguous_strides(type.shape) for type in self.carried]
        self._enter = self._copies(self.strides, self.dense)
        self._leave = self._copies(self.dense, self.result_strides)

    def _copies(self, sources: Sequence[Strides], targets: Sequence[Strides]) -> list[Part]:
        triples = zip(self.carried, sources, targets, strict=False)
        return [loop_part(self.backend, copy_kernel(*triple), (0, 1)) for triple in triples]

    def enter(self, memory: Sequence[Memory]) -> list[Memory]:
        """The initial values in dense memory."""
        made = self.room(self.carried, self.index(memory))
        for copy, slot, target in zip(self._enter, self.operands, made, strict=False):
            copy([memory[slot], target], {})
        return made

    def leave(self, memory: Sequence[Memory], values: Sequence[Memory]) -> None:
        """Write the final values."""
        for copy, value, slot in zip(self._leave, values, self.results, strict=False):
            copy([value, memory[slot]], {})


class _While(_Loop):
    """Runs its second region as long as the first one gives true."""

    def __init__(self, call: Call) -> None:
        super().__init__(call, len(call.instruction.operands))
        self._condition = self.compiled(self.regions[0], self.dense, [()])
        self._body = self.compiled(self.regions[1], self.dense, self.dense)

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        current, index = self.enter(memory), self.index(memory)
        following, condition = self.room(self.carried, index), (self.backend.allocate(1, index), 0)
        while True:
            self._condition([*current, condition])
            if not self.holds(condition):
                break
            self._body([*current, *following])
            current, following = following, current
        self.leave(memory, current)


class _Scan(_Loop):
    """Runs its region for every slice of its sequences, and stacks what it gives beside the carried values."""

    def __init__(self, call: Call) -> None:
        carries = call.instruction.attributes["carry_count"]
        super().__init__(call, carries)
        self._carries = carries
        self._length = call.instruction.operands[carries].type.shape[0]
        self._taken, self._made = self.strides[carries:], self.result_strides[carries:]
        inputs = [*self.dense, *(strides[1:] for strides in self._taken)]
        outputs = [*self.dense, *(strides[1:] for strides in self._made)]
        self._body = self.compiled(self.regions[0], inputs, outputs)

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        current, following = self.enter(memory), self.room(self.carried, self.index(memory))
        for turn in range(self._length):
            taken = _slices(memory, self.operands[self._carries :], self._taken, turn)
            made = _slices(memory, self.results[self._carries :], self._made, turn)
            self._body([*current, *taken, *following, *made])
            current, following = following, current
        self.leave(memory, current)


def _slices(
    memory: Sequence[Memory], slots: Sequence[int], strides: Sequence[Strides], turn: int
) -> list[Memory]:
    """Slice `turn` of the leading dim of each."""
    pairs = zip(slots, strides, strict=True)
    return [(memory[slot][0], memory[slot][1] + turn * own[0]) for slot, own in pairs]


CONTROL: Mapping[str, Callable[[Call], Part]] = {"cond": _Cond, "while": _While, "scan": _Scan}
