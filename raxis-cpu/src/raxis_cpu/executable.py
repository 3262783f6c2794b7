"""Executables of whole programs: loop kernels as machine code, library routines, temporaries.

A program that is one loop kernel *is* the kernel's built-in function. Otherwise a line of generated Python calls each
step in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.layout import contiguous_strides
from raxis.ops.source import compile_function
from raxis.ptir.program import Instruction, Program
from raxis.schedule import Buffer, LibraryStep, LoopStep, Schedule, Target, schedule
from raxis.schedule.arena import plan
from raxis.schedule.graph import composite_program
from raxis.schedule.schedule import Step
from raxis_cpu.control import control
from raxis_cpu.library import native, routine
from raxis_cpu.library.copies import small_copies
from raxis_cpu.llvm import Argument, build, supports
from raxis_cpu.widening import is_narrow_product, widened_product


def compile_program(
    program: Program,
    inputs: Sequence[Strides | None],
    outputs: Sequence[Strides],
    *,
    in_place: int,
    disjoint: bool = False,
    allocate: Callable[[int], Any],
    composites: Mapping[str, KernelFactory],
) -> Executable:
    """The executable of `program`."""
    kernels = CompositeKernels(composites)
    made = scheduled(program, inputs, outputs, in_place=in_place, disjoint=disjoint, kernels=kernels)
    signature = Signature(program)
    single = _single_step(made, signature)
    if single is not None:
        return single
    function = Assembler(made, signature, allocate, kernels).function(program.name)
    function.__dict__["observed"] = cache(
        partial(_observed, made, signature, allocate, kernels, program.name)
    )
    return function


def scheduled(
    program: Program,
    inputs: Sequence[Strides | None],
    outputs: Sequence[Strides],
    *,
    in_place: int,
    disjoint: bool,
    kernels: CompositeKernels,
) -> Schedule:
    """The steps of a program."""
    abilities = _Abilities(kernels)
    return schedule(program, inputs, outputs, in_place=in_place, disjoint=disjoint, target=abilities)


def _observed(
    made: Schedule,
    signature: Signature,
    allocate: Callable[[int], Any],
    kernels: CompositeKernels,
    name: str,
) -> Executable:
    """The same executable, which tells the thread's observer of each step."""
    from raxis_cpu.observed import ObservedAssembler

    return ObservedAssembler(made, signature, allocate, kernels).function(name)


class CompositeKernels:
    """The kernels of whole ops in one program: each is made once, though it is asked for when steps are chosen, too.

    Args:
        factories: what makes them, by the names of ops.
    """

    def __init__(self, factories: Mapping[str, KernelFactory]) -> None:
        self.factories = factories
        self._kernel = cache(partial(_composite_kernel, factories))

    def kernel(
        self, composite: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
    ) -> Executable | None:
        """The kernel for memory of these strides; None if there is none."""
        return self._kernel(composite, tuple(inputs), tuple(outputs))


def _composite_kernel(
    factories: Mapping[str, KernelFactory],
    composite: Program,
    inputs: tuple[Strides | None, ...],
    outputs: tuple[Strides, ...],
) -> Executable | None:
    factory = factories.get(composite.name)
    return None if factory is None else factory(composite, inputs, outputs)


class _Abilities(Target):
    """What the renderer and the library can do."""

    def __init__(self, kernels: CompositeKernels) -> None:
        self._kernels = kernels

    def renders(self, item: Instruction) -> bool:
        return not item.operands or supports(item.primitive, item.operands[-1].type.dtype)

    def claims(self, composite: Program) -> bool:
        inputs = [
            None if parameter.by_value else contiguous_strides(parameter.type.shape)
            for parameter in composite.parameters
        ]
        outputs = [contiguous_strides(result.type.shape) for result in composite.results]
        return self._kernels.kernel(composite, inputs, outputs) is not None


class Signature:
    """The arguments of the executable, by role and position."""

    def __init__(self, program: Program) -> None:
        self.names: list[str] = []
        self.keys: list[tuple[str, int]] = []
        for position, parameter in enumerate(program.parameters):
            self._add("scalar" if parameter.by_value else "parameter", position)
        for position, _ in enumerate(program.results):
            self._add("result", position)

    def _add(self, role: str, position: int) -> None:
        name = f"{role}_{position}"
        self.keys.append((role, position))
        self.names += [name] if role == "scalar" else [name, f"{name}_offset"]

    def arguments(self, step: LoopStep, buffers: Sequence[Buffer]) -> tuple[Argument, ...] | None:
        """The order in which a kernel alone takes them; None if one memory fills several slots, or a temporary one."""
        slots = {
            (buffers[number].role, buffers[number].position): slot for slot, number in enumerate(step.buffers)
        }
        if len(slots) < len(step.buffers) or not slots.keys() <= set(self.keys):
            return None
        scalars = {("scalar", position): number for number, position in enumerate(step.scalars)}
        found = []
        for key in self.keys:
            if key in slots:
                found.append(Argument("array", slots[key]))
            elif key in scalars:
                found.append(Argument("scalar", scalars[key]))
            else:
                found.append(Argument("unused", 1 if key[0] == "scalar" else 2))
        return tuple(found)


def _single_step(made: Schedule, signature: Signature) -> Executable | None:
    """The built-in that is the whole program; None if there is none."""
    if any(buffer.offset for buffer in made.buffers):
        return None
    if len(made.steps) != 1:
        return small_copies(made, signature.keys)
    (step,) = made.steps
    if isinstance(step, LibraryStep):
        buffers = [made.buffers[number] for number in (*step.operands, *step.results) if number >= 0]
        in_order = [(buffer.role, buffer.position) for buffer in buffers] == signature.keys
        return _native_routine(made, step) if in_order else None
    arguments = signature.arguments(step, made.buffers)
    if arguments is None:
        return None
    return build(step.kernel, arguments).bind(step.kernel)


def _native_routine(made: Schedule, step: LibraryStep) -> Executable | None:
    """The built-in of a library step, called as kernels are; None if it runs on NumPy arrays."""
    if any(number < 0 for number in step.operands) or step.instruction.regions:
        return None
    operands, results = (
        [made.buffers[number].strides for number in part] for part in (step.operands, step.results)
    )
    return native(step.instruction, operands, results)


def step_arguments(step: LoopStep) -> tuple[Argument, ...]:
    """The order in which the kernel of one of several steps takes them."""
    slots = [Argument("array", slot) for slot in range(len(step.buffers))]
    return (*slots, *(Argument("scalar", number) for number in range(len(step.scalars))))


class Assembler:
    """Writes the Python function that runs several steps."""

    def __init__(
        self,
        made: Schedule,
        signature: Signature,
        allocate: Callable[[int], Any],
        kernels: CompositeKernels,
    ) -> None:
        self._schedule = made
        self._arena = plan(made)
        self._kernels = kernels
        self._signature = signature
        self._allocate = allocate
        self._names: dict[str, Any] = {"_allocate": allocate, "_ndarray": np.ndarray}
        self._lines: list[str] = []
        self._arrays: dict[int, str] = {}

    def function(self, name: str) -> Executable:
        """The finished function."""
        self._allocate_temporaries()
        for step in self._schedule.steps:
            self._run(step)
        body = "".join(f"    {line}\n" for line in self._lines) or "    pass\n"
        source = f"def run({', '.join(self._signature.names)}):\n{body}"
        made: Executable = compile_function(source, "run", f"<raxis_cpu {name!a}>", self._names)
        return made

    def _run(self, step: Step) -> None:
        """Write the lines that run a step; the last of them is the call."""
        if isinstance(step, LoopStep):
            self._run_kernel(step)
        else:
            self._run_library(step)

    def _bind(self, prefix: str, thing: object) -> str:
        name = f"_{prefix}_{len(self._names)}"
        self._names[name] = thing
        return name

    def _allocate_temporaries(self) -> None:
        if self._arena.places:
            self._lines.append(f"arena = _allocate({self._arena.nbytes})")

    def _memory(self, number: int) -> tuple[str, str]:
        buffer = self._schedule.buffers[number]
        if buffer.role == "temporary":
            start = self._arena.places[buffer.position].offset // buffer.dtype.itemsize
            return "arena", str(start + buffer.offset)
        name = f"{buffer.role}_{buffer.position}"
        return name, f"{name}_offset + {buffer.offset}" if buffer.offset else f"{name}_offset"

    def _run_kernel(self, step: LoopStep) -> None:
        kernel = self._bind("kernel", build(step.kernel, step_arguments(step)).bind(step.kernel))
        passed = [part for number in step.buffers for part in self._memory(number)]
        passed += [f"scalar_{position}" for position in step.scalars]
        self._lines.append(f"{kernel}({', '.join(passed)})")

    def _run_composite(self, step: LibraryStep) -> None:
        """Call the kernel that the backend has for a whole op."""
        composite, strides = composite_program(step.instruction), self._strides(step)
        self._call(step, self._kernels.kernel(composite, *strides) or self._program(composite, *strides))

    def _strides(self, step: LibraryStep) -> tuple[list[Strides | None], list[Strides]]:
        buffers = self._schedule.buffers
        inputs = [None if number < 0 else buffers[number].strides for number in step.operands]
        return inputs, [buffers[number].strides for number in step.results]

    def _program(
        self, program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
    ) -> Executable:
        return compile_program(program, inputs, outputs, in_place=0, allocate=self._allocate, composites={})

    def _call(self, step: LibraryStep, kernel: Executable) -> None:
        """Call what takes operands and results as the executable of a program does."""
        passed: list[str] = []
        for number in (*step.operands, *step.results):
            passed += [self._host_number(number)] if number < 0 else self._memory(number)
        self._lines.append(f"{self._bind('routine', kernel)}({', '.join(passed)})")

    def _host_number(self, number: int) -> str:
        """Source of a number that a step takes by value."""
        position, added = self._schedule.numbers[~number]
        if position is None:
            return self._bind("number", added)
        return f"scalar_{position} + {added!r}" if added else f"scalar_{position}"

    def _run_library(self, step: LibraryStep) -> None:
        if step.instruction.primitive == "composite":
            self._run_composite(step)
            return
        kernel = _native_routine(self._schedule, step)
        if kernel is None and is_narrow_product(step.instruction):
            by_value = [number < 0 for number in step.operands]
            kernel = self._program(widened_product(step.instruction, by_value), *self._strides(step))
        if kernel is None:
            self._run_on_arrays(step)
        else:
            self._call(step, kernel)

    def _run_on_arrays(self, step: LibraryStep) -> None:
        operands = [
            self._number(step, place) if number < 0 else self._array(number)
            for place, number in enumerate(step.operands)
        ]
        results = [self._array(number) for number in step.results]
        buffers = self._schedule.buffers
        if step.instruction.regions:
            call = control(step.instruction, self._compiled)
        else:
            strides = [() if number < 0 else buffers[number].strides for number in step.operands]
            call = routine(step.instruction, strides, [buffers[number].strides for number in step.results])
        self._lines.append(f"{self._bind('routine', call)}({', '.join([*operands, *results])})")

    def _compiled(
        self, region: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
    ) -> Executable:
        return compile_program(
            region, inputs, outputs, in_place=0, allocate=self._allocate, composites=self._kernels.factories
        )

    def _number(self, step: LibraryStep, place: int) -> str:
        """A by-value scalar as a rank-0 array."""
        dtype = self._bind("dtype", step.instruction.operands[place].type.dtype.numpy)
        return f"{self._bind('array', np.asarray)}({self._host_number(step.operands[place])}, {dtype})"

    def _array(self, number: int) -> str:
        """The local name of a buffer as a NumPy array."""
        if number not in self._arrays:
            buffer = self._schedule.buffers[number]
            if 0 in buffer.shape:
                self._arrays[number] = self._bind("empty", np.empty(buffer.shape, buffer.dtype.numpy))
                return self._arrays[number]
            memory, offset = self._memory(number)
            itemsize = buffer.dtype.itemsize
            name = self._arrays[number] = f"array_{number}"
            shape = self._bind("shape", buffer.shape)
            dtype = self._bind("dtype", buffer.dtype.numpy)
            strides = self._bind("strides", tuple(stride * itemsize for stride in buffer.strides))
            place = "0" if offset == "0" else f"({offset}) * {itemsize}"
            self._lines.append(f"{name} = _ndarray({shape}, {dtype}, {memory}, {place}, {strides})")
        return self._arrays[number]
