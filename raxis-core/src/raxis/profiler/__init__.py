"""Where the time goes, with PyTorch's interface: ops, backward nodes, compiled calls and the kernels inside them."""

from __future__ import annotations

from raxis.profiler.averages import EventList, FunctionEventAvg
from raxis.profiler.event import FunctionEvent
from raxis.profiler.export import tensorboard_trace_handler
from raxis.profiler.profile import profile, record_function
from raxis.profiler.schedules import ProfilerAction, ProfilerActivity, schedule, supported_activities

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
