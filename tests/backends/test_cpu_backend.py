"""raxis-cpu serves the backend protocol: memory, copies and programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import raxis_cpu
from raxis import dtypes
from raxis.backends.api import API
from raxis.ptir.builder import Builder
from raxis.ptir.types import TensorType
from raxis_cpu.backend import CpuBackend
from raxis_cpu.machine import total_memory


@pytest.fixture(scope="module")
def backend() -> CpuBackend:
    return raxis_cpu.load()


def test_handshake() -> None:
    assert raxis_cpu.API <= API
    assert raxis_cpu.API[0] == API[0]
    assert raxis_cpu.probe() is None


def test_plugin_module_imports_the_standard_library_only() -> None:
    code = (
        "import sys; before = set(sys.modules); import raxis_cpu; raxis_cpu.probe();"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['raxis_cpu']"


def test_properties(backend: CpuBackend) -> None:
    properties = backend.properties(0)
    assert backend.device_count() == 1
    assert properties.name
    assert properties.details["cores"] == str(os.cpu_count())
    assert properties.total_memory == total_memory() > 1 << 20


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_total_memory_knows_a_containers_limit(tmp_path: Path, name: str) -> None:
    limit = tmp_path / name
    limit.parent.mkdir(exist_ok=True)
    physical = total_memory(tmp_path)
    for text, expected in (
        ("1048576\n", 1 << 20),
        ("max\n", physical),
        ("0\n", physical),
        (str(1 << 62), physical),
    ):
        limit.write_text(text)
        assert total_memory(tmp_path) == expected


def test_copies_go_to_and_from_any_offset(backend: CpuBackend) -> None:
    buffer = backend.allocate(10, 0)
    backend.copy_from_host(np.arange(10, dtype=np.uint8), buffer, 0)
    backend.copy_from_host(np.array([77, 78], np.uint8), buffer, 3)
    target = np.empty(4, np.uint8)
    backend.copy_to_host(buffer, 2, target)
    assert target.tolist() == [2, 77, 78, 5]
    assert np.shares_memory(backend.host_view(buffer), buffer)
    assert backend.wrap_host(target) is target


@pytest.mark.parametrize("shape", [(3, 5), (0, 4), ()])
def test_matrix_sum_matches_numpy(
    backend: CpuBackend, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    """Operand one is transposed, operand two starts at an offset."""
    left, right = (
        rng.standard_normal(shape[::-1]).astype(np.float32),
        rng.standard_normal(shape).astype(np.float32),
    )
    builder = Builder("sum")
    operands = [builder.parameter(TensorType(dtypes.float32, shape)) for _ in range(2)]
    program = builder.build(builder.emit_all("add", operands, {}))
    transposed, straight = (tuple(s // 4 for s in array.strides) for array in (left.T, right))
    executable = backend.compile(program, [transposed, straight], [straight])
    buffers = [backend.allocate(4 * left.size + 12, 0) for _ in range(3)]
    backend.copy_from_host(left.reshape(-1).view(np.uint8), buffers[0], 0)
    backend.copy_from_host(right.reshape(-1).view(np.uint8), buffers[1], 12)
    assert executable(buffers[0], 0, buffers[1], 3, buffers[2], 0) is None
    result = np.empty(right.size, np.float32)
    backend.copy_to_host(buffers[2], 0, result.view(np.uint8))
    np.testing.assert_array_equal(result.reshape(shape), left.T + right)


def test_memory_statistics_follow_buffers(backend: CpuBackend) -> None:
    name = "allocated_bytes.all.current"
    before = backend.memory_stats(0)[name]
    backend.reset_peak_memory_stats(0)
    buffer = backend.allocate(1 << 20, 0)
    assert backend.memory_stats(0)[name] == before + len(buffer)
    del buffer
    assert backend.memory_stats(0)[name] == before
    assert backend.memory_stats(0)["allocated_bytes.all.peak"] == before + (1 << 20)
    backend.empty_cache()
    assert backend.memory_stats(0)["reserved_bytes.all.current"] == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_child_can_allocate() -> None:
    code = (
        "import os, raxis_cpu; b = raxis_cpu.load(); b._allocator._lock.acquire()\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(len(b.allocate(1 << 20, 0)) >> 18)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "4"
