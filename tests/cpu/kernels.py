"""Loop kernels and routines of the library for tests, run on NumPy arrays of any strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.backends.reference.backend import ReferenceBackend
from raxis.dtypes import HALF, DType
from raxis.ptir.builder import Builder
from raxis.ptir.program import Instruction
from raxis.ptir.types import TensorType
from raxis.schedule.loops import Access, Axis, LoopKernel, Node, Store
from raxis_cpu.library import routine
from raxis_cpu.llvm import build

Array = np.ndarray[Any, Any]


def access(slot: int, array: Array, rank: int | None = None) -> Access:
    """All of an array, its axes being the first of the kernel's."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return Access(slot, strides + (0,) * ((rank or array.ndim) - array.ndim))


def elementwise(
    op: str, operands: Sequence[Array], result: Array, detail: Any = None, name: str = "kernel"
) -> LoopKernel:
    """The kernel that stores one primitive of `operands` in `result`."""
    arrays = [*operands, result]
    kinds = [dtypes.from_numpy_dtype(array.dtype) for array in arrays]
    nodes = [Node("load", (), kinds[slot], access(slot, array)) for slot, array in enumerate(operands)]
    nodes.append(Node(op, tuple(range(len(operands))), kinds[-1], detail))
    store = Store(len(operands), access(len(operands), result))
    axes = tuple(Axis(size) for size in result.shape)
    return LoopKernel(name, tuple(kinds), axes, tuple(nodes), (store,))


def address(array: Array) -> int:
    """Of the first element."""
    return int(array.__array_interface__["data"][0])


def run(kernel: LoopKernel, arrays: Sequence[Array], scalars: Sequence[Any] = ()) -> None:
    """Call the built-in of a kernel; `arrays` are its buffer slots."""
    arguments: list[Any] = []
    for array in arrays:
        arguments += [address(array), 0]
    build(kernel).bind(kernel)(*arguments, *scalars)


def reference(op: str, operands: Sequence[Array], attributes: dict[str, Any] | None = None) -> Array:
    """What the reference interpreter makes of one primitive."""
    builder = Builder("reference")
    types = [TensorType(dtypes.from_numpy_dtype(array.dtype), array.shape) for array in operands]
    value = builder.emit(op, *map(builder.parameter, types), **(attributes or {}))
    program = builder.build([value])  # type: ignore[list-item]
    result = np.empty(program.results[0].type.shape, program.results[0].type.dtype.numpy)
    contiguous = [np.array(array, order="C") for array in operands]
    strides = [element_strides(array) for array in contiguous]
    executable = ReferenceBackend().compile(program, strides, [element_strides(result)])
    arguments: list[Any] = []
    for array in (*contiguous, result):
        arguments += [array.reshape(-1).view(np.uint8), 0]
    executable(*arguments)
    return result


def element_strides(array: Array) -> tuple[int, ...]:
    """Strides in elements."""
    return tuple(stride // array.itemsize for stride in array.strides)


def instruction_of(name: str, types: Sequence[TensorType], **attributes: Any) -> Instruction:
    """A primitive applied to parameters of these types."""
    builder = Builder(name)
    operands = [builder.parameter(type) for type in types]
    return builder.build(builder.emit_all(name, operands, attributes)).instructions[0]


def run_routine(instruction: Instruction, *operands: Array) -> list[Array]:
    """The results of the library's routine for an instruction."""
    results = [np.empty(value.type.shape, value.type.dtype.numpy) for value in instruction.results]
    arrays = [*operands, *results]
    strides = [element_strides(array) for array in arrays]
    routine(instruction, strides[: len(operands)], strides[len(operands) :])(*arrays)
    return results


def edge_values(dtype: DType) -> Array:
    """Numbers at which implementations go wrong."""
    if dtype is dtypes.bool_:
        return np.array([False, True])
    if dtype.is_complex:
        parts = np.array([0.0, -0.0, 1.0, -1.5, 3.25, 1e3, -1e-3])
        return np.array([a + 1j * b for a in parts for b in parts]).astype(dtype.numpy)
    if dtype.is_floating_point:
        tiny = [5e-324, -5e-324, 1e-310, 1e-40, -1e-40, 6e-8, 1e-300]
        plain = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 1e4, -1e4, 0.9999, 88.7, -104.0]
        huge = [65504.0, 3e38, -3e38, 1e300, -1.7e308, np.inf, -np.inf, np.nan, 2147483648.0, -9.3e18, 200.0]
        with np.errstate(over="ignore"):
            return np.array(tiny + plain + huge).astype(np.float64).astype(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    middle = [0, 1, 2, 3, 5, 7, 8, 13, 31, 100]
    low = [] if limits.min == 0 else [-1, -2, -3, -7, -8, -100]
    ends = [limits.min, limits.min + 1, limits.max, limits.max - 1]
    return np.array([*middle, *low, *ends], dtype.numpy)


def random_values(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Ordinary numbers of several magnitudes."""
    if dtype is dtypes.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.is_complex:
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype.numpy)
    if dtype.is_floating_point:
        return np.asarray(rng.standard_normal(shape) * rng.choice([0.1, 1.0, 10.0], shape)).astype(
            dtype.numpy
        )
    limits = np.iinfo(dtype.numpy)
    wide = rng.integers(limits.min, limits.max, shape, dtype=dtype.numpy, endpoint=True)
    near = rng.integers(0 if limits.min == 0 else -9, 10, shape).astype(dtype.numpy)
    return np.where(rng.integers(0, 2, shape) == 1, wide, near)


def assert_equal(got: Array, expected: Array) -> None:
    """Equal, NaN being equal to itself, which NumPy does not find for bfloat16."""
    if dtypes.from_numpy_dtype(expected.dtype) in HALF:
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(got, expected)
