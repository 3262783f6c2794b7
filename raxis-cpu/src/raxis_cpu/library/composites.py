"""Kernels of whole ops: attention, convolution, distances, transforms, pooling, selection without a sort, searches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from raxis.backends.api import KernelFactory
from raxis_cpu.library.attention import attention_kernels
from raxis_cpu.library.convolution_kernels import convolution_kernels
from raxis_cpu.library.distances import DISTANCES
from raxis_cpu.library.ordering import SELECTIONS
from raxis_cpu.library.pooling import pooling_kernels
from raxis_cpu.library.routine import Array
from raxis_cpu.library.scans import RUNNING
from raxis_cpu.library.searching import SEARCHES
from raxis_cpu.library.transforms import TRANSFORMS

HostView = Callable[[Any], Array]
"""A buffer as a uint8 array."""


def composites(host_view: HostView) -> Mapping[str, KernelFactory]:
    """Kernels for a backend's `composites`, by op name."""
    own = {**attention_kernels(host_view), **convolution_kernels(host_view), **pooling_kernels(host_view)}
    return {**SELECTIONS, **RUNNING, **SEARCHES, **DISTANCES, **TRANSFORMS, **own}
