"""Convolutions, their transposes and the gradients of their kernels by the bodies of `sliding_ir`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from raxis.backends.api import Executable
from raxis.dtypes import DType
from raxis_cpu.library.bodies_ir import MOST_WORKSPACES, unused
from raxis_cpu.library.described_ir import described, serial_for
from raxis_cpu.library.panels_ir import panel_width
from raxis_cpu.library.register_tiles_ir import gradients_tile, most_taps
from raxis_cpu.library.routine import Array, address_of, workspace
from raxis_cpu.library.sliding_ir import drivers, few_outputs, vector_of
from raxis_cpu.library.sliding_planes import (
    TASKS,
    Planes,
    ResultTiles,
    Sizes,
    forward_planes,
    transposed_planes,
)
from raxis_cpu.library.sliding_slots import TILE, Description, Slot
from raxis_cpu.llvm.ir import Type
from raxis_cpu.machine import whole_lines
from raxis_cpu.threads import thread_pool

_PLANES_BYTES = 1 << 20
"""Planes for one thread at a time: about half of what a core's own cache holds."""
_ROW_PLACES = 256
"""Places whose products with responses are added at a time: the responses stay in the cache."""
_SMALL_WORK, _SMALL_BYTES = 1 << 21, 1 << 18
"""Multiplications and memory of what is done at once, in one thread."""


class _Memory:
    """Parts of one piece of memory, by the slots that hold their addresses."""

    def __init__(self, itemsize: int) -> None:
        self._itemsize = itemsize
        self.places: list[tuple[Slot, int]] = []
        self.nbytes = 0

    def add(self, slot: Slot, elements: int) -> None:
        """Room for so many elements, at the beginning of a line of the cache."""
        self.places.append((slot, self.nbytes))
        self.nbytes += whole_lines(elements * self._itemsize)


class _Plan(NamedTuple):
    """All of a call's description but the addresses."""

    description: Any
    memory: _Memory


class _Runner:
    """What calls of one convolution have in common.

    Args:
        sizes: of the convolution.
        dtype: float32 or float64.
        planes: the padded planes.
        driver: address of the function that does the work.
    """

    def __init__(self, sizes: Sizes, dtype: DType, planes: Planes, driver: int) -> None:
        self._sizes, self._planes, self._dtype = sizes, planes, dtype.numpy
        self._width = panel_width(vector_of(dtype))
        self._driver = driver
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(driver)
        self._depth = sizes.channels * sizes.taps
        self._output_panels = -(-sizes.outputs // self._width)
        self._plans: dict[int, _Plan] = {}
        extent = planes.extent
        self._image_elements = sizes.groups * sizes.channels * planes.channel_gap
        self._response_elements = 0
        # Nothing is around the image, and nothing between neighbours.
        self._is_plain = extent == sizes.image and len(planes.fills) == 1 and not planes.fills[0, 1:4].any()
        self._fixed = {
            "FILLS": planes.fills.ctypes.data, "FILL_COUNT": len(planes.fills), "OFFSETS": planes.offsets.ctypes.data,
            "BLOCKS": planes.blocks.ctypes.data, "BLOCK_COUNT": len(planes.blocks), "GROUPS": sizes.groups,
            "CHANNELS": sizes.channels, "OUTPUTS": sizes.outputs, "OUTPUT_PANELS": self._output_panels,
            "SLICES": sizes.image[0], "ROWS": sizes.image[1], "SLICE_STEP": planes.step[0], "ROW_STEP": planes.step[1],
            "PLACE_STEP": planes.step[2], "PLANE_SLICES": extent[0], "PLANE_ROWS": extent[1],
            "PLANE_PLACES": extent[2], "CHANNEL_GAP": planes.channel_gap, "DEPTH": self._depth,
            "RESULT_SLICES": sizes.result[0], "RESULT_ROWS": sizes.result[1], "RESULT_PLACES": sizes.result[2],
            "COUNT": sizes.images, "PARALLEL_FOR": thread_pool().parallel_for,
        }  # fmt: skip

    def _plan(self, threads: int, chunk: int, memory: _Memory) -> dict[str, int]:
        """Numbers that depend on how many threads there are; reserves the memory."""
        raise NotImplementedError

    def _planned(self) -> _Plan:
        threads = min(thread_pool().num_threads, MOST_WORKSPACES)
        found = self._plans.get(threads)
        if found is None:
            found = self._plans[threads] = self._new_plan(threads)
        return found

    def _new_plan(self, threads: int) -> _Plan:
        images = max(
            1, _PLANES_BYTES // ((self._image_elements + self._response_elements) * self._dtype.itemsize)
        )
        chunk = min(self._sizes.images, threads * images)
        memory = _Memory(self._dtype.itemsize)
        memory.add(Slot.PLANES, chunk * self._image_elements + 2 * self._width)
        numbers = {
            **self._fixed, "CHUNK": chunk, "USED": unused(threads), **self._plan(threads, chunk, memory)
        }  # fmt: skip
        values = dict.fromkeys(Slot, 0)
        values.update({Slot[name]: number for name, number in numbers.items()})
        return _Plan(Description(*values.values()), memory)

    def _call(self, x: Array, weight: int, bias: int, result: Array) -> None:
        """Run; addresses of what is not here are 0."""
        template, memory = self._planned()
        description = Description.from_buffer_copy(template)
        start = workspace.lines("sliding", memory.nbytes)
        for slot, offset in memory.places:
            description[slot] = start + offset
        description[Slot.IMAGE : Slot.BIAS + 1] = [address_of(x), weight, bias]
        description[Slot.RESULT] = address_of(result)
        self._set_strides(description, x, result)
        self._run(ctypes.addressof(description))

    def _set_strides(self, description: Any, x: Array, result: Array) -> None:
        itemsize = x.itemsize
        if self._is_plain and x.flags.c_contiguous:
            description[Slot.PLANES], description[Slot.FILL_COUNT] = 0, 0
        description[Slot.IMAGE_STRIDE : Slot.PLACE_STRIDE + 1] = [stride // itemsize for stride in x.strides]
        distances = [stride // itemsize for stride in result.strides[:2]]
        description[Slot.RESULT_STRIDE], description[Slot.OUTPUT_STRIDE] = distances

    def _bound(self, x: Array, result: Array, slots: Sequence[Slot]) -> Executable | None:
        """A built-in for small work on arrays with the strides of these; None for large work."""
        template, memory = self._new_plan(1)
        sizes = self._sizes
        work = sizes.images * sizes.groups * sizes.outputs * self._depth * prod(sizes.result)
        if work > _SMALL_WORK or memory.nbytes > _SMALL_BYTES:
            return None
        self._set_strides(template, x, result)
        template[Slot.PARALLEL_FOR] = serial_for()
        parts = [(int(slot), offset) for slot, offset in memory.places]
        arrays = [(int(slot), self._dtype.itemsize) for slot in slots]
        return described(self._driver, arrays, parts, memory.nbytes, [*template], owner=self)


class Convolution(_Runner):
    """A convolution of fixed sizes, or the transpose of one (then `result` is larger than `image` as a rule).

    Args:
        sizes: of the convolution; of a transpose `image` is what is given, `step` and `before` are those of the
            convolution that it transposes.
        dtype: float32 or float64.
        transposed: whether it is a transpose.
    """

    def __init__(self, sizes: Sizes, dtype: DType, *, transposed: bool = False) -> None:
        vector = vector_of(dtype)
        self._is_narrow = sizes.outputs <= few_outputs(vector)
        planes = (transposed_planes if transposed else forward_planes)(sizes, ResultTiles(vector, sizes))
        super().__init__(sizes, dtype, planes, drivers(dtype).convolution)
        # Many places at a time are read beyond the end.
        self._is_plain &= not self._is_narrow
        taps, depth = sizes.taps, self._depth
        if transposed:
            run = {
                "RUNS": sizes.channels,
                "RUN": taps,
                "RUN_STRIDE": sizes.outputs * taps,
                "WEIGHT_OUTPUT": taps,
            }
        else:
            run = {"RUNS": 1, "RUN": depth, "RUN_STRIDE": 0, "WEIGHT_OUTPUT": depth}
        self._fixed |= run | {"WEIGHT_GROUP": sizes.outputs * depth}

    def __call__(self, x: Array, weight: Array, bias: Array | None, out: Array) -> None:
        """Write the result.

        Args:
            x: [images, groups * channels, *image].
            weight: dense; [groups * outputs, channels, *kernel], if transposed [groups * channels, outputs, *kernel].
            bias: dense [groups * outputs].
            out: dense [images, groups * outputs, *result].
        """
        self._call(x, address_of(weight), 0 if bias is None else address_of(bias), out)

    def built_in(self, x: Array, out: Array, *, has_bias: bool) -> Executable | None:
        """A built-in for dense operands like these, if the work is small: x, weight, perhaps bias, out."""
        biases = [Slot.BIAS] if has_bias else []
        return self._bound(x, out, [Slot.IMAGE, Slot.WEIGHT, *biases, Slot.RESULT])

    def _plan(self, threads: int, chunk: int, memory: _Memory) -> dict[str, int]:
        width, itemsize = self._width, self._dtype.itemsize
        panels = self._sizes.groups * self._output_panels
        in_order = bool((self._planes.offsets[:, 0] == np.arange(len(self._planes.offsets))).all())
        arranges = not in_order and not self._is_narrow
        memory.add(Slot.BIASES, panels * width)
        memory.add(Slot.KERNELS, panels * self._depth * width)
        if arranges:
            memory.add(Slot.PANELS, panels * self._depth * width)
        else:
            memory.places.append((Slot.PANELS, memory.places[-1][1]))
        results = self._most_places * width
        workspace_bytes = whole_lines((results + self._lines * width) * itemsize)
        memory.add(Slot.WORKSPACES, threads * workspace_bytes // itemsize)
        return {
            "IS_NARROW": int(self._is_narrow), "ARRANGES": int(arranges), "LINES_AT": results * itemsize,
            "WORKSPACE_BYTES": workspace_bytes,
        }  # fmt: skip

    @property
    def _lines(self) -> int:
        """Places of the largest block whose results are not neighbours."""
        blocks = self._planes.blocks
        return int((blocks[:, 3] * blocks[:, 4] * (blocks[:, 7] > 1)).max(initial=0))

    @property
    def _most_places(self) -> int:
        """Places of the largest block, as many as are computed."""
        blocks = self._planes.blocks
        row = self._planes.extent[2] if self._is_narrow else blocks[:, 4]
        most = int(((blocks[:, 3] - 1) * row + blocks[:, 4]).max(initial=0))
        return most + 4 * self._width if self._is_narrow else most


class WeightGradient(_Runner):
    """The gradient of a convolution's kernels."""

    def __init__(self, sizes: Sizes, dtype: DType) -> None:
        vector = vector_of(dtype)
        super().__init__(sizes, dtype, forward_planes(sizes, None), drivers(dtype).gradient)
        self._by_tiles = sizes.outputs <= few_outputs(vector)
        if self._by_tiles:
            self._is_plain = False
            self._use_dots(vector.lanes)
            self._response_elements = sizes.groups * sizes.outputs * sizes.result[0] * self._run_gap
        else:
            self._use_tiles(vector)
            self._response_elements = sizes.groups * self._output_panels * prod(sizes.result) * self._width

    def _use_dots(self, lanes: int) -> None:
        """Vectors of places are multiplied."""
        sizes = self._sizes
        run = (sizes.result[1] - 1) * self._planes.extent[2] + sizes.result[2]
        self._run_gap = -(-run // lanes) * lanes
        rows = 1 if sizes.outputs == 1 else TILE
        tiles, elements = -(-sizes.outputs // rows), -(-self._depth // TILE)
        block = -(-elements // min(elements, -(-TASKS // (sizes.groups * tiles)))) * TILE
        self._fixed |= {
            "BY_TILES": 1, "DEPTH_BLOCK": block, "DEPTH_BLOCKS": -(-self._depth // block), "OUTPUT_TILES": tiles,
            "SUMS_GAP": elements * TILE, "RUN_GAP": self._run_gap,
        }  # fmt: skip
        self._sums = sizes.groups * tiles * rows * elements * TILE

    def _use_tiles(self, vector: Type) -> None:
        """Vectors of outputs are multiplied."""
        sizes, depth = self._sizes, self._depth
        count = -(-depth // most_taps())
        bounds = [depth * number // count for number in range(count + 1)]
        tiles = [
            (first, *(gradients_tile(vector, stop - first, vectors) for vectors in (1, 2)))
            for first, stop in pairwise(bounds)
        ]
        self._tiles = np.array([*tiles, (depth, 0, 0)], np.int64)
        rows = max(1, _ROW_PLACES // sizes.result[2])
        self._fixed |= {
            "TILES": self._tiles.ctypes.data, "TILE_COUNT": count, "ROW_BLOCK": rows, "WEIGHT_OUTPUT": depth,
            "WEIGHT_GROUP": sizes.outputs * depth,
        }  # fmt: skip
        self._sums = sizes.groups * self._output_panels * depth * self._width

    def __call__(self, x: Array, response: Array, out: Array) -> bool:
        """Write the gradient; whether all of it is finite (else more of it may be NaN than should be).

        Args:
            x: [images, groups * channels, *image].
            response: gradient of the result [images, groups * outputs, *result] with dense planes.
            out: dense [groups * outputs, channels, *kernel].
        """
        self._call(x, address_of(out), 0, response)
        return bool(np.isfinite(out).all())

    def built_in(self, x: Array, response: Array) -> Executable | None:
        """A built-in for dense operands like these, if the work is small: x, response, out."""
        return self._bound(x, response, [Slot.IMAGE, Slot.RESULT, Slot.WEIGHT])

    def _plan(self, threads: int, chunk: int, memory: _Memory) -> dict[str, int]:
        sizes = self._sizes
        memory.add(Slot.WORKSPACES, 0)
        memory.add(Slot.SUMS, self._sums)
        memory.add(Slot.RESPONSES, chunk * self._response_elements)
        if self._by_tiles:
            return {}
        panels = sizes.groups * self._output_panels
        tiles = self._fixed["TILE_COUNT"]
        block = tiles if threads == 1 else -(-tiles // -(-4 * threads // panels))
        return {"TILE_BLOCK": block, "TILE_BLOCKS": -(-tiles // block)}
