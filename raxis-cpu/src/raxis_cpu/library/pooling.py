"""Pooling by the bodies of `pooling_ir`: positions of maxima and their gradients, means of bins and theirs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import DType
from raxis.ops.definitions.taps import area_bins
from raxis.ptir.program import Program
from raxis.ptir.types import TensorType
from raxis_cpu.library.described_ir import described
from raxis_cpu.library.pooling_blocks_ir import WIDTHS, blocks_body
from raxis_cpu.library.pooling_ir import Description, Slot, Work, pooling_body
from raxis_cpu.library.routine import Array, address_of, is_dense
from raxis_cpu.library.sliding_ir import ELEMENTS
from raxis_cpu.threads import Body, thread_pool

_RANK = 3
"""Dims of windows here; those that are missing have size 1."""
_PLANE_WORK = 1 << 14
"""Elements that are not worth another thread."""
_SMALL_WORK = 1 << 18
"""Elements of planes that are done at once, in one thread."""
_MORE = 64
"""Entries behind the tables: vectors of them are read."""


class Windows(NamedTuple):
    """Along one dim, windows that begin at `starts` and end before `stops`, with elements `spread` apart."""

    starts: list[int]
    stops: list[int]
    size: int
    spread: int = 1


def regular_windows(size: int, count: int, width: int, step: int, before: int, spread: int) -> Windows:
    """Windows of one width: what is inside of the plane."""
    first = [place * step - before for place in range(count)]
    starts = [start + -(min(start, 0) // spread) * spread for start in first]
    stops = [min(start + spread * (width - 1) + 1, size) for start in first]
    return Windows(starts, [max(pair) for pair in zip(starts, stops, strict=True)], size, spread)


def bins(size: int, count: int) -> Windows:
    """Windows that cover the plane, as adaptive pooling has them."""
    bounds = area_bins(size, count)
    return Windows([start for start, _ in bounds], [stop for _, stop in bounds], size)


def _table(parts: Iterable[list[int]]) -> Array:
    return np.array([*chain.from_iterable(parts), *[0] * _MORE], np.int64)


class Pooling:
    """Work on windows of planes of one size.

    Args:
        windows: along up to three dims, the last ones of the arrays.
        dtype: float32 or float64.
        work: see `pooling_ir.pooling_body`.
    """

    def __init__(self, windows: Sequence[Windows], dtype: DType, work: Work) -> None:
        width = _block_width(windows) if work == "maximum_gradient" else 0
        self._code = blocks_body(dtype, width) if width else pooling_body(dtype, work)
        self._body = Body(self._code.body)
        missing = _RANK - len(windows)
        whole = [Windows([0], [1], 1)] * missing + list(windows)
        self._work: Work = work
        self._starts, self._stops = (
            _table(getattr(item, name) for item in whole) for name in ("starts", "stops")
        )
        last = whole[-1]
        reach = (stop - start for start, stop in zip(last.starts, last.stops, strict=True))
        self._sizes = [item.size for item in whole]
        self._numbers = [
            self._starts.ctypes.data, self._stops.ctypes.data, *self._sizes, *(len(item.starts) for item in whole),
            *(item.spread for item in whole), -(-max(reach) // last.spread),
            int(all(_covered(item) == item.size for item in whole)),
        ]  # fmt: skip

    def __call__(self, x: Array | None, gradient: Array | None, result: Array) -> None:
        """Write to a dense result; the other arrays are dense."""
        given = x if x is not None else gradient
        assert given is not None
        addresses = [0 if array is None else address_of(array) for array in (x, gradient, result)]
        plane = prod(self._sizes)
        planes = (result if self._work.endswith("gradient") else given).size // plane
        description = Description(*addresses, *self._numbers, planes)
        if planes * plane <= _PLANE_WORK:
            self._body(ctypes.addressof(description), 0, planes)
        else:
            thread_pool().run(self._body, ctypes.addressof(description), planes, max(1, _PLANE_WORK // plane))

    def built_in(self, operands: Sequence[TensorType], result: TensorType) -> Executable | None:
        """A built-in for dense operands, if the work is small: gradient, x, result as far as there are such."""
        plane = prod(self._sizes)
        whole = result if self._work.endswith("gradient") else operands[-1]
        planes = prod(whole.shape) // plane
        if planes * plane > _SMALL_WORK:
            return None
        slots = (
            [Slot.GRADIENT] * self._work.endswith("gradient") + [Slot.INPUT] * self._has_input + [Slot.RESULT]
        )
        arrays = [
            (int(slot), item.dtype.itemsize) for slot, item in zip(slots, [*operands, result], strict=True)
        ]
        return described(self._code.driver, arrays, [], 0, [0, 0, 0, *self._numbers, planes], owner=self)

    @property
    def _has_input(self) -> bool:
        return self._work != "average_gradient"


def _covered(windows: Windows) -> int:
    """Elements of windows that do not overlap."""
    return sum(stop - start for start, stop in zip(windows.starts, windows.stops, strict=True))


def _block_width(windows: Sequence[Windows]) -> int:
    """The width of windows that do not overlap and lie one beside the other in a row; 0 if they are not such."""
    bounds = [list(zip(item.starts, item.stops, strict=True)) for item in windows]
    for item, pairs in zip(windows, bounds, strict=True):
        apart = all(stop <= start for (_, stop), (start, _) in pairwise(pairs))
        if item.spread > 1 or not apart or any(start >= stop for start, stop in pairs):
            return 0
    width = bounds[-1][0][1]
    regular = [(place * width, (place + 1) * width) for place in range(len(bounds[-1]))]
    return width if width in WIDTHS and bounds[-1] == regular else 0


HostView = Callable[[Any], Array]
"""A buffer as a uint8 array."""


def pooling_kernels(host_view: HostView) -> Mapping[str, KernelFactory]:
    """The kernels by op name."""
    makers: dict[str, tuple[Work, Callable[[Program], list[Windows] | None]]] = {
        "_max_pool_gradient": ("maximum_gradient", _regular),
        "_window_places": ("places", _regular),
        "_adaptive_places": ("places", _adaptive),
        "_resample": ("average", _area),
        "_resample_gradient": ("average_gradient", _area_of_gradient),
        "_average_pool": ("mean", _whole),
    }
    return {
        name: partial(_kernel, work=work, windows_of=windows_of, host_view=host_view)
        for name, (work, windows_of) in makers.items()
    }


def _regular(program: Program) -> list[Windows] | None:
    values, shape = program.attributes, program.parameters[-1].type.shape
    kernel = values["kernel_size"]
    lead = len(shape) - len(kernel)
    counts = (program.parameters[0] if len(program.parameters) == 2 else program.results[0]).type.shape[lead:]
    numbers = (values[name] for name in ("stride", "padding", "dilation"))
    return [regular_windows(*item) for item in zip(shape[lead:], counts, kernel, *numbers, strict=True)]


def _bins_of(sizes: Sequence[int], counts: Sequence[int]) -> list[Windows]:
    return [bins(size, count) for size, count in zip(sizes, counts, strict=True)]


def _adaptive(program: Program) -> list[Windows] | None:
    counts = program.attributes["output_size"]
    return _bins_of(program.parameters[0].type.shape[-len(counts) :], counts)


def _area(program: Program) -> list[Windows] | None:
    return _adaptive(program) if program.attributes["mode"] == "area" else None


def _area_of_gradient(program: Program) -> list[Windows] | None:
    if program.attributes["mode"] != "area":
        return None
    sizes = program.attributes["size"]
    return _bins_of(sizes, program.parameters[0].type.shape[-len(sizes) :])


def _whole(program: Program) -> list[Windows] | None:
    """A single window that is the plane; averages of smaller ones are loops."""
    values, shape = program.attributes, program.parameters[0].type.shape
    kernel = values["kernel_size"]
    sizes = shape[len(shape) - len(kernel) :]
    if sizes != kernel or any(values["padding"]) or values.get("divisor_override") is not None:
        return None
    return [Windows([0], [size], size) for size in sizes]


def _kernel(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides], *, work: Work,
    windows_of: Callable[[Program], list[Windows] | None], host_view: HostView,
) -> Executable | None:  # fmt: skip
    types = [value.type for value in (*program.parameters, *program.results)]
    if types[0].dtype not in ELEMENTS or any(0 in type.shape for type in types):
        return None
    windows = windows_of(program)
    if (
        windows is None
        or len(windows) > _RANK
        or max(item.size for item in windows) ** len(windows) >= 1 << 31
    ):
        return None
    pool = Pooling(windows, types[0].dtype, work)
    if all(
        is_dense(type.shape, strides or ()) for type, strides in zip(types, [*inputs, *outputs], strict=True)
    ):
        native = pool.built_in(types[:-1], types[-1])
        if native is not None:
            return native
    views = [
        _view(type, strides or (), host_view)
        for type, strides in zip(types, [*inputs, *outputs], strict=True)
    ]

    def execute(*arguments: Any) -> None:
        *operands, result = (view(*arguments[2 * place : 2 * place + 2]) for place, view in enumerate(views))
        operands = [item if item.flags.c_contiguous else np.ascontiguousarray(item) for item in operands]
        target = result if result.flags.c_contiguous else np.empty(result.shape, result.dtype)
        gradient = operands[0] if work.endswith("gradient") else None
        pool(None if work == "average_gradient" else operands[-1], gradient, target)
        if target is not result:
            result[...] = target

    return execute


def _view(type: TensorType, strides: Strides, host_view: HostView) -> Callable[[Any, int], Array]:
    dtype = type.dtype.numpy
    steps = tuple(stride * dtype.itemsize for stride in strides)
    return lambda buffer, offset: np.ndarray(
        type.shape, dtype, host_view(buffer), offset * dtype.itemsize, steps
    )
