"""A process whose address space ends: errors that say so, and everything usable afterwards."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cpu.test_device import in_native_process

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="needs /proc and a limit that the system enforces"
)

_LIMITED = """
import json, resource, pathlib, raxis
left = (raxis.ones(300, 300, requires_grad=True) @ raxis.ones(300, 300)).exp().sum().backward()  # threads are started
pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (256 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

def attempt(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__module__}.{type(error).__name__}: {error}"
    return None

M = 1 << 20
"""


def test_second_attempt_without_the_cache() -> None:
    found = in_native_process(
        _LIMITED
        + """
held = raxis.ones(16 * M)
for _ in range(2):
    raxis.ones(16 * M)
small = [raxis.ones(8 * M), raxis.ones(4 * M)]
del small
reserved = raxis.cpu.memory_reserved()
big = raxis.ones(40 * M)
print(json.dumps([reserved > 110 * M, big.numel(), held[-1].item(), raxis.cpu.memory_stats()["num_alloc_retries"]]))
"""
    )
    assert found == [True, 40 << 20, 1.0, 1]


def test_error_says_what_is_held_cached_and_asked() -> None:
    error, after, failures = in_native_process(
        _LIMITED
        + """
held = raxis.ones(16 * M)
raxis.ones(8 * M)
raxis.cpu.empty_cache()
raxis.ones(8 * M)
error = attempt(lambda: raxis.ones(60 * M))
after = (held[:1000] * 2).sum().item()
print(json.dumps([error, after, raxis.cpu.memory_stats()["num_ooms"]]))
"""
    )
    assert error == (
        "raxis.errors.OutOfMemoryError: Out of memory on device 'cpu': an allocation of 256.00 MiB failed. Tensors "
        "hold 64.00 MiB in 1 buffer; 32.00 MiB of cached memory were given back before the second attempt. Free "
        "tensors that are no longer needed, or use smaller batches."
    )
    assert (after, failures) == (2000.0, 1)


def test_no_op_leaves_something_half_done() -> None:
    errors, values, version, grad = in_native_process(
        _LIMITED
        + """
held = raxis.ones(16 * M)
weight = raxis.ones(16 * M, requires_grad=True)
loss = (weight * 2).sum()
calls = [
    lambda: held.sort(),
    lambda: held.topk(3),
    lambda: held.repeat(64),
    lambda: held.expand(1 << 20, 16 * M).contiguous(),
    lambda: held.copy_(held.double() + 1),
    lambda: raxis.randperm(1 << 26),
    lambda: raxis.cat([held] * 5),
    lambda: held.unique(),
    lambda: held.topk(40, sorted=False),
    lambda: held.tile(2, 2).median(dim=1),
    lambda: held.view(4096, 4096).index_select(0, raxis.zeros(9000, dtype=raxis.int64)),
    lambda: raxis.nn.functional.conv2d(held.view(1, 1, 4096, 4096), raxis.ones(16, 1, 3, 3)),
]
errors = [attempt(call) for call in calls]
loss.backward()
print(json.dumps([errors, [held[0].item(), held[-1].item()], held._version, weight.grad[:3].tolist()]))
"""
    )
    assert all(error is not None and "raxis.errors.OutOfMemoryError: " in error for error in errors), errors
    assert (values, version, grad) == ([1.0, 1.0], 0, [2.0, 2.0, 2.0])


@pytest.mark.parametrize("size", [1 << 40, 1 << 60, (1 << 62) - 1])
def test_absurd_sizes(size: int) -> None:
    (error,) = in_native_process(_LIMITED + f"print(json.dumps([attempt(lambda: raxis.empty({size}))]))")
    assert "OutOfMemoryError: Out of memory on device 'cpu'" in error


def test_no_kernel_is_compiled_where_the_compiler_would_end_the_process(tmp_path: Path) -> None:
    error, freed = in_native_process(
        _LIMITED
        + """
held = []
while attempt(lambda: held.append(raxis.ones(M // 4))) is None:
    pass
error = attempt(lambda: held[0][:8].sinh().cosh().asinh())
del held[8:]
print(json.dumps([error, held[0][:8].mul(3).sinh().asinh().tolist()]))
""",
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert "OutOfMemoryError: Out of memory on device 'cpu'" in error
    np.testing.assert_allclose(freed, [3.0] * 8, rtol=1e-6)
