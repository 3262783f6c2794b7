"""Scheduling: from portable programs to loop kernels and library calls, the same for every device."""

from __future__ import annotations

from raxis.schedule.loops import Access, Axis, Gather, LoopKernel, Node, Position, Store
from raxis.schedule.schedule import Buffer, LibraryStep, LoopStep, Number, Schedule
from raxis.schedule.scheduler import schedule
from raxis.schedule.target import Target

__all__ = [
    "Access",
    "Axis",
    "Buffer",
    "Gather",
    "LibraryStep",
    "LoopKernel",
    "LoopStep",
    "Node",
    "Number",
    "Position",
    "Schedule",
    "Store",
    "Target",
    "schedule",
]
