"""A backend for devices that compile and launch kernels of a C-family dialect."""

from __future__ import annotations

import abc
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from raxis.backends.api import Backend, Description, Strides
from raxis.codegen.dialect import Dialect
from raxis.codegen.executable import DeviceProgram
from raxis.codegen.rendered import Rendered
from raxis.ptir.program import Program


class KernelBackend(Backend):
    """Runs programs as kernels printed by `raxis.codegen`; a device adds memory, a compiler and a way to launch.

    What has no kernel (factorizations, transforms, long sorts) runs on the host: the reference backend
    computes it on copies of the operands, and results are copied back.
    """

    dialect: Dialect

    def __init__(self) -> None:
        self._kernels: dict[str, Any] = {}
        self._compiling = threading.RLock()

    @abc.abstractmethod
    def build(self, name: str, source: str) -> Any:
        """Compile a source and return its function `name`, in the form that `launch` takes."""

    @abc.abstractmethod
    def launch(self, kernel: Any, groups: int, buffers: Sequence[Any], numbers: np.ndarray) -> None:
        """Run a kernel on `groups` work-groups of the dialect's size, after all that was submitted before.

        Args:
            kernel: what `build` made.
            groups: at least 1.
            buffers: what fills the kernel's slots; all are on one device.
            numbers: the run-time numbers, as int64.
        """

    @abc.abstractmethod
    def index_of(self, buffer: Any) -> int:
        """The device that a buffer is on."""

    def kernel(self, rendered: Rendered) -> Any:
        """The compiled kernel; kernels of the same text are compiled once."""
        with self._compiling:
            found = self._kernels.get(rendered.source)
            if found is None:
                found = self._kernels[rendered.source] = self.build(rendered.name, rendered.source)
            return found

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> DeviceProgram:
        return DeviceProgram(self, program, inputs, outputs, in_place=in_place, disjoint=disjoint)

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
        made = DeviceProgram(self, program, inputs, outputs, in_place=in_place, disjoint=disjoint)
        return made.description(sources=sources)
