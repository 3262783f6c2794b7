"""Kernels in languages of the C family: CUDA C++, OpenCL C, plain C.

`render` prints loop kernels for a `Dialect`; `KernelBackend` is a backend that needs only memory and a way to
compile and launch such kernels.
"""

from __future__ import annotations

from raxis.codegen.backend import KernelBackend
from raxis.codegen.c import C
from raxis.codegen.cuda import Cuda
from raxis.codegen.dialect import Dialect
from raxis.codegen.loops import render, render_check
from raxis.codegen.opencl import OpenCL
from raxis.codegen.rendered import Entry, Rendered

__all__ = ["C", "Cuda", "Dialect", "Entry", "KernelBackend", "OpenCL", "Rendered", "render", "render_check"]
