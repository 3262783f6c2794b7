"""Loop kernels as machine code.

``build(kernel)`` gives the built-in function of a `LoopKernel`. Kernels that differ in sizes, offsets and strides
(beyond being 0, 1 or other) share one compiled code.
"""

from __future__ import annotations

from raxis_cpu.llvm.build import Built, build
from raxis_cpu.llvm.elementwise import supports
from raxis_cpu.llvm.entry import Argument
from raxis_cpu.llvm.runtime import set_parallel_for

__all__ = ["Argument", "Built", "build", "set_parallel_for", "supports"]
