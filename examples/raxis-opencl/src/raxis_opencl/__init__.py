"""The device ``opencl`` of Raxis: version of the protocol, probe, and the way to the backend."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raxis_opencl.backend import OpenCLBackend

API = (1, 0)
"""The version of `raxis.backends.api` that this plugin was written for."""


def probe() -> str | None:
    """None when pyopencl is installed, else one sentence; whether there is a device is found by loading."""
    if importlib.util.find_spec("pyopencl") is None:
        return "The package pyopencl is not installed; run `pip install pyopencl`."
    return None


def load() -> OpenCLBackend:
    """The backend object."""
    from raxis_opencl.backend import OpenCLBackend

    return OpenCLBackend()
