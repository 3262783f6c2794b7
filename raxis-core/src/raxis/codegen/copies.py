"""Loop kernels that copy."""

from __future__ import annotations

from raxis.layout import Strides
from raxis.ptir.types import TensorType
from raxis.schedule.loops import Access, Axis, LoopKernel, Node, Store
from raxis.schedule.normalise import normalised


def copy_kernel(type: TensorType, source: Strides, target: Strides) -> LoopKernel:
    """Copies a tensor from slot 0 to slot 1."""
    axes = tuple(Axis(size) for size in type.shape)
    nodes = (Node("load", (), type.dtype, Access(0, tuple(source))),)
    stores = (Store(0, Access(1, tuple(target))),)
    return normalised(LoopKernel("copy", (type.dtype, type.dtype), axes, nodes, stores))
