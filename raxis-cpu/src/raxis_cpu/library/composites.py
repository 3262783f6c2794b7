"""Kernels of whole ops: attention in blocks, selection without a full sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.ptir.program import Instruction, Program
from raxis.ptir.types import TensorType
from raxis_cpu.library.attention import attention_kernels
from raxis_cpu.library.ordering import Keys, key_of, packed, positions
from raxis_cpu.library.routine import Array

HostView = Callable[[Any], Array]
"""A buffer as a uint8 array."""


def composites(host_view: HostView) -> Mapping[str, KernelFactory]:
    """Kernels for a backend's `composites`, by op name."""
    selections = {
        name: partial(_kernel, select=select, host_view=host_view)
        for name, select in (("topk", _topk), ("kthvalue", _kthvalue))
    }
    return {**selections, **attention_kernels(host_view)}


def _kernel(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides], select: Any, host_view: HostView
) -> Executable | None:  # fmt: skip
    """An executable over one tensor that writes values and indices; None if there is no faster way than to sort."""
    sort = next((item for item in program.instructions if item.primitive == "sort"), None)
    if sort is None or inputs[0] is None:
        return None
    operand = program.parameters[0].type
    keys = key_of(operand.dtype)
    if keys is None or operand.size == 0 or program.results[0].type.size == 0:
        return None
    run = select(program, sort, keys)
    types = [operand, *(result.type for result in program.results)]
    views = [
        _view(type, strides, host_view) for type, strides in zip(types, [inputs[0], *outputs], strict=True)
    ]

    def execute(*arguments: Any) -> None:
        run(*(view(*arguments[2 * number : 2 * number + 2]) for number, view in enumerate(views)))

    return execute


def _view(type: TensorType, strides: Strides, host_view: HostView) -> Callable[[Any, int], Array]:
    dtype = type.dtype.numpy
    steps = tuple(stride * dtype.itemsize for stride in strides)
    return lambda buffer, offset: np.ndarray(
        type.shape, dtype, host_view(buffer), offset * dtype.itemsize, steps
    )


def _topk(program: Program, sort: Instruction, keys: Keys) -> Any:
    dim, descending = sort.attributes["dim"], sort.attributes["descending"]
    count = program.results[0].type.shape[dim]

    def run(x: Array, values: Array, indices: Array) -> None:
        rows = np.moveaxis(x, dim, -1)
        numbers = packed(keys(rows), descending=descending)
        if count < rows.shape[-1]:
            numbers.partition(count - 1, axis=-1)
            numbers = numbers[..., :count]
        numbers.sort(axis=-1)
        order = positions(numbers)
        np.moveaxis(indices, dim, -1)[...] = order
        np.moveaxis(values, dim, -1)[...] = np.take_along_axis(rows, order, -1)

    return run


def _kthvalue(program: Program, sort: Instruction, keys: Keys) -> Any:
    dim = sort.attributes["dim"]
    position = next(item for item in program.instructions if item.primitive == "constant")
    place = int(np.ravel(position.attributes["value"])[0])

    def run(x: Array, values: Array, indices: Array) -> None:
        rows = np.moveaxis(x, dim, -1)
        numbers = packed(keys(rows), descending=False)
        numbers.partition(place, axis=-1)
        found = positions(numbers[..., place : place + 1])
        shape = indices.shape
        indices[...] = found.reshape(shape) if indices.ndim < x.ndim else np.moveaxis(found, -1, dim)
        chosen = np.take_along_axis(rows, found, -1)
        values[...] = chosen.reshape(shape) if values.ndim < x.ndim else np.moveaxis(chosen, -1, dim)

    return run
