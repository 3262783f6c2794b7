"""What serves `cpu` keeps the protocol: the reference backend, or raxis-cpu with ``RAXIS_CPU=plugin``."""

from __future__ import annotations

import pytest

from raxis.testing import BackendSuite

pytestmark = pytest.mark.slow


class TestCpu(BackendSuite):
    device = "cpu"
