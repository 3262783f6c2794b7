"""Runs a program on any device with NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from raxis.backends import registry
from raxis.backends.api import Backend
from raxis.device import Device
from raxis.dtypes import Category
from raxis.layout import contiguous_strides
from raxis.ptir.program import Parameter, Program
from raxis.ptir.types import TensorType


def run(program: Program, inputs: Sequence[Any], device: Device | str = "cpu") -> list[np.ndarray]:
    """The results of `program` for one input per parameter: arrays, or Python numbers for by-value parameters.

    Raises:
        TypeError: if there are more or fewer inputs than parameters, or an input has another dtype.
        ValueError: if an input has another shape.
        BackendError: if the device cannot be used.

    Example:
        >>> import numpy as np
        >>> from raxis.ptir import parse
        >>> program = parse('''ptir 1.0
        ... program "double"(%0: f32[2]) {
        ...   %1 = add(%0, %0) : f32[2]
        ...   return %1
        ... }''')
        >>> run(program, [np.array([1, 2], np.float32)])
        [array([2., 4.], dtype=float32)]
    """
    arrays = checked_inputs(program, inputs)
    return run_on(*registry.resolve(Device(device)), program, arrays)


def checked_inputs(program: Program, inputs: Sequence[Any]) -> list[np.ndarray]:
    """The inputs as arrays of the parameters' types; raises as `run` does."""
    if len(inputs) != len(program.parameters):
        raise TypeError(
            f"program {program.name!r} has {len(program.parameters)} parameters, but got {len(inputs)} inputs."
        )
    return [_checked(program, *pair) for pair in zip(program.parameters, inputs, strict=True)]


def run_on(backend: Backend, index: int, program: Program, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a program for arrays of the parameters' types, on device `index` of a backend."""
    arguments: list[Any] = []
    for parameter, array in zip(program.parameters, inputs, strict=True):
        arguments += [array.item()] if parameter.by_value else [_uploaded(backend, index, array), 0]
    types = [value.type for value in program.results]
    buffers = [backend.allocate(_nbytes(type), index) for type in types]
    executable = backend.compile(
        program,
        [None if each.by_value else contiguous_strides(each.type.shape) for each in program.parameters],
        [contiguous_strides(type.shape) for type in types],
    )
    executable(*arguments, *(part for buffer in buffers for part in (buffer, 0)))
    backend.synchronize(index)
    return [_downloaded(backend, buffer, type) for buffer, type in zip(buffers, types, strict=True)]


def random_inputs(program: Program, seed: int) -> list[np.ndarray]:
    """An input for every parameter: normal floats, integers and booleans that are 0 or 1."""
    generator = np.random.default_rng(seed)
    return [_random(parameter.type, generator) for parameter in program.parameters]


def _random(type: TensorType, generator: np.random.Generator) -> np.ndarray:
    if type.dtype.category < Category.FLOAT:
        return np.asarray(generator.integers(0, 2, type.shape)).astype(type.dtype.numpy)
    numbers = generator.standard_normal(type.shape)
    if type.dtype.is_complex:
        numbers = numbers + 1j * generator.standard_normal(type.shape)
    return np.asarray(numbers).astype(type.dtype.numpy)


def _checked(program: Program, parameter: Parameter, value: Any) -> np.ndarray:
    """The input as an array of the parameter's type; Python numbers are converted."""
    type, number = parameter.type, isinstance(value, bool | int | float | complex)
    array = np.asarray(value, type.dtype.numpy if number else None)
    if array.dtype != type.dtype.numpy:
        raise TypeError(
            f"parameter {parameter} of program {program.name!r} is {type}, but its input has dtype {array.dtype}; "
            "convert it with astype."
        )
    if array.shape != type.shape:
        raise ValueError(
            f"parameter {parameter} of program {program.name!r} is {type}, but its input has shape {array.shape}."
        )
    return array


def _nbytes(type: TensorType) -> int:
    return type.size * type.dtype.itemsize


def _uploaded(backend: Backend, index: int, array: np.ndarray) -> Any:
    buffer = backend.allocate(array.nbytes, index)
    backend.copy_from_host(np.ascontiguousarray(array).reshape(-1).view(np.uint8), buffer, 0)
    return buffer


def _downloaded(backend: Backend, buffer: Any, type: TensorType) -> np.ndarray:
    found = np.empty(type.shape, type.dtype.numpy)
    backend.copy_to_host(buffer, 0, found.reshape(-1).view(np.uint8))
    return found
