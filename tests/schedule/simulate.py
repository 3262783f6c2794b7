"""Executes schedules with NumPy, node by node: what loop kernels mean, without a renderer."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from raxis.backends.reference.kernels import KERNELS
from raxis.layout import contiguous_strides, extent
from raxis.ptir import Instruction, Program, TensorType
from raxis.schedule import LibraryStep, LoopKernel, LoopStep, Node, Schedule
from raxis.schedule.loops import REDUCTIONS
from tests.ptir.harness import execute, one_instruction


class Memory:
    """A flat array per storage; buffers of one storage share it."""

    def __init__(self, schedule: Schedule, parameters: Sequence[object]) -> None:
        self.schedule = schedule
        self.flat: dict[tuple[str, int], np.ndarray] = {}
        for buffer in schedule.buffers:
            key = (buffer.role, buffer.position)
            if key not in self.flat:
                size = max(extent(buffer.shape, buffer.strides), 1)
                self.flat[key] = np.zeros(size, buffer.dtype.numpy)
                if buffer.role == "parameter" and prod(buffer.shape):
                    self.view(buffer)[...] = parameters[buffer.position]

    def view(self, buffer) -> np.ndarray:
        """A buffer as a strided array."""
        flat = self.flat[buffer.role, buffer.position][buffer.offset :]
        steps = [stride * flat.itemsize for stride in buffer.strides]
        return np.lib.stride_tricks.as_strided(flat, buffer.shape, steps)


def simulate(schedule: Schedule, program: Program, parameters: Sequence[object]) -> list[np.ndarray]:
    """The results of a schedule."""
    memory = Memory(schedule, parameters)
    for step in schedule.steps:
        if isinstance(step, LoopStep):
            slots = [
                memory.flat[schedule.buffers[b].role, schedule.buffers[b].position][
                    schedule.buffers[b].offset :
                ]
                for b in step.buffers
            ]
            _run_kernel(step.kernel, slots, [parameters[position] for position in step.scalars])
        else:
            _run_library(step, memory, parameters)
    results = [buffer for buffer in schedule.buffers if buffer.role == "result"]
    found: dict[int, np.ndarray] = {}
    for buffer in results:
        shape = program.results[buffer.position].type.shape
        found.setdefault(buffer.position, memory.view(buffer).reshape(shape).copy())
    return [found[position] for position in sorted(found)]


def _run_library(step: LibraryStep, memory: Memory, parameters: Sequence[object]) -> None:
    operands = []
    for number, value in zip(step.operands, step.instruction.operands, strict=True):
        if number < 0:
            known = memory.schedule.numbers[~number]
            given = 0 if known.position is None else parameters[known.position]
            operands.append(np.asarray(given + known.added, value.type.dtype.numpy))
        else:
            operands.append(memory.view(memory.schedule.buffers[number]))
    for number, array in zip(step.results, _produced(step.instruction, operands), strict=True):
        memory.view(memory.schedule.buffers[number])[...] = array


def _produced(instruction: Instruction, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    if instruction.regions:
        types = [value.type for value in instruction.operands]
        attributes = dict(instruction.attributes)
        return execute(
            one_instruction(instruction.primitive, types, attributes, instruction.regions), operands
        )
    with np.errstate(all="ignore"):
        made = KERNELS[instruction.primitive](instruction)(*operands)
    return made if isinstance(made, tuple) else (made,)


def _run_kernel(kernel: LoopKernel, slots: Sequence[np.ndarray], scalars: Sequence[object]) -> None:
    sizes = tuple(axis.size for axis in kernel.axes)
    grids = np.indices(sizes) if sizes else np.zeros((0,), int)
    inner = tuple(number for number, axis in enumerate(kernel.axes) if axis.inner)
    values: list[np.ndarray] = []
    for node in kernel.nodes:
        values.append(_evaluate(node, values, sizes, grids, inner, slots, scalars))
    for store in kernel.stores:
        places = _places(store.access.strides, store.access.offset, grids, sizes)
        slots[store.access.buffer][places] = np.broadcast_to(values[store.node], sizes)


def _places(strides: Sequence[int], offset: int, grids: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    places = np.full(sizes, offset, np.int64)
    for grid, stride in zip(grids, strides, strict=True):
        places = places + grid * stride
    return places


def _evaluate(node: Node, values, sizes, grids, inner, slots, scalars) -> np.ndarray:
    dtype = node.dtype.numpy
    operands = [values[number] for number in node.inputs]
    detail = node.detail
    if node.op == "load":
        return slots[detail.buffer][_places(detail.strides, detail.offset, grids, sizes)]
    if node.op == "gather_load":
        index = np.broadcast_to(operands[0], sizes)
        if ((index < 0) | (index >= detail.size)).any():
            raise IndexError("index out of range")
        places = _places(detail.access.strides, detail.access.offset, grids, sizes) + index * detail.stride
        return slots[detail.access.buffer][places]
    if node.op == "scalar":
        return np.full(sizes, np.asarray(scalars[detail]).astype(dtype))
    if node.op == "constant":
        return np.full(sizes, detail, dtype)
    if node.op == "index":
        return grids[detail].astype(np.int64)
    if node.op == "random":
        return _random(node, operands, grids, sizes)
    types = [TensorType(_dtype(operand), operand.shape) for operand in operands]
    if node.op in REDUCTIONS:
        return _reduce(node, np.broadcast_to(operands[0], sizes), inner, sizes)
    attributes = {"dtype": node.dtype} if node.op == "cast" else {}
    program = one_instruction(node.op, types, attributes)
    with np.errstate(all="ignore"):
        return np.asarray(KERNELS[node.op](program.instructions[0])(*operands))


def _dtype(array: np.ndarray):
    from raxis.dtypes import from_numpy_dtype

    return from_numpy_dtype(array.dtype)


def _reduce(node: Node, operand: np.ndarray, inner: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    type = TensorType(_dtype(operand), operand.shape)
    if node.op in ("argmax", "argmin"):
        outer = [number for number in range(len(sizes)) if number not in inner]
        flat = operand.transpose(*outer, *inner).reshape(*(sizes[n] for n in outer), -1)
        program = one_instruction(node.op, [TensorType(type.dtype, flat.shape)], {"dim": len(outer)})
        reduced = KERNELS[node.op](program.instructions[0])(flat)
    else:
        program = one_instruction(node.op, [type], {"dims": inner})
        with np.errstate(all="ignore"):
            reduced = KERNELS[node.op](program.instructions[0])(operand)
    return np.broadcast_to(np.expand_dims(reduced, inner), sizes)


def _random(node: Node, operands, grids, sizes) -> np.ndarray:
    places = _places(node.detail.strides, node.detail.offset, grids, sizes)
    count = int(places.max()) + 1 if places.size else 0
    scalar = TensorType(_dtype(operands[0]), ())
    program = one_instruction("random_bits", [scalar, scalar], {"shape": (count,), "dtype": node.dtype})
    key, offset = (np.asarray(operand).reshape(-1)[0] for operand in operands)
    words = KERNELS["random_bits"](program.instructions[0])(np.asarray(key), np.asarray(offset))
    return np.asarray(words)[places]


def dense(program: Program) -> tuple[list[tuple[int, ...] | None], list[tuple[int, ...]]]:
    """Row-major strides of parameters and results."""
    inputs = [None if p.by_value else contiguous_strides(p.type.shape) for p in program.parameters]
    return inputs, [contiguous_strides(value.type.shape) for value in program.results]
