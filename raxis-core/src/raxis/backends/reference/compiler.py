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
from dataclasses import replace
from typing import Any

import numpy as np

from raxis.backends.api import Executable, Strides
from raxis.backends.reference import control, shaping
from raxis.backends.reference.casting import Kernel
from raxis.backends.reference.kernels import KERNELS, may_warn
from raxis.backends.reference.source import Call, Source
from raxis.backends.reference.views import View, scalar_view, strided_view
from raxis.dtypes import HALF, Category, from_numpy_dtype
from raxis.ptir.primitives import PRIMITIVES
from raxis.ptir.program import Instruction, Program, Region, Value

_MAY_SHARE_MEMORY = frozenset({*shaping.VIEWS, *control.KERNELS, "real", "imag"})
"""Primitives whose results may be views of their operands."""

_FOLDED = frozenset({*shaping.VIEWS, "constant", "iota"})
"""Primitives that are computed at compile time when their operands are constants: they need little memory."""


def compile_program(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable:
    """The executable of `program` for operands and results of these strides."""
    compiler = _Compiler()
    signature = compiler.declare_parameters(program, inputs)
    for instruction in program.instructions:
        compiler.run(instruction)
    signature += compiler.write_results(program.results, outputs)
    return compiler.source.executable(program.name, signature)


def _region_function(region: Region) -> control.RegionFunction:
    compiler = _Compiler()
    signature = [compiler.source.local() for _ in region.parameters]
    compiler.arrays.update(zip(region.parameters, signature, strict=True))
    for instruction in region.instructions:
        compiler.run(instruction)
    return compiler.source.region_function(signature, [compiler.array(value) for value in region.results])


class _Compiler:
    """Names for the values of one function.

    A value has an array (a local variable), or a view from which the array is made when it is needed. Values
    that repeat a by-value parameter also have `numbers`: the name of the Python number.
    """

    def __init__(self) -> None:
        self.source = Source()
        self.arrays: dict[Value, str] = {}
        self.views: dict[Value, View] = {}
        self.numbers: dict[Value, str] = {}
        self._rank_0_arrays: dict[str, str] = {}
        self._constants: dict[str, Any] = {}
        self._fresh: set[str] = set()

    def declare_parameters(self, program: Program, inputs: Sequence[Strides | None]) -> list[str]:
        """Name the parameters; returns the function's signature for them."""
        signature = []
        for parameter, strides in zip(program.parameters, inputs, strict=True):
            names = [self.source.local()]
            if parameter.by_value or strides is None:
                self.numbers[parameter] = names[0]
                self.views[parameter] = scalar_view(parameter.type, names[0])
            else:
                names.append(self.source.local())
                self.views[parameter] = strided_view(parameter.type, strides, *names)
            signature += names
        return signature

    def run(self, instruction: Instruction) -> None:
        """Append what computes the instruction's results."""
        if instruction.primitive == "composite":
            self._inline(instruction)
        elif not self._rearrange(instruction) and not self._fold(instruction):
            self._call(instruction)

    def _define(self, values: Sequence[Value], names: Sequence[str]) -> None:
        for value, name in zip(values, names, strict=True):
            self._forget(value)
            self.arrays[value] = name

    def _forget(self, value: Value) -> None:
        """Drop what a value was when the same region ran before."""
        for known in (self.arrays, self.views, self.numbers):
            known.pop(value, None)

    def _inline(self, instruction: Instruction) -> None:
        (region,) = instruction.regions
        self._alias(region.parameters, instruction.operands)
        for inner in region.instructions:
            self.run(inner)
        self._alias(instruction.results, region.results)

    def _alias(self, targets: Sequence[Value], sources: Sequence[Value]) -> None:
        for target, source in zip(targets, sources, strict=True):
            self._forget(target)
            _copy_entry(self.arrays, target, source)
            _copy_entry(self.views, target, source)
            _copy_entry(self.numbers, target, source)

    def _rearrange(self, instruction: Instruction) -> bool:
        """Handle a view of a view without any code; False if this is not one."""
        if instruction.primitive not in shaping.VIEWS:
            return False
        (operand,), (result,) = instruction.operands, instruction.results
        view, number = self.views.get(operand), self.numbers.get(operand)
        if view is None or (instruction.primitive == "reshape" and not view.is_contiguous):
            return False
        self._forget(result)
        self.views[result] = view.through(KERNELS[instruction.primitive](instruction))
        if number is not None:
            self.numbers[result] = number
        return True

    def _fold(self, instruction: Instruction) -> bool:
        """Compute a constant, or a view of one, now; False if this is neither."""
        names = [self.arrays.get(operand) for operand in instruction.operands]
        if instruction.primitive not in _FOLDED or not all(name in self._constants for name in names):
            return False
        values = KERNELS[instruction.primitive](instruction)(
            *[self._constants[name] for name in names if name]
        )
        name = self.source.bind("constant", values)
        self._constants[name] = values
        self._define(instruction.results, [name])
        return True

    def array(self, value: Value) -> str:
        """The local variable that holds the value's array."""
        if value not in self.arrays:
            view = self.views[value]
            if value in self.numbers:
                self.arrays[value] = self._repeated(self.numbers[value], view)
            else:
                self.arrays[value] = self._construct(view, view.buffer)
        return self.arrays[value]

    def _repeated(self, number: str, view: View) -> str:
        rank_0 = self._rank_0_array(number, view.model.dtype)
        return self._construct(view, rank_0) if view.model.ndim else rank_0

    def _rank_0_array(self, number: str, dtype: np.dtype[Any]) -> str:
        if number not in self._rank_0_arrays:
            name = self._rank_0_arrays[number] = self.source.local()
            arguments = [number, self.source.bind("dtype", dtype)]
            overflows = from_numpy_dtype(dtype).category >= Category.FLOAT
            self.source.calls.append(Call((name,), self.source.bind("array", np.array), arguments, overflows))
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
        arguments = (
            self._ufunc_arguments(instruction) if is_ufunc else [self.array(x) for x in instruction.operands]
        )
        targets = tuple(self.source.local() for _ in instruction.results)
        function = self.source.bind("kernel", kernel)
        unpacks = PRIMITIVES[instruction.primitive].several_results
        self.source.calls.append(Call(targets, function, arguments, may_warn(instruction), unpacks, is_ufunc))
        self._define(instruction.results, targets)
        if instruction.primitive not in _MAY_SHARE_MEMORY:
            self._fresh.update(targets)

    def _kernel(self, instruction: Instruction) -> Kernel:
        if instruction.regions:
            regions = [_region_function(region) for region in instruction.regions]
            return control.KERNELS[instruction.primitive](instruction, regions)
        return KERNELS[instruction.primitive](instruction)

    def _ufunc_arguments(self, instruction: Instruction) -> list[str]:
        """Operands of a ufunc, which broadcasts: repeated numbers stay numbers beside a whole array."""
        operands = instruction.operands
        if all(operand in self.numbers for operand in operands):
            return [self.array(operand) for operand in operands]
        return [
            self._number(operand) if operand in self.numbers else self.array(operand) for operand in operands
        ]

    def _number(self, operand: Value) -> str:
        # NumPy takes a Python float or complex in the array's precision, except beside bfloat16, which is not
        # its own; and it checks the range of an int.
        if operand.type.dtype.category >= Category.FLOAT and operand.type.dtype not in HALF:
            return self.numbers[operand]
        return self._rank_0_array(self.numbers[operand], operand.type.dtype.numpy)

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


def _copy_entry(known: dict[Value, Any], target: Value, source: Value) -> None:
    if source in known:
        known[target] = known[source]
