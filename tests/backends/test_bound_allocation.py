"""`Backend.allocator` is `allocate` for one size."""

from __future__ import annotations

import numpy as np
import pytest

from raxis.backends.reference.backend import ReferenceBackend


@pytest.mark.parametrize("nbytes", [0, 7, 1 << 14, (1 << 14) + 1, 1 << 20])
def test_each_call_gives_memory_of_its_own(nbytes: int) -> None:
    package = pytest.importorskip("raxis_cpu.backend")
    for backend in (ReferenceBackend(), package.CpuBackend()):
        allocate = backend.allocator(nbytes, 0)
        first, second = allocate(), allocate()
        assert first.nbytes == second.nbytes == backend.allocate(nbytes, 0).nbytes == nbytes
        assert not np.shares_memory(first, second)
