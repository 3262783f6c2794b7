"""`raxis.cpu`: what is said of the device, and memory counted by PyTorch's names."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import raxis
from raxis_cpu.backend import CpuBackend


def in_native_process(program: str, **environment: str) -> Any:
    """The JSON that a fresh process on raxis-cpu prints as its last line; its children do not outlive it."""
    paths = os.pathsep.join([str(Path.cwd()), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "RAXIS_CPU": "plugin", "PYTHONPATH": paths} | environment,
    ) as process:  # fmt: skip
        try:
            printed, errors = process.communicate(timeout=240)
        except BaseException:
            with contextlib.suppress(OSError, AttributeError):  # Windows has no groups of processes
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            raise
    assert process.returncode == 0, errors
    return json.loads(printed.splitlines()[-1])


def test_questions_have_pytorchs_answers() -> None:
    for name in ("is_available", "device_count", "current_device", "synchronize"):
        assert getattr(raxis.cpu, name)() == getattr(torch.cpu, name)()
    assert raxis.cpu.get_device_name() == raxis.cpu.get_device_properties("cpu").name


def test_counters_have_pytorchs_names() -> None:
    torchs = {
        "allocated_bytes",
        "allocation",
        "num_alloc_retries",
        "num_device_alloc",
        "num_ooms",
        "reserved_bytes",
    }
    names = CpuBackend().memory_stats(0)
    assert {name.partition(".")[0] for name in names} == torchs
    assert {name.rpartition(".")[2] for name in names if "." in name} == {
        "current",
        "peak",
        "allocated",
        "freed",
    }


@pytest.mark.parametrize("call", [raxis.cpu.memory_stats, raxis.cpu.memory_allocated, raxis.cpu.synchronize])
def test_other_devices_are_refused(call: Any) -> None:
    with pytest.raises(ValueError, match="Expected a cpu device, but got: meta"):
        call("meta")
    with pytest.raises(raxis.backends.BackendError, match="cpu:3"):
        call(3)


def test_memory_of_tensors_is_counted() -> None:
    program = """
import json, raxis
from raxis import cpu
def figures():
    return [cpu.memory_allocated() - start, cpu.max_memory_allocated() - start, cpu.memory_reserved() - start]
raxis.zeros(1)
start = cpu.memory_allocated()
found = []
x = raxis.zeros(1 << 18); found.append(figures())
y = x + 1; view = y[5:]; found.append(figures())
del y; found.append(figures())
del view; found.append(figures())
cpu.reset_peak_memory_stats("cpu"); found.append(figures())
cpu.empty_cache(); found.append(figures())
print(json.dumps(found))
"""
    mib = 1 << 20
    assert in_native_process(program) == [
        [mib, mib, mib],
        [2 * mib, 2 * mib, 2 * mib],
        [2 * mib, 2 * mib, 2 * mib],
        [mib, 2 * mib, 2 * mib],
        [mib, mib, 2 * mib],
        [mib, mib, mib],
    ]


def test_arrays_stay_shared_and_are_not_counted() -> None:
    program = """
import json, numpy as np, raxis
array = np.zeros(1 << 20, np.float32)
before = raxis.cpu.memory_allocated()
tensor = raxis.from_numpy(array)
tensor.add_(2); array[1] = 5
print(json.dumps([raxis.cpu.memory_allocated() - before, float(array[0]), tensor[1].item(),
                  bool(np.shares_memory(tensor.numpy(), array))]))
"""
    assert in_native_process(program) == [0, 2.0, 5.0, True]


@pytest.mark.slow
def test_memory_of_a_training_returns_to_the_same_level() -> None:
    program = """
import json
from benchmarks.memory import measure
print(json.dumps([level._asdict() for level in measure(10_000)]))
"""
    levels = in_native_process(program, OMP_NUM_THREADS="2")
    settled = [level for level in levels if level["step"] >= 100]
    assert [level["step"] for level in settled] == [100, 300, 1000, 3000, 10_000]
    assert len({level["allocated"] for level in settled}) == 1
    assert len({level["reserved"] for level in settled}) == 1
    assert settled[-1]["objects"] - settled[0]["objects"] <= 10
    assert settled[-1]["resident"] - settled[0]["resident"] < 4 << 20
