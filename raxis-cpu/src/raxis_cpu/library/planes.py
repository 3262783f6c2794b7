"""Convolution over one or two spatial dims by the native body of `convolution_ir`."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from raxis import dtypes
from raxis.dtypes import HALF
from raxis_cpu.blas import Blas, numpy_blas
from raxis_cpu.library import depthwise_ir
from raxis_cpu.library.convolution_ir import ELEMENTS, Description, convolution_body
from raxis_cpu.library.depthwise_ir import depthwise_body
from raxis_cpu.library.routine import Array, Call, Routine, workspace
from raxis_cpu.threads import thread_pool

_COLUMN_BYTES = 1 << 20
"""Columns of a block: what stays in a core's own cache beside the weight."""

_PLACES = 256
"""With fewer places in a block than this, BLAS is busy with rearranging the weight."""

_PLANE_WORK = 1 << 17
"""Multiplications that are not worth another thread."""

_MOST_WORKSPACES = 64
"""There is a bit for each in one integer."""


class _Sizes(NamedTuple):
    """A convolution's sizes; those of spatial dims are (rows, places)."""

    images: int
    groups: int
    channels: int
    outputs: int
    image: tuple[int, int]
    result: tuple[int, int]
    kernel: tuple[int, int]
    step: tuple[int, int]
    spread: tuple[int, int]
    before: tuple[int, int]

    @property
    def depth(self) -> int:
        """Products that make up one element of the result."""
        return self.channels * self.kernel[0] * self.kernel[1]


class _Blocks(NamedTuple):
    """Rows of the result, images and outputs of one block."""

    rows: int
    images: int
    outputs: int

    def counts(self, sizes: _Sizes) -> tuple[int, int, int]:
        """How many blocks of rows, images and outputs there are."""
        totals = (sizes.result[0], sizes.images, sizes.outputs)
        return tuple(-(-total // size) for total, size in zip(totals, self, strict=True))  # type: ignore[return-value]


def _blocks_of(sizes: _Sizes, itemsize: int, threads: int) -> _Blocks:
    """Blocks that suit the caches and are at least as many as the threads where that is possible."""
    height, width = sizes.result
    places = max(_PLACES, _COLUMN_BYTES // (sizes.depth * itemsize))
    rows = min(height, max(1, places // width))
    rows = -(-height // -(-height // rows))
    images = 1 if rows < height else max(1, min(sizes.images, places // (height * width)))
    images = max(1, min(images, sizes.images * sizes.groups // threads))
    tasks = -(-height // rows) * -(-sizes.images // images) * sizes.groups
    outputs = -(-sizes.outputs // -(-threads // tasks))
    return _Blocks(rows, images, outputs)


def convolution_of_planes(call: Call) -> Routine | None:
    """The native routine; None for other ranks and dtypes, and without OpenBLAS where it is needed."""
    image = call.instruction.operands[0].type
    dtype = dtypes.float32 if image.dtype in HALF else image.dtype
    rank = image.rank - 2
    if rank not in (1, 2) or dtype not in ELEMENTS:
        return None
    sizes = _sizes_of(call, rank)
    blas = numpy_blas()
    run: _Depthwise | _Convolution
    if sizes.channels == 1 < sizes.groups:
        run = _Depthwise(sizes, depthwise_body(dtype))
    elif blas is not None:
        run = _Convolution(sizes, convolution_body(dtype, blas.has_long_integers), blas, ELEMENTS[dtype][1])
    else:
        return None
    direct = call.is_dense() and dtype is image.dtype
    planes = (sizes.images, sizes.groups * sizes.channels, *sizes.image)

    def routine(x: Array, filters: Array, out: Array) -> None:
        filters = np.ascontiguousarray(filters, dtype.numpy)
        result = out if direct else np.empty(out.shape, dtype.numpy)
        run(x.astype(dtype.numpy, copy=False).reshape(planes), filters, result)
        if not direct:
            out[...] = result

    return routine


def _sizes_of(call: Call, rank: int) -> _Sizes:
    (image, weight), attributes = (
        (value.type for value in call.instruction.operands),
        call.instruction.attributes,
    )
    groups = attributes["groups"]

    def pair(values: Any, missing: int) -> Any:
        return (missing,) * (2 - rank) + tuple(values)

    return _Sizes(
        image.shape[0],
        groups,
        weight.shape[1],
        weight.shape[0] // groups,
        pair(image.shape[2:], 1),
        pair(call.instruction.results[0].type.shape[2:], 1),
        pair(weight.shape[2:], 1),
        pair(attributes["stride"], 1),
        pair(attributes["dilation"], 1),
        pair((low for low, _ in attributes["padding"]), 0),
    )


class _Convolution:
    """Runs the body on arrays of fixed sizes."""

    def __init__(self, sizes: _Sizes, body: int, blas: Blas, gemm: str) -> None:
        self._sizes = sizes
        self._body = ctypes.c_void_p(body)
        self._blas = blas
        self._gemm = blas.address(f"cblas_{gemm}")

    def __call__(self, x: Array, weight: Array, out: Array) -> None:
        pool, sizes = thread_pool(), self._sizes
        blocks = _blocks_of(sizes, x.itemsize, pool.num_threads)
        row_blocks, image_blocks, output_blocks = blocks.counts(sizes)
        places = blocks.images * blocks.rows * sizes.result[1]
        columns = -(-sizes.depth * places * x.itemsize // 64) * 64
        products = blocks.outputs * places * x.itemsize if blocks.images > 1 else 0
        size = columns + -(-products // 64) * 64
        workspaces = min(pool.num_threads, _MOST_WORKSPACES)
        memory = workspace.array("blocks", (workspaces * size,), np.dtype(np.uint8))
        # Bits of workspaces that do not exist are taken.
        used = -1 << workspaces if workspaces < _MOST_WORKSPACES else 0
        values = (
            x.ctypes.data, weight.ctypes.data, out.ctypes.data, self._gemm, used, memory.ctypes.data, size, columns,
            sizes.images, sizes.groups, sizes.channels, sizes.outputs, *sizes.image, *sizes.result, *sizes.kernel,
            *sizes.step, *sizes.spread, *sizes.before, blocks.rows, row_blocks, blocks.images, image_blocks,
            blocks.outputs, output_blocks, *(stride // x.itemsize for stride in x.strides),
        )  # fmt: skip
        description = Description(*values)
        tasks = sizes.groups * row_blocks * image_blocks * output_blocks
        with self._blas.serial():
            pool.run(self._body, ctypes.addressof(description), tasks, 1)


class _Depthwise:
    """Runs the body of depthwise convolution on arrays of fixed sizes."""

    def __init__(self, sizes: _Sizes, body: int) -> None:
        self._sizes = sizes
        self._body = ctypes.c_void_p(body)

    def __call__(self, x: Array, weight: Array, out: Array) -> None:
        sizes = self._sizes
        description = depthwise_ir.Description(
            x.ctypes.data, weight.ctypes.data, out.ctypes.data, sizes.groups * sizes.outputs, sizes.outputs,
            *sizes.image, *sizes.result, *sizes.kernel, *sizes.step, *sizes.spread, *sizes.before,
            *(stride // x.itemsize for stride in x.strides),
        )  # fmt: skip
        planes = sizes.images * sizes.groups * sizes.outputs
        work = sizes.result[0] * sizes.result[1] * sizes.depth
        thread_pool().run(self._body, ctypes.addressof(description), planes, max(1, _PLANE_WORK // work))
