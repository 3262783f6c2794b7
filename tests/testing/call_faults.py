"""Faults of calls: offsets, strides, results, threads, processes, errors."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tests.testing.loopback import Buffer, Call, Loopback
from tests.testing.planting import (
    broken_call,
    fault,
)


@broken_call("SameRandomNumbers", "behaviour/random_numbers")
class _SameRandomNumbers(Call):
    def call(self, arguments: list[Any]) -> Any:
        if self.uses("random_bits"):
            for place, strides in enumerate(self.inputs):
                if strides is None and place == len(self.inputs) - 1:
                    arguments[_position(self, place)] = 0
        super().call(arguments)


def _position(call: Call, place: int) -> int:
    return sum(1 if strides is None else 2 for strides in call.inputs[:place])


@broken_call("InputOffsetIgnored", "primitives/add*")
class _InputOffsetIgnored(Call):
    def call(self, arguments: list[Any]) -> Any:
        arguments[1] = 0
        super().call(arguments)


@broken_call("OutputOffsetIgnored", "primitives/add*")
class _OutputOffsetIgnored(Call):
    def call(self, arguments: list[Any]) -> Any:
        arguments[-1] = 0
        super().call(arguments)


class _Strided(Call):
    """Executables that see other strides."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.restride()

    def restride(self) -> None:
        raise NotImplementedError


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[dim + 1 :])) for dim in range(len(shape)))


@broken_call("InputStridesIgnored", "primitives/add*")
class _InputStridesIgnored(_Strided):
    def restride(self) -> None:
        shapes = [parameter.type.shape for parameter in self.program.parameters]
        self.inputs = [s and _dense(shape) for s, shape in zip(self.inputs, shapes, strict=True)]


@broken_call("OutputStridesIgnored", "primitives/add*")
class _OutputStridesIgnored(_Strided):
    def restride(self) -> None:
        self.outputs = [_dense(value.type.shape) for value in self.program.results]


@broken_call("RepetitionIgnored", "programs/*")
class _RepetitionIgnored(_Strided):
    def restride(self) -> None:
        self.inputs = [s and tuple(step or 1 for step in s) for s in self.inputs]


@broken_call("NumbersBakedIn", "programs/*")
class _NumbersBakedIn(Call):
    def call(self, arguments: list[Any]) -> Any:
        kept: list[Any] = self.__dict__.setdefault("kept", list(arguments))
        places = [_position(self, place) for place, strides in enumerate(self.inputs) if strides is None]
        for place in places:
            arguments[place] = kept[place]
        super().call(arguments)


@broken_call("StaleRead", "programs/*")
class _StaleRead(Call):
    """The operands of the first call serve all calls."""

    def call(self, arguments: list[Any]) -> Any:
        count = len(arguments) - 2 * len(self.outputs)
        kept: list[Any] = self.__dict__.setdefault("kept", arguments[:count])
        super().call([*kept, *arguments[count:]])


@broken_call("SecondResultLost", "programs/*")
class _SecondResultLost(Call):
    def call(self, arguments: list[Any]) -> Any:
        before = [array.copy() for array in self.results(arguments)]
        super().call(arguments)
        for array, old in zip(self.results(arguments)[1:], before[1:], strict=True):
            array[...] = old


@broken_call("ResultsBeforeParameters", "programs/in_place")
class _ResultsBeforeParameters(Call):
    """Each result is written before the next one's operands are read."""

    def call(self, arguments: list[Any]) -> Any:
        inputs, outputs = self.split(arguments)
        flat = [item.content if isinstance(item, Buffer) else item for part in inputs for item in part]
        for value, strides, (buffer, offset) in zip(self.program.results, self.outputs, outputs, strict=True):
            one = replace(self.program, results=(value,))
            self.device.interpreter.compile(one, self.inputs, [strides])(*flat, buffer.content, offset)


@broken_call("InPlaceIgnored", "programs/in_place")
class _InPlaceIgnored(Call):
    def call(self, arguments: list[Any]) -> Any:
        before = [array.copy() for array in self.results(arguments)]
        super().call(arguments)
        for array, old in list(zip(self.results(arguments), before, strict=True))[: self.in_place]:
            array[...] = old


@broken_call("OperandOverwritten", "primitives/add*")
class _OperandOverwritten(Call):
    def call(self, arguments: list[Any]) -> Any:
        super().call(arguments)
        for operand in self.operands(arguments)[:1]:
            if operand is not None and operand.size:
                operand[...] = 0


@broken_call("WritesBeyondResults", "primitives/add*")
class _WritesBeyondResults(Call):
    def call(self, arguments: list[Any]) -> Any:
        super().call(arguments)
        arguments[-2].content[-1] ^= 1


@broken_call("ReturnsSomething", "primitives/add*")
class _ReturnsSomething(Call):
    def call(self, arguments: list[Any]) -> Any:
        super().call(arguments)
        return 0


@broken_call("Crash", "primitives/reduce_max*")
class _Crash(Call):
    def call(self, arguments: list[Any]) -> Any:
        if self.uses("reduce_max"):
            raise OSError("device lost")
        super().call(arguments)


@broken_call("Nondeterministic", "primitives/reduce_sum?float32?")
class _Nondeterministic(Call):
    def call(self, arguments: list[Any]) -> Any:
        super().call(arguments)
        self.count = getattr(self.device, "count", 0) + 1
        self.device.__dict__["count"] = self.count
        for result in self.results(arguments):
            if result.dtype == np.float32 and self.uses("reduce_sum") and self.count % 2:
                result[...] = np.nextafter(result, np.float32(np.inf))


@broken_call("SharedScratch", "behaviour/*thread*")
class _SharedScratch(Call):
    """Arguments pass through a place that all threads share."""

    def call(self, arguments: list[Any]) -> Any:
        scratch = self.__dict__
        scratch["arguments"] = arguments
        time.sleep(1e-5)
        super().call(scratch["arguments"])


@broken_call("BoundsUnchecked", "programs/error_leaves_results")
class _BoundsUnchecked(Call):
    def call(self, arguments: list[Any]) -> Any:
        try:
            super().call(arguments)
        except IndexError:
            for result in self.results(arguments):
                result[...] = 0


@broken_call("HalfWrittenOnError", "programs/error_leaves_results")
class _HalfWrittenOnError(Call):
    def call(self, arguments: list[Any]) -> Any:
        try:
            super().call(arguments)
        except IndexError:
            self.results(arguments)[0][:1] = 0
            raise


@broken_call("DivisionByZeroAccepted", "programs/integer_division_by_zero")
class _DivisionByZeroAccepted(Call):
    def call(self, arguments: list[Any]) -> Any:
        try:
            super().call(arguments)
        except RuntimeError:
            self.results(arguments)[0][...] = 0


@broken_call("DiesAfterFork", "behaviour/fork")
class _DiesAfterFork(Call):
    owner = os.getpid()

    def call(self, arguments: list[Any]) -> Any:
        if os.getpid() != self.owner:
            os.kill(os.getpid(), signal.SIGKILL)
        super().call(arguments)


@fault("programs/chained")
class NoWaiting(Loopback):
    """Kernels run when `synchronize` is called; copies to the host do not wait for them."""

    def compile(self, *arguments: Any, **options: Any) -> Any:
        run = super().compile(*arguments, **options)
        return lambda *operands: self.__dict__.setdefault("queue", []).append((run, operands))

    def synchronize(self, index: int) -> None:
        for run, operands in self.__dict__.pop("queue", []):
            run(*operands)


@fault("behaviour/no_growth")
class ExecutablesKeepBuffers(Loopback):
    def memory_stats(self, index: int) -> Mapping[str, int]:
        return {"allocated_bytes.all.current": self.used}

    def compile(self, *arguments: Any, **options: Any) -> Any:
        run = super().compile(*arguments, **options)
        kept: list[Any] = self.__dict__.setdefault("kept", [])
        return lambda *operands: (kept.append(operands), run(*operands))[1]
