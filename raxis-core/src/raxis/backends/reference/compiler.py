"""Compiles a program to one straight-line Python function over NumPy arrays.

For ``add`` of two float32 tensors the generated source is, but for the names::

    def kernel(b0, o0, b1, o1, r0, q0):
        v0 = ndarray(shape, dtype, b0, o0 * 4)
        v1 = ndarray(shape, dtype, b1, o1 * 4)
        w0 = ndarray(shape, dtype, r0, q0 * 4)
        try: context = pop()
        except IndexError: context = new_context()
        try: v2 = context.run(add, v0, v1, out=w0)
        finally: push(context)

Views of parameters (slices, transposes, broadcasts, ...) cost nothing: their strides are found at compile time.
Results are written last, so they may share memory with parameters, and an error leaves them untouched.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from raxis.backends.api import Executable, Strides
from raxis.backends.reference import control, shaping
from raxis.backends.reference.casting import Kernel, wrapped_integer
from raxis.backends.reference.kernels import KERNELS, may_warn
from raxis.backends.reference.source import Call, Source
from raxis.backends.reference.views import View, scalar_view, strided_view
from raxis.dtypes import HALF, Category, DType
from raxis.ptir.primitives import PRIMITIVES
from raxis.ptir.program import Instruction, Program, Region, Value

_MAY_SHARE_MEMORY = frozenset({*shaping.VIEWS, *control.KERNELS, "real", "imag"})
"""Primitives whose results may be views of their operands."""

_FOLDED = frozenset({*shaping.VIEWS, "constant", "iota"})
"""Primitives that are computed at compile time when their operands are constants."""

_HIGHEST_RANK = 64

_LARGEST_RANGE = 1 << 14
"""Elements of an iota that an executable keeps; a longer one is made at each run."""


def compile_program(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable:
    """The executable of `program` for operands and results of these strides."""
    _check_rank(program)
    compiler = _Compiler()
    signature = compiler.declare_parameters(program, inputs)
    for instruction in program.instructions:
        compiler.run(instruction)
    signature += compiler.write_results(program.results, outputs)
    return compiler.source.executable(program.name, signature)


def _check_rank(program: Program) -> None:
    """Raise RuntimeError for values that are no NumPy arrays, which have at most 64 dimensions."""
    made = [result for instruction in program.instructions for result in instruction.results]
    rank = max((value.type.rank for value in (*program.parameters, *made)), default=0)
    if rank > _HIGHEST_RANK:
        raise RuntimeError(
            f"Device 'cpu' computes with tensors of up to {_HIGHEST_RANK} dimensions, but got {rank}."
        )


def _region_function(region: Region) -> control.RegionFunction:
    compiler = _Compiler()
    signature = [compiler.source.local() for _ in region.parameters]
    compiler.define(region.parameters, signature)
    for instruction in region.instructions:
        compiler.run(instruction)
    return compiler.source.region_function(signature, [compiler.array(value) for value in region.results])


def _length(iota: Instruction) -> int:
    return iota.results[0].type.shape[iota.attributes["dim"]]


@dataclass
class _Known:
    """What is known of a value.

    Attributes:
        array: the local variable that holds it; None until it is needed, if there is a view.
        view: how to make the array from a buffer argument.
        number: the Python number that it repeats, if it comes from a by-value parameter.
        constant: its elements, if they are known already.
    """

    array: str | None = None
    view: View | None = None
    number: str | None = None
    constant: Any = None


class _Compiler:
    """Turns instructions into calls, and keeps what is known of the values of the function at hand."""

    def __init__(self) -> None:
        self.source = Source()
        self._known: dict[Value, _Known] = {}
        self._rank_0_arrays: dict[str, str] = {}
        self._fresh: set[str] = set()

    def declare_parameters(self, program: Program, inputs: Sequence[Strides | None]) -> list[str]:
        """Name the parameters; returns the function's signature for them."""
        signature = []
        for parameter, strides in zip(program.parameters, inputs, strict=True):
            names = [self.source.local()]
            if parameter.by_value or strides is None:
                self._known[parameter] = _Known(view=scalar_view(parameter.type, names[0]), number=names[0])
            else:
                names.append(self.source.local())
                self._known[parameter] = _Known(view=strided_view(parameter.type, strides, *names))
            signature += names
        return signature

    def define(self, values: Sequence[Value], arrays: Sequence[str]) -> None:
        """Let local variables hold values."""
        self._known.update((value, _Known(array)) for value, array in zip(values, arrays, strict=True))

    def run(self, instruction: Instruction) -> None:
        """Append what computes the instruction's results."""
        if instruction.primitive == "composite":
            self._inline(instruction)
        elif not self._rearrange(instruction) and not self._fold(instruction):
            self._call(instruction)

    def _inline(self, instruction: Instruction) -> None:
        (region,) = instruction.regions
        outside = self._known
        operands = [outside[operand] for operand in instruction.operands]
        self._known = dict(zip(region.parameters, operands, strict=True))
        for inner in region.instructions:
            self.run(inner)
        results = [self._known[result] for result in region.results]
        self._known = outside | dict(zip(instruction.results, results, strict=True))

    def _rearrange(self, instruction: Instruction) -> bool:
        """Handle a view of a view without any code; False if this is not one."""
        if instruction.primitive not in shaping.VIEWS:
            return False
        operand = self._known[instruction.operands[0]]
        view = operand.view
        if view is None or (instruction.primitive == "reshape" and not view.is_contiguous):
            return False
        moved = view.through(KERNELS[instruction.primitive](instruction))
        self._known[instruction.results[0]] = _Known(view=moved, number=operand.number)
        return True

    def _fold(self, instruction: Instruction) -> bool:
        """Compute a constant, or a view of one, now; False if this is neither."""
        constants = [self._known[operand].constant for operand in instruction.operands]
        if instruction.primitive not in _FOLDED or any(constant is None for constant in constants):
            return False
        if instruction.primitive == "iota" and _length(instruction) > _LARGEST_RANGE:
            return False
        values = KERNELS[instruction.primitive](instruction)(*constants)
        self._known[instruction.results[0]] = _Known(self.source.bind("constant", values), constant=values)
        return True

    def array(self, value: Value) -> str:
        """The local variable that holds the value's array."""
        known = self._known[value]
        if known.array is None:
            known.array = self._made(value, known)
        return known.array

    def _made(self, value: Value, known: _Known) -> str:
        if known.view is None:
            raise KeyError(f"value {value} has neither an array nor a view.")
        if known.number is None:
            return self._construct(known.view, known.view.buffer)
        rank_0 = self._rank_0_array(known.number, value.type.dtype)
        return self._construct(known.view, rank_0) if value.type.rank else rank_0

    def _rank_0_array(self, number: str, dtype: DType) -> str:
        if number not in self._rank_0_arrays:
            name = self._rank_0_arrays[number] = self.source.local()
            arguments = [number, self.source.bind("dtype", dtype.numpy)]
            overflows = dtype.category >= Category.FLOAT
            make = wrapped_integer if dtype.category is Category.INTEGER else np.array
            self.source.calls.append(Call((name,), self.source.bind("array", make), arguments, overflows))
        return self._rank_0_arrays[number]

    def _construct(self, view: View, buffer: str) -> str:
        shape, dtype, offset, strides = view.arguments()
        bind = self.source.bind
        arguments = [bind("shape", shape), bind("dtype", dtype), buffer, offset]
        if strides is not None:
            arguments.append(bind("strides", strides))
        name = self.source.local()
        self.source.calls.append(Call((name,), bind("ndarray", np.ndarray), arguments))
        return name

    def _call(self, instruction: Instruction) -> None:
        kernel = self._kernel(instruction)
        is_ufunc = isinstance(kernel, np.ufunc)
        operands = instruction.operands
        arguments = self._ufunc_arguments(operands) if is_ufunc else [self.array(value) for value in operands]
        targets = tuple(self.source.local() for _ in instruction.results)
        function = self.source.bind("kernel", kernel)
        unpacks = PRIMITIVES[instruction.primitive].several_results
        self.source.calls.append(
            Call(targets, function, arguments, may_warn(instruction), unpacks, takes_out=is_ufunc)
        )
        self.define(instruction.results, targets)
        if instruction.primitive not in _MAY_SHARE_MEMORY:
            self._fresh.update(targets)

    def _kernel(self, instruction: Instruction) -> Kernel:
        if instruction.regions:
            regions = [_region_function(region) for region in instruction.regions]
            return control.KERNELS[instruction.primitive](instruction, regions)
        return KERNELS[instruction.primitive](instruction)

    def _ufunc_arguments(self, operands: Sequence[Value]) -> list[str]:
        """Operands of a ufunc, which broadcasts: repeated numbers stay numbers beside a whole array."""
        numbers = [self._known[operand].number for operand in operands]
        if None not in numbers:
            return [self.array(operand) for operand in operands]
        return [
            self.array(operand) if number is None else self._beside_array(number, operand.type.dtype)
            for operand, number in zip(operands, numbers, strict=True)
        ]

    def _beside_array(self, number: str, dtype: DType) -> str:
        # NumPy takes a Python float or complex in the array's precision, except beside bfloat16, which is not
        # its own; and it checks the range of an int.
        whole = dtype.category >= Category.FLOAT and dtype not in HALF
        return number if whole else self._rank_0_array(number, dtype)

    def write_results(self, results: Sequence[Value], strides: Sequence[Strides]) -> list[str]:
        """Append the writing of all results; returns the function's signature for them."""
        arrays = [self.array(value) for value in results]
        direct = self._take_direct_call(arrays)
        if len(arrays) > 1:
            arrays = [array if array in self._fresh else self._copied(array) for array in arrays]
        signature = []
        for value, array, result_strides in zip(results, arrays, strides, strict=True):
            names = [self.source.local(), self.source.local()]
            view = strided_view(value.type, result_strides, *names)
            target = self._construct(view, view.buffer)
            if direct is None:
                write = self.source.bind("write", operator.setitem)
                self.source.calls.append(Call((), write, [target, "...", array]))
            else:
                self.source.calls.append(replace(direct, arguments=[*direct.arguments, f"out={target}"]))
            signature += names
        return signature

    def _take_direct_call(self, arrays: list[str]) -> Call | None:
        """The last call, taken off, if all it makes is the only result and it can write it in place."""
        last = self.source.calls[-1] if self.source.calls else None
        if last is None or not last.takes_out or list(last.targets) != arrays:
            return None
        return self.source.calls.pop()

    def _copied(self, array: str) -> str:
        name = self.source.local()
        self.source.calls.append(Call((name,), self.source.bind("copy", np.array), [array]))
        return name
