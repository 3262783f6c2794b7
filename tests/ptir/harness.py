"""Runs programs on the reference backend with NumPy arrays, and converts arrays to torch and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from raxis import dtypes
from raxis.backends.reference import ReferenceBackend
from raxis.dtypes import DType
from raxis.ptir import Builder, Program, Region, TensorType, verify

BACKEND = ReferenceBackend()


class Placed:
    """An array laid out in a buffer at an offset, with strides in elements."""

    def __init__(self, array: np.ndarray, strides: Sequence[int] | None = None, offset: int = 0) -> None:
        array = np.asarray(array)
        self.strides = contiguous(array.shape) if strides is None else tuple(strides)
        self.offset, self.dtype, self.shape = offset, array.dtype, array.shape
        span = (
            offset + 1 + sum((size - 1) * step for size, step in zip(array.shape, self.strides, strict=True))
        )
        self.buffer = BACKEND.allocate(max(span, 0) * array.itemsize, 0)
        self.buffer[:] = 0xAB
        if array.size:
            self.view[...] = array

    @property
    def view(self) -> np.ndarray:
        """The array, sharing the buffer's memory."""
        item = self.dtype.itemsize
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        steps = [step * item for step in self.strides]
        return np.ndarray(self.shape, self.dtype, self.buffer, self.offset * item, steps)


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    return tuple(int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape)))


def execute(
    program: Program, inputs: Sequence[object], outputs: Sequence[Placed] | None = None
) -> list[np.ndarray]:
    """The results for arrays, `Placed` arrays, and Python numbers (by-value scalars)."""
    verify(program)
    placed = [
        item if parameter.by_value or isinstance(item, Placed) else Placed(item)
        for parameter, item in zip(program.parameters, inputs, strict=True)
    ]
    if outputs is None:
        outputs = [Placed(np.zeros(value.type.shape, value.type.dtype.numpy)) for value in program.results]
    strides = [item.strides if isinstance(item, Placed) else None for item in placed]
    executable = BACKEND.compile(program, strides, [item.strides for item in outputs])
    arguments: list[object] = []
    for item in [*placed, *outputs]:
        arguments += [item.buffer, item.offset] if isinstance(item, Placed) else [item]
    assert executable(*arguments) is None
    return [item.view for item in outputs]


def type_of(array: np.ndarray) -> TensorType:
    """The program type of an array."""
    return TensorType(dtypes.from_numpy_dtype(array.dtype), array.shape)


def one_instruction(
    primitive: str, types: Sequence[TensorType], attributes: dict[str, object], regions: Sequence[Region] = ()
) -> Program:
    """A program of one instruction, all of its results returned."""
    builder = Builder(primitive)
    operands = [builder.parameter(type) for type in types]
    return builder.build(builder.emit_all(primitive, operands, attributes, regions))


def apply(
    primitive: str, *arrays: np.ndarray, regions: Sequence[Region] = (), **attributes: object
) -> np.ndarray:
    """The first result of a primitive."""
    program = one_instruction(primitive, [type_of(array) for array in arrays], attributes, regions)
    return execute(program, arrays)[0]


def to_torch(array: np.ndarray) -> torch.Tensor:
    """A torch copy, of bfloat16 too."""
    array = np.array(array, order="C")
    if array.dtype == dtypes.bfloat16.numpy:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def from_torch(tensor: torch.Tensor) -> np.ndarray:
    """A NumPy copy, of bfloat16 too."""
    tensor = tensor.detach().contiguous().resolve_conj()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(dtypes.bfloat16.numpy)
    return tensor.numpy()


TOLERANCE = {
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float32": 3e-6,
    "float64": 1e-12,
    "complex64": 1e-5,
    "complex128": 1e-12,
}


def assert_close(actual: np.ndarray, expected: np.ndarray, dtype: DType) -> None:
    """Equal shape and dtype; equal numbers up to a few roundings, NaN where NaN is due."""
    assert actual.dtype == dtype.numpy
    assert actual.shape == expected.shape
    tolerance = TOLERANCE.get(dtype.name)
    if tolerance is None:
        np.testing.assert_array_equal(actual, expected)
    else:
        wide = np.complex128 if dtype.is_complex else np.float64
        np.testing.assert_allclose(
            actual.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance / 10
        )


def assert_identical(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal dtype and numbers, where NaN equals NaN (NumPy's own test does not know bfloat16's)."""
    assert actual.dtype == expected.dtype
    widen = actual.dtype == dtypes.bfloat16.numpy
    np.testing.assert_array_equal(*(x.astype(np.float32) if widen else x for x in (actual, expected)))


def samples(dtype: DType, shape: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Small random numbers, exactly representable in every dtype of the category."""
    if dtype.category == dtypes.Category.BOOL:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.category == dtypes.Category.INTEGER:
        return rng.integers(-4 if dtype.is_signed else 0, 5, shape).astype(dtype.numpy)
    numbers = rng.integers(-16, 17, shape) / 8
    if dtype.is_complex:
        numbers = numbers + 1j * rng.integers(-16, 17, shape) / 8
    return np.asarray(numbers).astype(dtype.numpy)
