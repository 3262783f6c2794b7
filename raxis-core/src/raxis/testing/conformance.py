"""The kit as a file that pytest collects; see `raxis.testing.plugin`."""

from __future__ import annotations

from raxis.testing.suite import BackendSuite


class TestDevice(BackendSuite):
    """All cases for the device of ``--raxis-device``."""
