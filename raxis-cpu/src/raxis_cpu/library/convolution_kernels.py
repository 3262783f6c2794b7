"""Kernels of the ops for convolution and for the gradient of its kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.ptir.program import Program
from raxis_cpu.library.convolution import Forward, Gradient, sizes_of
from raxis_cpu.library.routine import Array
from raxis_cpu.library.sliding_ir import ELEMENTS


def convolution_kernels(host_view: Callable[[Any], Array]) -> Mapping[str, KernelFactory]:
    """The kernels by op name."""
    return {
        "convolution": partial(_convolution_kernel, host_view=host_view),
        "_convolution_weight_gradient": partial(_gradient_kernel, host_view=host_view),
    }


class _Memory(NamedTuple):
    """A tensor in memory; it is called with a buffer and an offset, and returns the array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: Strides
    host_view: Callable[[Any], Array]

    def __call__(self, buffer: Any, offset: int) -> Array:
        return np.ndarray(
            self.shape, self.dtype, self.host_view(buffer), offset * self.dtype.itemsize, self.strides
        )

    @property
    def like(self) -> Array:
        """An array whose elements lie as those of the tensor do, but whose memory must not be touched."""
        return as_strided(np.empty(1, self.dtype), self.shape, self.strides)


def _memories(
    program: Program,
    inputs: Sequence[Strides | None],
    outputs: Sequence[Strides],
    host_view: Callable[[Any], Array],
) -> list[_Memory] | None:
    """Operands, then the result; None where no kernel is."""
    types = [value.type for value in (*program.parameters, *program.results)]
    strides = [*inputs, *outputs]
    if types[0].dtype not in ELEMENTS or any(item is None for item in strides):
        return None
    itemsize = types[0].dtype.itemsize
    return [
        _Memory(type.shape, type.dtype.numpy, tuple(stride * itemsize for stride in item or ()), host_view)
        for type, item in zip(types, strides, strict=True)
    ]


def _convolution_kernel(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides], *, host_view: Callable[[Any], Array]
) -> Executable | None:  # fmt: skip
    memories = _memories(program, inputs, outputs, host_view)
    if memories is None:
        return None
    image, weight, *bias, result = memories
    values = program.attributes
    options = [values[name] for name in ("groups", "stride", "padding", "dilation")]
    sizes = sizes_of(image.shape, result.shape, weight.shape[2:], *options)
    if sizes is None:
        return None
    run = Forward(sizes, program.parameters[0].type.dtype, transposed=values["transposed"])

    native = run.built_in(image.like, weight.like, bias[0].like if bias else None, result.like)
    if native is not None:
        return native

    def execute(*arguments: Any) -> None:
        added = bias[0](*arguments[4:6]) if bias else None
        run(image(*arguments[:2]), weight(*arguments[2:4]), added, result(*arguments[-2:]))

    return execute


def _gradient_kernel(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides], *, host_view: Callable[[Any], Array]
) -> Executable | None:  # fmt: skip
    memories = _memories(program, inputs, outputs, host_view)
    if memories is None:
        return None
    image, response, result = memories
    values = program.attributes
    options = [values[name] for name in ("groups", "stride", "padding", "dilation")]
    sizes = sizes_of(image.shape, response.shape, values["kernel_size"], *options)
    if sizes is None:
        return None
    run = Gradient(sizes, program.parameters[0].type.dtype)

    native = run.built_in(image.like, response.like, result.like)
    if native is not None:
        return _repaired(native, run, memories)

    def execute(*arguments: Any) -> None:
        run(image(*arguments[:2]), response(*arguments[2:4]), result(*arguments[4:6]))

    return execute


def _repaired(native: Executable, run: Gradient, memories: Sequence[_Memory]) -> Executable:
    image, response, result = memories

    def execute(*arguments: Any) -> None:
        native(*arguments)
        found = result(*arguments[4:6])
        if not np.isfinite(found).all():
            run.repair(image(*arguments[:2]), response(*arguments[2:4]), found)

    return execute
