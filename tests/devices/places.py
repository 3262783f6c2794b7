"""The devices that these tests are about."""

from __future__ import annotations

import raxis

THIRD_PARTY = ["north:0", "north:1", "south:0"]
"""Of the fixture `installed`; and OpenCL's, where raxis-opencl is installed and there is one."""
if raxis.backends.is_available("opencl"):
    THIRD_PARTY.append("opencl:0")
