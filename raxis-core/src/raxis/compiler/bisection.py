"""Bisecting compiled functions: which pass, or which instruction, gives other values than the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raxis.backends.reference.backend import ReferenceBackend
from raxis.compiler.memory import Incoming, Memory, Region
from raxis.compiler.numbers import Invocation, Source
from raxis.compiler.replay import Replay, given, storage_of
from raxis.compiler.signature import Arguments
from raxis.layout import extent
from raxis.placement import get_default_device, place_of
from raxis.ptir.bisecting import Finding, bisect
from raxis.ptir.bisecting_passes import PassFinding, bisect_passes
from raxis.ptir.passes import optimise, pipeline
from raxis.ptir.passes.stages import passes_for
from raxis.ptir.running import run_on

if TYPE_CHECKING:
    from raxis.compiler.compiled import Compiled
    from raxis.compiler.linking import Linked
    from raxis.storage import Place

REFERENCE = ReferenceBackend()


class Limits(NamedTuple):
    """How far values may be apart, and where reproducers are saved."""

    rtol: float | None
    atol: float | None
    folder: str | Path | None


def bisect_compiled(
    compiled: Compiled, args: tuple[Any, ...], kwargs: Mapping[str, Any], limits: Limits
) -> Finding | PassFinding | None:
    """See `Compiled.bisect`."""
    fresh = type(compiled)(compiled.function, compiled.options)
    for _ in range(2):
        fresh(*args, **kwargs)
        if fresh.replays():
            break
    else:
        raise RuntimeError(f"bisect: {compiled.name} is no program, since {fresh.misses()[-1].kept}.")
    leaves, _ = Arguments(compiled.options.static, dynamic=False).flatten(args, dict(kwargs))
    examination = _Examination(fresh.replays()[0], Invocation(leaves, _Draws()), limits)
    compiler = compiled.options.backend or examination.place.backend
    for linked, inputs in examination.programs():
        found = examination.examine(linked, inputs, compiler)
        if found is not None:
            return found
    return None


class _Draws(dict[Any, tuple[int, int]]):
    """What each random generator would give next."""

    def __missing__(self, generator: Any) -> tuple[int, int]:
        state: tuple[int, int] = generator._reserve(0)
        return state


class _Examination:
    """One recording, and the values that its programs have now."""

    def __init__(self, replay: Replay, call: Invocation, limits: Limits) -> None:
        self._replay = replay
        self._call = call
        self._limits = limits
        self.place = self._found_place()

    def _found_place(self) -> Place:
        linked = self._replay.artifact.linked
        for item in (*linked.inputs, *linked.outputs):
            storage = storage_of(item[0], self._call) if isinstance(item[0], Memory) else None
            if storage is not None:
                return storage.place
        return place_of(get_default_device())

    def programs(self) -> Iterator[tuple[Linked, list[Any]]]:
        """The program, and that of its backward half, each with inputs."""
        forward = self._replay.artifact.linked
        inputs = self._inputs(forward, {})
        yield forward, inputs
        if self._replay.backward is not None:
            results = run_on(REFERENCE, 0, forward.program, inputs)
            made = {memory: array for (memory, _), array in zip(forward.outputs, results, strict=True)}
            backward = self._replay.backward.artifact.linked
            yield backward, self._inputs(backward, made)

    def _inputs(self, linked: Linked, made: Mapping[Memory, np.ndarray]) -> list[Any]:
        arrays = []
        for parameter, known in zip(linked.program.parameters, linked.inputs, strict=True):
            dtype, shape = parameter.type.dtype.numpy, parameter.type.shape
            if isinstance(known, Source):
                arrays.append(np.asarray(known.read(self._call)).astype(dtype))
            elif known[0] in made:
                arrays.append(np.ascontiguousarray(made[known[0]]).reshape(-1).view(dtype).reshape(shape))
            elif isinstance(known[0].source, Incoming):
                arrays.append(np.ones(shape, dtype))
            else:
                arrays.append(self._read(*known))
        return arrays

    def _read(self, memory: Memory, region: Region) -> np.ndarray:
        """What lies in memory now; ones if it is gone, as gradients may be after the call."""
        buffer, offset = given(memory, self._call)
        dtype = region.dtype.numpy
        if buffer is None:
            return np.ones(region.shape, dtype)
        flat = np.empty(extent(region.shape, region.strides), dtype)
        self.place.backend.copy_to_host(buffer, offset * dtype.itemsize, flat.view(np.uint8))
        steps = [step * dtype.itemsize for step in region.strides]
        return np.array(np.lib.stride_tricks.as_strided(flat, region.shape, steps), order="C")

    def examine(self, linked: Linked, inputs: list[Any], compiler: Any) -> Finding | PassFinding | None:
        """What is wrong with one program."""
        rtol, atol, folder = self._limits
        passes = pipeline(passes_for(self.place.device.type, compiler))
        wrong = bisect_passes(linked.program, inputs, passes, rtol=rtol, atol=atol, folder=folder)
        if wrong is not None:
            return wrong
        program = optimise(linked.program, passes=passes)
        device = self.place.device
        found = bisect(program, inputs, device, rtol=rtol, atol=atol, backend=compiler, folder=folder)
        return None if found is None else replace(found, line=_line(linked, inputs, found))


def _line(linked: Linked, inputs: list[Any], found: Finding) -> str | None:
    """The line of the first recorded value that equals the one found, which passes may compute in another way."""
    values = [value for item in linked.program.instructions for value in item.results]
    arrays = run_on(REFERENCE, 0, replace(linked.program, results=tuple(values)), inputs)
    for value, array in zip(values, arrays, strict=True):
        same = array.dtype == found.expected.dtype and array.shape == found.expected.shape
        if same and array.tobytes() == found.expected.tobytes():
            return linked.lines.get(value)
    return None
