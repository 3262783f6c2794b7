"""The device keeps Raxis's protocol."""

from __future__ import annotations

from raxis.testing import BackendSuite


class TestOpenCL(BackendSuite):
    device = "opencl"
