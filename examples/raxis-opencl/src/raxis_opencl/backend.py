"""The backend of device ``opencl``: kernels printed by `raxis.codegen`, compiled and run by pyopencl."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyopencl as cl

from raxis.backends.api import DeviceProperties
from raxis.codegen import KernelBackend, OpenCL
from raxis.errors import BackendError
from raxis_opencl.memory import Buffer, Memory

_DOUBLE = "cl_khr_fp64"


class OpenCLBackend(KernelBackend):
    """Runs programs on the OpenCL devices of one platform that know 64-bit numbers.

    All devices share one context; each has an in-order queue, so that what is submitted later sees what was before.
    """

    dialect = OpenCL()

    def __init__(self) -> None:
        super().__init__()
        self._devices = _devices()
        self._context = cl.Context(self._devices)
        self._queues = [cl.CommandQueue(self._context, device) for device in self._devices]
        self._memory = [Memory(self._context, device) for device in self._devices]
        self._submitting = threading.Lock()  # a kernel object holds the arguments of one launch
        self._process = os.getpid()

    def device_count(self) -> int:
        return len(self._devices)

    def properties(self, index: int) -> DeviceProperties:
        device = self._devices[index]
        details = {
            "platform": device.platform.name,
            "version": device.version,
            "driver": device.driver_version,
        }
        return DeviceProperties(device.name.strip(), device.global_mem_size, details)

    # ---- memory ----------------------------------------------------------------------------------------

    def allocate(self, nbytes: int, index: int) -> Buffer:
        self._check_process()
        return Buffer(self._memory[index], nbytes, index)

    def copy_from_host(self, source: np.ndarray, buffer: Buffer, byte_offset: int) -> None:
        self._check_process()
        if source.size:
            cl.enqueue_copy(
                self._queues[buffer.index], buffer.content, source, dst_offset=byte_offset, is_blocking=True
            )

    def copy_to_host(self, buffer: Buffer, byte_offset: int, target: np.ndarray) -> None:
        self._check_process()
        if target.size:
            cl.enqueue_copy(
                self._queues[buffer.index], target, buffer.content, src_offset=byte_offset, is_blocking=True
            )

    def index_of(self, buffer: Buffer) -> int:
        return buffer.index

    def memory_stats(self, index: int) -> Mapping[str, int]:
        memory = self._memory[index]
        return {"allocated_bytes.all.current": memory.used, "allocated_bytes.all.peak": memory.peak}

    def reset_peak_memory_stats(self, index: int) -> None:
        self._memory[index].reset_peak()

    # ---- kernels ---------------------------------------------------------------------------------------

    def build(self, name: str, source: str) -> cl.Kernel:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # compilers have remarks
            return cl.Kernel(cl.Program(self._context, source).build(), name)

    def launch(self, kernel: cl.Kernel, groups: int, buffers: Sequence[Buffer], numbers: np.ndarray) -> None:
        self._check_process()
        size = self.dialect.group_size
        with self._submitting:
            for place, buffer in enumerate(buffers):
                kernel.set_arg(place, buffer.content)
            kernel.set_arg(len(buffers), numbers)
            cl.enqueue_nd_range_kernel(self._queues[buffers[0].index], kernel, (groups * size,), (size,))

    def synchronize(self, index: int) -> None:
        self._check_process()
        self._queues[index].finish()

    def _check_process(self) -> None:
        """OpenCL's threads do not exist in a forked child, where every call would wait for ever."""
        if os.getpid() != self._process:
            raise RuntimeError(
                "Device 'opencl' was used before this process was forked and cannot be used in the child; start "
                "processes by multiprocessing's 'spawn' or 'forkserver'."
            )


def _devices() -> list[Any]:
    """The devices of the first platform that has usable ones."""
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        platforms = []
    for platform in platforms:
        found = [device for device in platform.get_devices() if _DOUBLE in device.extensions.split()]
        if found:
            return found
    raise BackendError(
        "No OpenCL device with 64-bit floating point was found; install a driver, or `pip install "
        "pocl-binary-distribution` for one that runs on the processor."
    )
