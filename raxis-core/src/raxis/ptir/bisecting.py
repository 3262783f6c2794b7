"""Finds the instruction of a program that a backend computes otherwise than the reference does.

1. The backend computes every value as a result, and the reference each of them from the backend's own operands: so
   differences do not add up, and the first value that differs is a candidate.
2. If none does, but the program itself differs from what the reference computes, the fault shows only where values stay
   inside: in a fused kernel, or in memory used again too soon. Then the beginning of the program is halved, with what
   is needed later as results, until one instruction makes the difference. Roundings do add up here; how far they carry
   values is seen from reference runs with inputs that are rounded otherwise.
3. The instruction is run with the reference's operands: alone, then with 1, 3, 7… instructions before it, until it
   differs. The smallest such program is the reproducer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from raxis.backends import registry
from raxis.backends.api import Backend
from raxis.backends.reference.backend import ReferenceBackend
from raxis.device import Device
from raxis.ptir.comparing import Mismatch, Tolerance, spread_of
from raxis.ptir.program import Instruction, Parameter, Program, Value
from raxis.ptir.running import checked_inputs, run_on
from raxis.ptir.text import Names, instruction_lines

SAMPLES = 6
"""Reference runs with inputs that are rounded otherwise."""


@dataclass(frozen=True, eq=False)
class Finding:
    """What `bisect` found.

    Attributes:
        device: where the program ran.
        program: the program's name.
        position: the instruction's, from 0.
        instruction: the instruction.
        text: its line in the program's text.
        operands: the types of its operands.
        mismatch: the largest difference, in the reproducer.
        expected: the reference's value of the instruction's first result.
        result: which of the instruction's results differs most.
        context: how many instructions before it the fault needs; 0 if the instruction differs alone.
        note: what else is known; empty if nothing.
        line: the user's line that it comes from, as ``file:line``; None if unknown.
        reproducer: the smallest program that differs.
        files: where that is saved, with inputs and expected results by position (``0``, ``expected_0``).
    """

    device: str
    program: str
    position: int
    instruction: Instruction
    text: str
    operands: tuple[str, ...]
    mismatch: Mismatch
    expected: np.ndarray
    result: int
    context: int
    note: str
    line: str | None
    reproducer: Program
    files: tuple[Path, Path]

    def __str__(self) -> str:
        lines = [
            f"Instruction {self.position} of program {self.program!r} differs on {self.device}: {self.text}",
            f"  operands    {', '.join(self.operands) or 'none'}",
            f"  result      {self.mismatch}" + (f" (result {self.result})" if self.result else ""),
            f"  context     {self._context()}{f'; {self.note}' if self.note else ''}",
            *([f"  line        {self.line}"] if self.line else []),
            f"  reproducer  {self.files[0]}, {self.files[1]}",
        ]
        return "\n".join(lines)

    def _context(self) -> str:
        if not self.context:
            return "differs alone, with the reference's operands"
        return f"differs only together with the {self.context} instructions before it"


def bisect(
    program: Program,
    inputs: Sequence[Any],
    device: Device | str = "cpu",
    *,
    rtol: float | None = None,
    atol: float | None = None,
    backend: Backend | None = None,
    folder: str | Path | None = None,
    lines: Mapping[Value, str] | None = None,
) -> Finding | None:
    """The first instruction whose value differs between a device and the reference backend; None if none does.

    Args:
        program: what to run.
        inputs: an array, or a number, for every parameter, as for `raxis.ptir.run`.
        device: whose backend to examine.
        rtol: relative tolerance of floats; default: `raxis.ptir.comparing.RTOL`.
        atol: absolute tolerance; default: `rtol` times the greatest magnitude among result and operands.
        backend: what to examine in place of the device's own backend, on its buffers.
        folder: where the reproducer is saved; default: a new folder among the system's temporary ones.
        lines: the user's line of values, to be shown.

    Raises:
        TypeError, ValueError: if the inputs do not fit the parameters.
        BackendError: if the device cannot be used.

    Example:
        >>> import raxis
        >>> from raxis.ptir import bisect, capture
        >>> program = capture(lambda x: x.exp().sum(), raxis.ones(3))
        >>> bisect(program, [np.ones(3, np.float32)]) is None
        True
    """
    found, index = registry.resolve(Device(device))
    fast = _Side(found if backend is None else backend, index)
    search = _Search(program, checked_inputs(program, inputs), fast, Tolerance(rtol, atol))
    position = search.position()
    if position is None:
        return None
    failure = search.smallest(position)
    return _finding(search, position, failure, str(Device(device)), folder, lines or {})


class _Side:
    """A backend that runs programs with arrays."""

    def __init__(self, backend: Backend, index: int) -> None:
        self._backend = backend
        self._index = index

    def run(self, program: Program, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return run_on(self._backend, self._index, program, inputs)


@dataclass(frozen=True)
class _Failure:
    """A part of the program that differs, with the inputs it was given."""

    part: Program
    inputs: Sequence[np.ndarray]
    expected: Sequence[np.ndarray]
    mismatch: Mismatch
    position: int
    result: int
    context: int
    note: str = ""


class _Search:
    """One program, the values that the reference gives it, and the backend in question."""

    def __init__(
        self, program: Program, inputs: Sequence[np.ndarray], fast: _Side, tolerance: Tolerance
    ) -> None:
        self.program = program
        self._fast = fast
        self._tolerance = tolerance
        self._positions = {
            value: at for at, item in enumerate(program.instructions) for value in item.results
        }
        self._seen: _Failure | None = None
        self._stand_ins: dict[Value, Parameter] = {}
        self._origins: dict[Value, Value] = {}
        self._whole = replace(program, results=tuple(self._positions))
        self.values: dict[Value, np.ndarray] = dict(zip(program.parameters, inputs, strict=True))
        self._reference = _Side(ReferenceBackend(), 0)
        self._inputs = inputs
        self.values.update(zip(self._whole.results, self._reference.run(self._whole, inputs), strict=True))

    # ---- where -------------------------------------------------------------------------------------------

    def position(self) -> int | None:
        """The first instruction that differs."""
        if not self.program.instructions:
            return None
        self._seen = self._first_of_all_values()
        if self._seen is not None:
            return self._seen.position
        outputs = tuple(dict.fromkeys(value for value in self.program.results if value in self._positions))
        if not self._differing(replace(self.program, results=outputs)):
            return None
        right, wrong = 0, len(self.program.instructions)
        while wrong - right > 1:
            middle = (right + wrong) // 2
            if self._differing(self.part(0, middle)):
                wrong = middle
            else:
                right = middle
        return wrong - 1

    def _first_of_all_values(self) -> _Failure | None:
        """The first instruction that differs where every value is a result, from what its operands are there."""
        given: dict[Value, np.ndarray] = dict(zip(self.program.parameters, self._inputs, strict=True))
        given.update(zip(self._whole.results, self._fast.run(self._whole, self._inputs), strict=True))
        apart = self._apart()
        arrays = self._reference.run(apart, [given[self._origin(each)] for each in apart.parameters])
        for value, expected in zip(apart.results, arrays, strict=True):
            maker = self.program.instructions[self._positions[value]]
            operands = [given[operand] for operand in maker.operands]
            mismatch = self._tolerance.mismatch(value.type.dtype, expected, given[value], operands)
            if mismatch is not None:
                return self._failed(self._whole, value, mismatch, len(self.program.instructions) - 1)
        return None

    def _apart(self) -> Program:
        """All instructions, each with parameters as operands."""
        stand_ins = {
            operand: self._stand_in(operand)
            for item in self.program.instructions
            for operand in item.operands
        }
        instructions = tuple(
            replace(item, operands=tuple(stand_ins[operand] for operand in item.operands))
            for item in self.program.instructions
        )
        return Program("apart", tuple(stand_ins.values()), instructions, self._whole.results)

    @cached_property
    def _spread(self) -> dict[Value, float]:
        return spreads(self._whole, self._inputs, [self.values[value] for value in self._whole.results])

    def _differing(self, part: Program) -> list[tuple[Value, Mismatch]]:
        """The results of a part of the program that are not the reference's."""
        inputs = [self.values[self._origin(parameter)] for parameter in part.parameters]
        given = self._fast.run(part, inputs)
        found = []
        for value, array in zip(part.results, given, strict=True):
            mismatch = self._mismatch(value, array, alone=len(part.instructions) == 1)
            if mismatch is not None:
                found.append((value, mismatch))
        return found

    def _mismatch(self, value: Value, given: np.ndarray, *, alone: bool) -> Mismatch | None:
        maker = self.program.instructions[self._positions[value]]
        operands = [self.values[operand] for operand in maker.operands]
        spread = 0.0 if alone else self._spread[value]
        return self._tolerance.mismatch(value.type.dtype, self.values[value], given, operands, spread)

    # ---- parts -------------------------------------------------------------------------------------------

    def part(self, start: int, stop: int) -> Program:
        """Instructions of the program with what is needed of them later as results, and parameters for the rest."""
        chosen = self.program.instructions[start:stop]
        made = {value for item in chosen for value in item.results}
        later = {operand for item in self.program.instructions[stop:] for operand in item.operands}
        later |= {*self.program.results, *chosen[-1].results}
        outside = dict.fromkeys(value for item in chosen for value in item.operands if value not in made)
        stand_ins = {value: self._stand_in(value) for value in outside}
        instructions = tuple(
            replace(item, operands=tuple(stand_ins.get(operand, operand) for operand in item.operands))
            for item in chosen
        )
        results = tuple(value for item in chosen for value in item.results if value in later)
        return Program(self.program.name, tuple(stand_ins.values()), instructions, results)

    def _origin(self, parameter: Parameter) -> Value:
        """The value of the program that a part's parameter stands for."""
        return self._origins.get(parameter, parameter)

    def _stand_in(self, value: Value) -> Parameter:
        if isinstance(value, Parameter):
            return value
        if value not in self._stand_ins:
            self._stand_ins[value] = made = Parameter(value.id, value.type)
            self._origins[made] = value
        return self._stand_ins[value]

    def smallest(self, position: int) -> _Failure:
        """The smallest part that ends with an instruction and differs."""
        width = 1
        while True:
            start = max(position + 1 - width, 0)
            part = self.part(start, position + 1)
            failure = self._failure(part, position - start)
            if failure is not None:
                return self._with_note(failure, position)
            if start == 0:
                return self._in_whole()
            width *= 2

    def _failure(self, part: Program, context: int) -> _Failure | None:
        differing = self._differing(part)
        if not differing:
            return None
        return self._failed(part, *max(differing, key=lambda item: item[1].error), context)

    def _failed(self, part: Program, value: Value, mismatch: Mismatch, context: int) -> _Failure:
        inputs = [self.values[self._origin(parameter)] for parameter in part.parameters]
        expected = [self.values[result] for result in part.results]
        position = self._positions[value]
        result = self.program.instructions[position].results.index(value)
        return _Failure(part, inputs, expected, mismatch, position, result, context)

    def _in_whole(self) -> _Failure:
        """The whole program, if no part of it that was tried differs."""
        outputs = tuple(dict.fromkeys(value for value in self.program.results if value in self._positions))
        failure = self._seen or self._failure(
            replace(self.program, results=outputs), len(self.program.instructions) - 1
        )
        if failure is None:
            raise RuntimeError(
                f"program {self.program.name!r} gave other results when it was run again with the same inputs; "
                "the backend is not deterministic."
            )
        return replace(failure, note="seen in the whole program only")

    def _with_note(self, failure: _Failure, position: int) -> _Failure:
        """For a composite that differs alone: whether its decomposition does, too."""
        item = self.program.instructions[position]
        if failure.context or item.primitive != "composite":
            return failure
        body = item.regions[0]
        inner = Program(str(item.attributes["name"]), body.parameters, body.instructions, body.results)
        given = self._fast.run(inner, [self.values[operand] for operand in item.operands])
        agrees = all(
            self._mismatch(value, array, alone=True) is None
            for value, array in zip(item.results, given, strict=True)
        )
        which = (
            "agrees, so that the fault is in the backend's kernel of the whole" if agrees else "differs, too"
        )
        return replace(failure, note=f"the decomposition of composite {inner.name!r} {which}")


def spreads(
    program: Program, inputs: Sequence[np.ndarray], expected: Sequence[np.ndarray]
) -> dict[Value, float]:
    """How far elements of every result move at most on the reference if the inputs are rounded otherwise."""
    generator = np.random.default_rng(0)
    found = dict.fromkeys(program.results, 0.0)
    for _ in range(SAMPLES):
        moved = [_rounded_otherwise(array, generator) for array in inputs]
        given = run_on(ReferenceBackend(), 0, program, moved)
        for value, right, other in zip(program.results, expected, given, strict=True):
            found[value] = max(found[value], spread_of(value.type.dtype, right, other))
    return found


def _rounded_otherwise(array: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Floats moved by up to a rounding."""
    if np.issubdtype(array.dtype, np.integer) or array.dtype == np.bool_:
        return array
    finest: Any = ml_dtypes.finfo(array.dtype)  # type: ignore[no-untyped-call]
    factors = 1 + generator.uniform(-1, 1, array.shape) * float(finest.eps)
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        return (array.astype(wide) * factors).astype(array.dtype)


def _finding(
    search: _Search,
    position: int,
    failure: _Failure,
    device: str,
    folder: str | Path | None,
    lines: Mapping[Value, str],
) -> Finding:
    item = search.program.instructions[position]
    return Finding(
        device=device,
        program=search.program.name,
        position=position,
        instruction=item,
        text=_text(search.program, position),
        operands=tuple(str(operand.type) for operand in item.operands),
        mismatch=failure.mismatch,
        expected=search.values[item.results[0]],
        result=failure.result,
        context=failure.context,
        note=failure.note,
        line=next((lines[value] for value in item.results if value in lines), None),
        reproducer=failure.part,
        files=_save(failure, folder),
    )


def _text(program: Program, position: int) -> str:
    """The first line of an instruction, with values called as in the program's text."""
    names = Names()
    for value in (*program.parameters, *(value for item in program.instructions for value in item.results)):
        names(value)
    return next(instruction_lines(program.instructions[position], names))


def _save(failure: _Failure, folder: str | Path | None) -> tuple[Path, Path]:
    target = Path(tempfile.mkdtemp(prefix="raxis-bisect-") if folder is None else folder)
    target.mkdir(parents=True, exist_ok=True)
    files = target / "reproducer.ptir", target / "reproducer.npz"
    failure.part.save(files[0])
    arrays: dict[str, Any] = {str(at): array for at, array in enumerate(failure.inputs)}
    arrays |= {f"expected_{at}": array for at, array in enumerate(failure.expected)}
    np.savez(files[1], **arrays)
    return files
