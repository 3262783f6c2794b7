"""Ways to break a device; each is a class with the pattern of the cases that must notice it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.backends.api import DeviceProperties
from raxis.dtypes import DType
from raxis.ptir import Program
from raxis.ptir.program import Instruction
from tests.testing.loopback import Buffer, Call, Loopback

FAULTS: dict[str, tuple[type[Loopback], str]] = {}
"""Class and pattern by name."""

MODULES: dict[str, tuple[str, str]] = {}
"""Faults of the plugin's own module: its source and the pattern."""


def fault(pattern: str) -> Callable[[type[Loopback]], type[Loopback]]:
    def register(cls: type[Loopback]) -> type[Loopback]:
        FAULTS[cls.__name__] = (cls, pattern)
        return cls

    return register


def broken_call(name: str, pattern: str) -> Callable[[type[Call]], type[Call]]:
    """Register a device whose executables are of a broken class."""

    def register(cls: type[Call]) -> type[Call]:
        FAULTS[name] = (type(name, (Loopback,), {"call": cls}), pattern)
        return cls

    return register


def wrong_numbers(
    name: str, primitive: str, pattern: str, change: Callable[[np.ndarray, list[Any]], Any]
) -> None:
    """Register a device that changes the first result of programs with a primitive; `change` gets operands too."""

    class Changed(Call):
        def call(self, arguments: list[Any]) -> Any:
            operands = [None if array is None else array.copy() for array in self.operands(arguments)]
            super().call(arguments)
            if self.uses(primitive):
                result = self.results(arguments)[0]
                with np.errstate(all="ignore"):
                    result[...] = change(result, operands)

    broken_call(name, pattern)(Changed)


def rewriting(name: str, pattern: str, change: Callable[[Instruction], Instruction]) -> None:
    """Register a device that runs other instructions than it was given."""

    class Rewriting(Loopback):
        def compile(self, program: Program, *rest: Any, **options: Any) -> Any:
            other = tuple(map(change, program.instructions))
            return super().compile(replace(program, instructions=other), *rest, **options)

    FAULTS[name] = (Rewriting, pattern)


def renamed(old: str, new: str) -> Callable[[Instruction], Instruction]:
    return lambda item: replace(item, primitive=new) if item.primitive == old else item


def with_attribute(
    primitive: str, name: str, change: Callable[[Any], Any]
) -> Callable[[Instruction], Instruction]:
    def changed(item: Instruction) -> Instruction:
        if item.primitive != primitive:
            return item
        return replace(item, attributes={**item.attributes, name: change(item.attributes[name])})

    return changed


# ---- memory ----------------------------------------------------------------------------------------------------------


@fault("storage/*")
class LostWrite(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        super().copy_from_host(source[:-1] if source.size > 4096 else source, buffer, byte_offset)


@fault("storage/*")
class UnalignedCopy(Loopback):
    def copy_to_host(self, buffer: Any, byte_offset: int, target: np.ndarray) -> None:
        super().copy_to_host(buffer, byte_offset // 4 * 4, target)


@fault("storage/*")
class CopyIgnoresOffset(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        super().copy_from_host(source, buffer, 0)


@fault("storage/*")
class CopyOverruns(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        super().copy_from_host(source, buffer, byte_offset)
        buffer.content[byte_offset + source.size : byte_offset + source.size + 1] = 0


@fault("storage/*")
class KeepsHostMemory(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        if source.size == buffer.content.size:
            buffer.content = source
        else:
            super().copy_from_host(source, buffer, byte_offset)


@fault("storage/*")
class AllocatesTooLittle(Loopback):
    def allocate(self, nbytes: int, index: int) -> Any:
        return super().allocate(nbytes // 2 if nbytes < 1 << 40 else nbytes, index)


@fault("storage/*")
class OneBufferForAll(Loopback):
    def allocate(self, nbytes: int, index: int) -> Any:
        made = super().allocate(nbytes, index)
        kept: Any = self.__dict__.setdefault(f"kept_{nbytes}", made)
        return kept


@fault("storage/*")
class AllocatorRepeats(Loopback):
    def allocator(self, nbytes: int, index: int) -> Callable[[], Any]:
        buffer = self.allocate(nbytes, index)
        return lambda: buffer


@fault("storage/*")
class ReusesLivingMemory(Loopback):
    """A ring of eight pieces of memory."""

    def allocate(self, nbytes: int, index: int) -> Any:
        buffer = super().allocate(nbytes, index)
        ring: list[np.ndarray] = self.__dict__.setdefault(f"ring_{nbytes}", [])
        ring.append(buffer.content)
        if len(ring) > 8:
            buffer.content = ring.pop(0)
        return buffer


@fault("storage/*")
class Leak(Loopback):
    def allocate(self, nbytes: int, index: int) -> Any:
        buffer = super().allocate(nbytes, index)
        self.__dict__.setdefault("kept", []).append(buffer)
        return buffer

    def memory_stats(self, index: int) -> Mapping[str, int]:
        return {"allocated_bytes.all.current": self.used}


@fault("storage/*")
class StatisticsStandStill(Loopback):
    def memory_stats(self, index: int) -> Mapping[str, int]:
        return {"allocated_bytes.all.current": 4096}


@fault("storage/*")
class HostViewOfACopy(Loopback):
    def host_view(self, buffer: Any) -> np.ndarray:
        return np.array(buffer.content)


@fault("storage/*")
class HostViewTooShort(Loopback):
    def host_view(self, buffer: Any) -> np.ndarray:
        content: np.ndarray = buffer.content[:-1]
        return content


@fault("storage/*")
class WrapHostCopies(Loopback):
    def wrap_host(self, array: np.ndarray) -> Any:
        buffer = Buffer(array.size)
        buffer.content[:] = array
        return buffer


@fault("storage/*")
class PlainMemoryError(Loopback):
    def exhausted(self, nbytes: int) -> None:
        raise MemoryError


@fault("storage/*")
class OutOfMemoryWithoutDevice(Loopback):
    def exhausted(self, nbytes: int) -> None:
        from raxis.errors import OutOfMemoryError

        raise OutOfMemoryError(f"no room for {nbytes} bytes")


@fault("storage/*")
class Nameless(Loopback):
    def properties(self, index: int) -> DeviceProperties:
        return DeviceProperties("")


# ---- numbers ---------------------------------------------------------------------------------------------------------

wrong_numbers("SlightlyWrongExp", "exp", "primitives/exp*", lambda y, _: y * y.dtype.type(1.01))
wrong_numbers("NaNLost", "maximum", "primitives/special/maximum*", lambda y, xs: np.fmax(*xs))
wrong_numbers(
    "InfinityLost", "exp", "primitives/special/exp*", lambda y, _: np.nan_to_num(y, posinf=3e38, nan=np.nan)
)
wrong_numbers("NegativeZeroLost", "neg", "primitives/special/neg*", lambda y, _: y + 0)
wrong_numbers("LowPrecision", "add", "primitives/add?float64?", lambda y, _: np.float32(y) * 1.0000001)
wrong_numbers("NarrowIntegers", "add", "programs/scalars", lambda y, _: np.int64(np.int32(y & 0x7FFFFFFF)))
wrong_numbers("EmptySum", "reduce_sum", "primitives/reduce_sum*", lambda y, xs: y if xs[0].size else y + 1)
wrong_numbers("LastOfEquals", "argmax", "primitives/argmax*",
              lambda y, xs: y if not y.size or xs[0].ndim > 1 else xs[0].size - 1 - np.argmax(xs[0][::-1]))  # fmt: skip
wrong_numbers(
    "LargeSumWrong", "reduce_sum", "programs/large", lambda y, xs: y if xs[0].size < 2**16 else y * 0
)
wrong_numbers("ScalarTimesTwo", "broadcast", "programs/scalars", lambda y, xs: y if None not in xs else y * 2)
wrong_numbers("RankZeroForgotten", "mul", "primitives/mul*", lambda y, _: y if y.ndim else 0)
wrong_numbers("TransposedProduct", "dot_general", "primitives/dot_general*",
              lambda y, _: y.reshape(-1)[::-1].reshape(y.shape))  # fmt: skip
wrong_numbers("RoundingCast", "cast", "primitives/cast?float32?",
              lambda y, xs: np.round(xs[0]).astype(y.dtype) if y.dtype.kind == "i" else y)  # fmt: skip

rewriting("OtherPrimitive", "primitives/sub*", renamed("sub", "add"))
rewriting("ConjugateIgnored", "primitives/conj*", renamed("conj", "neg"))
rewriting("ShiftIsOther", "primitives/shift_*", renamed("shift_right", "shift_left"))
rewriting("GreaterOrEqual", "primitives/g*", renamed("gt", "ge"))
rewriting("OddDtype", "primitives/add?int16?", lambda item: replace(item, primitive="mul")
          if item.primitive == "add" and item.results[0].type.dtype is dtypes.int16 else item)  # fmt: skip
rewriting("AscendingAlways", "primitives/sort*", with_attribute("sort", "descending", lambda _: False))
rewriting("ScatterWithoutAdding", "primitives/scatter*", with_attribute("scatter", "reduce", lambda _: "set"))
rewriting("DilationIgnored", "primitives/convolution*",
          with_attribute("convolution", "dilation", lambda dilation: (1,) * len(dilation)))  # fmt: skip


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


# ---- calls -----------------------------------------------------------------------------------------------------------


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
        scratch = self.device.__dict__
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


# ---- claims ----------------------------------------------------------------------------------------------------------


def _denies(primitive: str, dtype: DType) -> Any:
    return f"{primitive} of {dtype.name} does not run on this device." if primitive == "exp" else True


@fault("primitives/exp*")
class DeniesWhatRuns(Loopback):
    supports = staticmethod(_denies)  # type: ignore[assignment]


class _Refusing(Loopback):
    text = ""

    def compile(self, program: Program, *rest: Any, **options: Any) -> Any:
        if any(item.primitive == "exp" for item in program.instructions):
            raise NotImplementedError(self.text)
        return super().compile(program, *rest, **options)


@fault("primitives/exp*")
class ClaimsWhatDoesNotRun(_Refusing):
    text = "exp does not run."


@fault("primitives/exp*")
class RefusesWithoutNames(_Refusing):
    text = "not implemented"
    supports = staticmethod(_denies)  # type: ignore[assignment]


@fault("primitives/exp*")
class DeniesWithoutReason(_Refusing):
    supports = staticmethod(lambda primitive, dtype: primitive != "exp")  # type: ignore[assignment]


@fault("primitives/exp*")
class RefusesWithTheWrongError(_Refusing):
    supports = staticmethod(_denies)  # type: ignore[assignment]

    def compile(self, program: Program, *rest: Any, **options: Any) -> Any:
        try:
            return super().compile(program, *rest, **options)
        except NotImplementedError:
            raise RuntimeError("exp of float32 does not run on RefusesWithTheWrongError.") from None


@fault("composites/softmax")
class WrongComposite(Loopback):
    """Claims a composite and computes something else."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.composites = {"softmax": self._halved}

    def _halved(self, program: Program, inputs: Any, outputs: Any) -> Any:
        run = Call(self, program, inputs, outputs, 0)

        def kernel(*arguments: Any) -> None:
            run(*arguments)
            run.results(arguments)[0][...] *= 0.5

        return kernel


@fault("programs/claimed_composites")
class UnknownComposite(Loopback):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.composites = {"layer_nrom": lambda *_: None}


# ---- the plugin's module ---------------------------------------------------------------------------------------------

GOOD = """
API = (1, 0)
def probe():
    return None
def load():
    from tests.testing.loopback import Loopback
    return Loopback({name!r})
"""

MODULES["HeavyModule"] = ("import numpy\n" + GOOD, "packaging/*")
MODULES["FutureApi"] = (GOOD.replace("(1, 0)", "(1, 99)"), "packaging/*")
MODULES["ProbeSaysFalse"] = (GOOD.replace("return None", "return False", 1), "packaging/*")
MODULES["LoadsNoBackend"] = (GOOD.replace("Loopback({name!r})", "object()"), "packaging/*")
MODULES["ChangesWarnings"] = (
    GOOD.replace("    return Loop", "    import warnings; warnings.simplefilter('ignore')\n    return Loop"),
    "packaging/*",
)
MODULES["ChangesTensor"] = (
    GOOD.replace("    return Loop", "    import raxis; raxis.Tensor.foo = 3\n    return Loop"),
    "packaging/*",
)
MODULES["ChangesDefaultDevice"] = (
    GOOD.replace("    return Loop", "    import raxis; raxis.set_default_device('meta')\n    return Loop"),
    "packaging/*",
)
MODULES["Exits"] = (
    GOOD.replace("    return Loop", "    raise SystemExit(3)\n    return Loop"),
    "packaging/*",
)


def source(name: str) -> str:
    """The plugin module of a fault."""
    if name in MODULES:
        return MODULES[name][0].replace("{name!r}", repr(device_of(name)))
    made = GOOD.replace(
        "from tests.testing.loopback import Loopback", "from tests.testing.faults import make"
    )
    return made.replace("Loopback({name!r})", f"make({name!r})")


def make(name: str) -> Loopback:
    """The device with a fault."""
    return FAULTS[name][0](device_of(name))


def device_of(name: str) -> str:
    """The device type of a fault."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def pattern_of(name: str) -> str:
    """The cases that must notice a fault."""
    return FAULTS[name][1] if name in FAULTS else MODULES[name][1]


NAMES = [*FAULTS, *MODULES]
