"""Threads and processes as programs have them: confined, forked, many at once; the same numbers everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cpu.test_device import in_native_process

_WORK = """
import json, os, sys, threading
from concurrent.futures import ThreadPoolExecutor
import multiprocessing, queue
import raxis
from raxis import nn
from raxis_cpu.blas import numpy_blas

def os_threads():
    folder = "/proc/self/task"
    return len(os.listdir(folder)) if os.path.isdir(folder) else 0

def blas_threads():
    return numpy_blas().get_num_threads() if numpy_blas() else raxis.get_num_threads()

def train(seed):
    source = raxis.Generator().manual_seed(seed)
    images = raxis.randn(64, 300, generator=source)
    weight = raxis.randn(300, 300, generator=source).requires_grad_()
    for _ in range(2):
        weight.grad = None
        loss = nn.functional.layer_norm((images @ weight).tanh(), (300,)).exp().mean()
        loss.backward()
    order = raxis.randn(30_000, generator=source).sort().values
    return [round(loss.item(), 5), round(weight.grad.abs().sum().item(), 3), round(order[17].item(), 5)]

expected = {seed: train(seed) for seed in range(4)}
"""

FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
AFFINITY = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there is no processor affinity")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_omp_num_threads_is_the_number_of_threads(count: int) -> None:
    found = in_native_process(
        _WORK + "print(json.dumps([raxis.get_num_threads(), os_threads()]))",
        OMP_NUM_THREADS=str(count), OPENBLAS_NUM_THREADS="1",
    )  # fmt: skip
    assert found[0] == count
    assert found[1] <= count


@AFFINITY
def test_a_confined_process_has_no_more_threads_than_processors() -> None:
    confined = """
import numpy, os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
before = len(os.listdir("/proc/self/task"))
"""
    found = in_native_process(
        confined + _WORK + "print(json.dumps([raxis.get_num_threads(), blas_threads(), os_threads() - before]))",
        OMP_NUM_THREADS="", OPENBLAS_NUM_THREADS="4",
    )  # fmt: skip
    assert found == [1, 1, 0]


def test_many_python_threads_at_once() -> None:
    """Kernels of all callers share one pool: threads do not multiply, and results stay what they were."""
    same, threads = in_native_process(
        _WORK
        + """
with ThreadPoolExecutor(8) as pool:
    found = list(pool.map(train, [number % 4 for number in range(48)]))
    threads = os_threads()
same = [result == expected[number % 4] for number, result in enumerate(found)]
print(json.dumps([all(same), threads]))
""",
        OMP_NUM_THREADS="2",
        OPENBLAS_NUM_THREADS="1",
    )
    assert same
    assert threads <= 1 + 8 + 1


@FORK
def test_children_of_a_pool_compute() -> None:
    found = in_native_process(
        _WORK
        + """
with multiprocessing.get_context("fork").Pool(3) as pool:
    children = pool.map(train, [0, 1, 2, 3] * 3)
print(json.dumps([children == [expected[seed] for seed in range(4)] * 3, train(2) == expected[2]]))
""",
        OMP_NUM_THREADS="2",
    )
    assert found == [True, True]


@FORK
def test_fork_while_other_threads_train() -> None:
    found = in_native_process(
        _WORK
        + """
stop = threading.Event()
def keep_training():
    while not stop.is_set():
        train(0)
busy = [threading.Thread(target=keep_training) for _ in range(3)]
for thread in busy:
    thread.start()
codes = []
for seed in (0, 1, 2, 3) * 2:
    child = os.fork()
    if child == 0:
        os._exit(0 if train(seed) == expected[seed] else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in busy:
    thread.join()
print(json.dumps(codes))
""",
        OMP_NUM_THREADS="2",
    )
    assert found == [0] * 8


@FORK
def test_fork_while_another_thread_adds_to_a_gradient() -> None:
    """Whatever guards the gradients of leaves is free in the child."""
    found = in_native_process(
        _WORK
        + """
stop = threading.Event()
large = raxis.zeros(4_000_000, requires_grad=True)
def keep_adding():
    while not stop.is_set():
        large.sum().backward()
busy = threading.Thread(target=keep_adding)
busy.start()
codes = []
for _ in range(5):
    child = os.fork()
    if child == 0:
        leaves = [raxis.ones(3, requires_grad=True) for _ in range(300)]
        for leaf in leaves * 2:
            leaf.sum().backward()
        os._exit(0 if all(leaf.grad.tolist() == [2.0] * 3 for leaf in leaves) else 1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
busy.join()
print(json.dumps(codes))
""",
        OMP_NUM_THREADS="2",
    )
    assert found == [0] * 5


@FORK
def test_workers_that_make_batches_for_a_training() -> None:
    """Worker processes send tensors, as a data loader's do, while the parent trains on them."""
    found = in_native_process(
        _WORK
        + """
def work(numbers, batches):
    for number in iter(numbers.get, None):
        batches.put((number, (raxis.arange(20_000.0).view(100, 200) * number).sin() + 1))

context = multiprocessing.get_context("fork")
numbers, batches = context.Queue(), context.Queue(4)
workers = [context.Process(target=work, args=(numbers, batches)) for _ in range(2)]
for worker in workers:
    worker.start()
for number in [*range(12), None, None]:
    numbers.put(number)
model, total = nn.Linear(200, 10), 0
for _ in range(12):
    number, batch = batches.get(timeout=60)
    total += raxis.equal(batch, (raxis.arange(20_000.0).view(100, 200) * number).sin() + 1)
    model(batch).square().mean().backward()
for worker in workers:
    worker.join()
print(json.dumps([total, [worker.exitcode for worker in workers]]))
""",
        OMP_NUM_THREADS="2",
    )
    assert found == [12, [0, 0]]


def test_processes_that_start_at_once_share_an_empty_cache(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path]),
        "RAXIS_CPU": "plugin",
        "RAXIS_CACHE": "on",
        "RAXIS_CACHE_DIR": str(tmp_path),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", _WORK + "print(json.dumps(expected))"]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(4)
    ]
    printed = [process.communicate(timeout=120) for process in running]
    assert [error for _, error in printed] == [""] * 4
    assert len({output for output, _ in printed}) == 1
