"""The pool of native threads: every index once, many callers, forks, exits."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import raxis
from raxis_cpu import threads
from raxis_cpu.blas import numpy_blas
from raxis_cpu.threads import MAX_THREADS, default_num_threads, thread_pool
from raxis_cpu.threads_ir import PIECES
from tests.cpu.native import body


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The number of threads before the test, again after it."""
    before = threads.get_num_threads()
    yield
    threads.set_num_threads(before)


def marked(count: int, grain: int) -> np.ndarray:
    """How often each of `count` indices was visited; one byte beyond must stay 0."""
    memory = np.zeros(count + 1, np.uint8)
    thread_pool().run(body("mark"), memory.ctypes.data, count, grain)
    assert memory[-1] == 0
    return memory[:-1]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
@pytest.mark.parametrize("grain", [1, 3, 64])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 63, 64, 65, 1001, 100_003])
def test_every_index_is_visited_once(limit: int, grain: int, count: int) -> None:
    threads.set_num_threads(limit)
    assert (marked(count, grain) == 1).all()


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_every_index_is_visited_once_in_jobs_of_either_direction(limit: int) -> None:
    threads.set_num_threads(limit)
    for _ in range(4):
        assert (marked(1013, 3) == 1).all()


@pytest.mark.parametrize("limit", [1, 2])
def test_kernels_run_in_either_direction(limit: int) -> None:
    threads.set_num_threads(limit)
    numbers = np.arange(300_007, dtype=np.float64)
    x = raxis.from_numpy(numbers)
    for _ in range(4):
        np.testing.assert_array_equal((x * 2 + 1).numpy(), numbers * 2 + 1)
        assert x.sum().item() == numbers.sum()


def test_pieces_begin_at_multiples_of_the_grain() -> None:
    threads.set_num_threads(3)
    begins = np.zeros(1000, np.int64)
    thread_pool().run(body("count_begin"), begins.ctypes.data, 1000, 7)
    assert set(np.flatnonzero(begins) % 7) == {0}
    assert begins.max() == 1
    assert 2 <= begins.sum() <= 3 * PIECES


def test_ranges_up_to_the_grain_are_not_split() -> None:
    threads.set_num_threads(4)
    begins = np.zeros(64, np.int64)
    thread_pool().run(body("count_begin"), begins.ctypes.data, 64, 64)
    assert begins[0] == 1
    assert begins.sum() == 1


def test_for_each_calls_a_task_for_every_index() -> None:
    threads.set_num_threads(2)
    memory = np.zeros(1001, np.uint8)
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    call(thread_pool().for_each)(body("mark_one"), memory.ctypes.data, 1000)
    assert (memory[:-1] == 1).all()
    assert memory[-1] == 0


def test_a_job_inside_a_job_runs_in_its_callers_thread() -> None:
    threads.set_num_threads(3)
    rows, width = 50, 40
    memory = np.zeros((rows, width), np.uint8)
    job = (ctypes.c_uint64 * 3)(thread_pool().parallel_for, memory.ctypes.data, width)
    thread_pool().run(body("mark_rows"), ctypes.addressof(job), rows, 1)
    assert (memory == 1).all()


def test_workers_wake_up_after_having_slept() -> None:
    threads.set_num_threads(2)
    for _ in range(5):
        assert (marked(10_000, 16) == 1).all()
        time.sleep(0.02)


def test_many_python_threads_and_changing_counts() -> None:
    failures = []

    def call() -> None:
        for count in range(300):
            if not (marked(count * 13, 5) == 1).all():
                failures.append(count)

    callers = [threading.Thread(target=call) for _ in range(6)]
    for caller in callers:
        caller.start()
    while any(caller.is_alive() for caller in callers):
        for limit in (1, 2, 5):
            threads.set_num_threads(limit)
    for caller in callers:
        caller.join()
    assert not failures


def _in_child(work: object) -> int:
    """The exit status of a forked child that runs `work`."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # the child must not go on with the test session
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    threads.set_num_threads(2)
    marked(100_000, 8)

    def work() -> None:
        for _ in range(20):
            assert (marked(100_000, 8) == 1).all()
        tasks = Path("/proc/self/task")
        if tasks.is_dir():
            assert len(list(tasks.iterdir())) == 2

    assert _in_child(work) == 0
    assert (marked(1000, 8) == 1).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_fork_while_another_thread_is_computing() -> None:
    threads.set_num_threads(2)
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            marked(300_000, 8)

    busy = threading.Thread(target=keep_busy)
    busy.start()
    try:
        statuses = [_in_child(lambda: marked(10_000, 8)) for _ in range(10)]
    finally:
        stop.set()
        busy.join()
    assert statuses == [0] * 10


_PROGRAM = """
import numpy as np, threading
from raxis_cpu.threads import thread_pool, set_num_threads
from tests.cpu.native import body
set_num_threads(4)
memory = np.zeros(100_000, np.uint8)
def work():
    while True:
        thread_pool().run(body("mark"), memory.ctypes.data, memory.size, 8)
{start}
thread_pool().run(body("mark"), memory.ctypes.data, memory.size, 8)
"""


@pytest.mark.parametrize("start", ["", "threading.Thread(target=work, daemon=True).start()"])
def test_exit_with_running_threads(start: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(start=start)],
            check=False, capture_output=True, text=True, timeout=60, env=environment,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("value", "expected"), [("3", 3), (" 4 ,2", 4), ("1000000", MAX_THREADS)])
def test_omp_num_threads_is_respected(monkeypatch: pytest.MonkeyPatch, value: str, expected: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert default_num_threads() == expected


@pytest.mark.parametrize("value", ["", "0", "-2", "many"])
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="there is no processor affinity")
def test_affinity_is_respected(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    allowed = os.sched_getaffinity(0)
    assert default_num_threads() == min(len(allowed), MAX_THREADS)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert default_num_threads() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_numpys_blas_follows() -> None:
    blas = numpy_blas()
    if blas is None:
        pytest.skip("NumPy has a BLAS other than OpenBLAS")
    threads.set_num_threads(2)
    assert blas.get_num_threads() == 2
    threads.set_num_threads(1)
    assert blas.get_num_threads() == 1


@pytest.mark.parametrize("count", [0, -1, MAX_THREADS + 1])
def test_wrong_counts(count: int) -> None:
    before = threads.get_num_threads()
    with pytest.raises(RuntimeError, match=str(count)):
        threads.set_num_threads(count)
    assert threads.get_num_threads() == before


@pytest.mark.parametrize(
    ("count", "error"), [(0, RuntimeError), (-3, RuntimeError), (2.0, TypeError), (True, TypeError)]
)
def test_wrong_counts_of_the_public_function(count: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="set_num_threads expects"):
        raxis.set_num_threads(count)
