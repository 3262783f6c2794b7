"""The backend protocol: everything a device plugin implements, and nothing else.

A plugin is a module named by an entry point of group ``raxis.backends`` whose entry-point name is the
device type. The module is cheap to import and has three members:

``API``
    the ``(major, minor)`` this plugin was written for,
``probe()``
    None when the device can be used here, else one sentence saying why not,
``load()``
    the `Backend` object; heavy imports happen here.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np

    from raxis.dtypes import DType
    from raxis.ptir.passes.record import BackendPasses
    from raxis.ptir.program import Program

API: tuple[int, int] = (1, 0)
"""Protocol version of this core: ``(major, minor)``.

A plugin's `API` is the version it was written for. Core uses it if the major numbers are equal and the plugin's minor
number is not greater; else the plugin is incompatible, and no other code of it runs.

The minor number rises with what plugins written before need not know: a method with a default, an attribute or field
with one, a primitive (a backend refuses those that it does not know). The major number rises when plugins must change:
one more abstract method, other arguments, another meaning. The members of a version are those of this module.
"""

Strides = tuple[int, ...]


class Executable(Protocol):
    """A compiled program.

    It is called with one flat argument list: for every program parameter, in order, either
    ``buffer, offset`` (offset in elements; a tensor) or a Python number (a by-value scalar); then
    ``buffer, offset`` for every result. It writes the results into those buffers and returns None.

    One that runs several kernels may have an attribute ``observed``, a function that makes an executable which does the
    same, and tells ``raxis.interception.active.observer`` when each kernel begins and ends. The compiler then adds an
    attribute ``lines``: the user's lines by the program's values.
    """

    def __call__(self, *arguments: Any) -> None: ...


KernelFactory = Callable[["Program", Sequence[Strides | None], Sequence[Strides]], "Executable | None"]
"""Makes the kernel of one composite; None when it does not serve this case, so that the decomposition runs."""


@dataclass(frozen=True)
class DeviceProperties:
    """What a device says of itself; `total_memory` is in bytes, 0 when unknown."""

    name: str
    total_memory: int = 0
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """How a backend runs a program.

    Attributes:
        text: its steps.
        steps: how many there are.
        arena_bytes: memory of all temporaries; None if unknown.
        temporary_bytes: what they would take if none shared memory; None if unknown.
        sources: kernels in the device's language, by file name.
    """

    text: str
    steps: int
    arena_bytes: int | None = None
    temporary_bytes: int | None = None
    sources: Mapping[str, str] = field(default_factory=dict)


class Backend(abc.ABC):
    """Executes programs on the devices of one type.

    Buffers are opaque objects made by `allocate`; a buffer frees its memory when it is collected.
    Shapes, strides, views, promotion, broadcasting, autograd and argument checks are core's work.
    """

    composites: Mapping[str, KernelFactory] = {}
    """Kernels for whole composites, by op name; all others run as their decomposition."""

    passes: BackendPasses = MappingProxyType({})
    """Passes over programs that the compiler adds to its own, by stage: "legalise" before them, "fuse" after them,
    "cleanup" last (see `raxis.ptir.passes`)."""

    deferred_reason: str | None = None
    """Set when the backend stands in for something better; shown by ``python -m raxis.env``."""

    @abc.abstractmethod
    def device_count(self) -> int:
        """How many devices of this type there are."""

    @abc.abstractmethod
    def properties(self, index: int) -> DeviceProperties:
        """Name and memory of device `index`."""

    @abc.abstractmethod
    def allocate(self, nbytes: int, index: int) -> Any:
        """A buffer of `nbytes` bytes (uninitialised, 64-byte aligned where the device allows it)."""

    def allocator(self, nbytes: int, index: int) -> Callable[[], Any]:
        """What `allocate` does for these arguments, as a function without any; core keeps it for repeated calls."""
        return partial(self.allocate, nbytes, index)

    @abc.abstractmethod
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        """Copy a C-contiguous uint8 array into `buffer` at `byte_offset`."""

    @abc.abstractmethod
    def copy_to_host(self, buffer: Any, byte_offset: int, target: np.ndarray) -> None:
        """Fill a C-contiguous uint8 array from `buffer` at `byte_offset`."""

    @abc.abstractmethod
    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        """Compile `program` for operands of these strides (in elements; None for a by-value scalar).

        Args:
            program: what to compute.
            inputs: strides of the parameters.
            outputs: strides of the results.
            in_place: so many results are written over as many parameters, the first over the first: calls pass one
                buffer and offset for both, and perhaps for other parameters of the same type and strides. All other
                results share no memory with parameters.
            disjoint: no two parameters share memory.

        Raises:
            NotImplementedError: naming primitive, dtype and device, if the program cannot run here.
        """

    def describe(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
        sources: bool = False,
    ) -> Description:
        """What `compile` makes of the same arguments; by default the program's text.

        Args:
            program: see `compile`, as for the following.
            inputs: strides of the parameters.
            outputs: strides of the results.
            in_place: results that are written over parameters.
            disjoint: no two parameters share memory.
            sources: include the kernels' sources.
        """
        return Description(program.text(), len(program.instructions))

    def host_view(self, buffer: Any) -> np.ndarray | None:
        """`buffer` as a uint8 array sharing its memory; None when the host cannot see the memory."""
        return None

    def wrap_host(self, array: np.ndarray) -> Any | None:
        """A buffer sharing the memory of a uint8 array; None when the device cannot share host memory."""
        return None

    def supports(self, primitive: str, dtype: DType) -> Literal[True] | str:
        """True, or one sentence why `primitive` does not run with `dtype` on this device."""
        return True

    def synchronize(self, index: int) -> None:
        """Wait until all work submitted to device `index` is done."""

    def memory_stats(self, index: int) -> Mapping[str, int]:
        """The allocator's counters by PyTorch's names (``allocated_bytes.all.current`` ...); empty when it has none."""
        return {}

    def reset_peak_memory_stats(self, index: int) -> None:
        """Let the peaks among the counters start again from what is in use now."""

    def empty_cache(self) -> None:
        """Give cached memory back to the system."""

    def set_num_threads(self, count: int) -> None:
        """Let `count` threads of the host work on one kernel; for backends that compute on the host."""

    def get_num_threads(self) -> int:
        """How many threads of the host work on one kernel."""
        return 1
