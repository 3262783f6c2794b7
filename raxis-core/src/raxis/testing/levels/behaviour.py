"""Threads, processes, repetition, random numbers, errors."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import raxis
from raxis import dtypes
from raxis.errors import BackendError, OutOfMemoryError
from raxis.testing.case import Case, Skipped, Subject, named, require

LEVEL = "behaviour"

_THREADS, _ROUNDS = 6, 25
_FORK_SECONDS = 30.0


def _work(subject: Subject, number: int) -> float:
    x = raxis.full((64, 64), float(number), device=subject.name)
    return float((x @ x + x).sum().item())


def _threads(subject: Subject) -> None:
    """Threads that compute, allocate and copy at once get their own numbers."""

    def rounds(number: int) -> list[float]:
        return [_work(subject, number) for _ in range(_ROUNDS)]

    with ThreadPoolExecutor(_THREADS) as pool:
        results = list(pool.map(rounds, range(_THREADS)))
    for number, found in enumerate(results):
        expected = 64 * 64 * (64.0 * number * number + number)
        require(
            set(found) == {expected},
            f"thread {number} of {_THREADS} got {sorted(set(found))}, expected {expected}.",
        )


def _one_executable_in_threads(subject: Subject) -> None:
    """Threads call one executable at once."""
    x = raxis.arange(4096, dtype=dtypes.float32, device=subject.name)

    def run(number: int) -> bool:
        return all(float((x * number)[-1].item()) == 4095.0 * number for _ in range(_ROUNDS))

    with ThreadPoolExecutor(_THREADS) as pool:
        require(
            all(pool.map(run, range(_THREADS))), "threads that call one executable get each other's numbers."
        )


def _fork(subject: Subject) -> None:
    """A forked child computes, or raises; it neither hangs nor dies."""
    if not hasattr(os, "fork"):
        raise Skipped("the operating system has no fork.")
    _work(subject, 2)
    child = os.fork()
    if not child:
        os._exit(_child_status(subject))
    deadline = time.monotonic() + _FORK_SECONDS
    while time.monotonic() < deadline:
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            code = os.waitstatus_to_exitcode(status)
            require(code in (0, 1), f"a forked child that uses the device ended with {_ending(code)}.")
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    require(False, f"a forked child that uses the device hung for {_FORK_SECONDS:.0f} s.")


def _ending(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"wrong numbers (status {code})"


def _child_status(subject: Subject) -> int:
    """0 if the child computes right, 1 if it is refused, 2 if it computes wrong."""
    try:
        return 0 if _work(subject, 3) == 64 * 64 * (64.0 * 9 + 3) else 2
    except RuntimeError:
        return 1


def _determinism(subject: Subject) -> None:
    """The same ops give the same bits."""

    def run() -> bytes:
        raxis.manual_seed(3)
        x = raxis.randn(50, 50, device=subject.name)
        index = raxis.arange(50, device=subject.name) % 7
        summed = raxis.zeros(7, 50, device=subject.name).index_add_(0, index, x)
        parts = ((x @ x).softmax(1).sum(), summed.sum(), x.std())
        return np.array([part.item() for part in parts]).tobytes()

    require(len({run() for _ in range(4)}) == 1, "the same ops on the same numbers gave other bits.")


def _random_numbers(subject: Subject) -> None:
    """One seed gives the numbers that it gives on cpu; later draws give others."""
    draws: dict[str, Callable[[str], raxis.Tensor]] = {
        "rand": lambda device: raxis.rand(100, device=device),
        "randint": lambda device: raxis.randint(0, 1000, (100,), device=device),
        "bernoulli": lambda device: raxis.full((100,), 0.3, device=device).bernoulli(),
    }
    for name, draw in draws.items():
        found = []
        for device in (subject.name, "cpu"):
            raxis.manual_seed(11)
            found.append((draw(device).cpu(), draw(device).cpu()))
        (first, second), (right, _) = found
        require(raxis.equal(first, right), f"{name} with seed 11 gives other numbers than on cpu.")
        require(not raxis.equal(first, second), f"{name} gives the same numbers twice.")


def _no_growth(subject: Subject) -> None:
    """Ops in a loop keep nothing."""
    name = "allocated_bytes.all.current"
    stats = subject.backend.memory_stats
    if name not in stats(subject.index):
        raise Skipped("the device keeps no memory statistics.")
    x = raxis.ones(256, 256, device=subject.name, requires_grad=True)
    used = []
    for _ in range(12):
        (x @ x).relu().sum().backward()
        x.grad = None
        gc.collect()
        used.append(stats(subject.index)[name])
    require(used[-1] <= used[3] + 4096, f"memory in use grows from step to step: {used}.")


def _out_of_memory(subject: Subject) -> None:
    """A tensor too large raises OutOfMemoryError with device and size, and the device goes on."""
    try:
        raxis.empty(1 << 57, dtype=dtypes.uint8, device=subject.name)
    except OutOfMemoryError as error:
        require(subject.type in str(error), f"the out-of-memory text does not name the device: {error}")
    else:
        require(False, "a tensor of 2**57 bytes was made.")
    require(_work(subject, 1) == 64 * 64 * 65.0, "the device computes wrong after it was out of memory.")


def _errors(subject: Subject) -> None:
    """Wrong calls raise what they raise on cpu."""
    calls: dict[str, Callable[[str], object]] = {
        "shapes": lambda device: raxis.ones(2, 3, device=device) + raxis.ones(4, device=device),
        "matmul": lambda device: raxis.ones(2, 3, device=device) @ raxis.ones(2, 3, device=device),
        "index": lambda device: raxis.ones(3, device=device)[5],
        "take": lambda device: raxis.ones(3, device=device)[raxis.tensor([7], device=device)],
        "item": lambda device: raxis.ones(3, device=device).item(),
        "view": lambda device: raxis.ones(3, device=device).view(2),
        "leaf": lambda device: raxis.ones(3, device=device, requires_grad=True).add_(1),
        "integer_division": lambda device: raxis.ones(2, dtype=dtypes.int64, device=device).floor_divide(
            raxis.zeros(2, dtype=dtypes.int64, device=device)
        ),
        "singular": lambda device: raxis.linalg.inv(raxis.zeros(2, 2, device=device)),
    }
    for name, call in calls.items():
        kinds = [_error(call, device) for device in (subject.name, "cpu")]
        require(kinds[0] is kinds[1], f"{name}: raised {kinds[0]}, but {kinds[1]} on cpu.")


def _error(call: Callable[[str], object], device: str) -> type[Exception] | None:
    try:
        call(device)
    except Exception as error:
        return type(error)
    return None


def _mixed_devices(subject: Subject) -> None:
    if subject.type == "cpu":
        raise Skipped("it is cpu itself.")
    x, y = raxis.ones(3, device=subject.name), raxis.ones(3)
    try:
        raxis.add(x, y)
    except RuntimeError as error:
        text = str(error)
        require(subject.type in text and "cpu" in text, f"the error must name both devices: {text!r}.")
    else:
        require(False, f"a tensor on {subject.name} and one on cpu were added.")
    require((x + raxis.tensor(2.0)).tolist() == [3.0] * 3, "a number on cpu beside a device tensor is wrong.")


def _unknown_index(subject: Subject) -> None:
    if subject.type == "cpu":
        raise Skipped("there is one cpu, whatever its index.")
    wrong = f"{subject.type}:{subject.backend.device_count()}"
    try:
        raxis.ones(1, device=wrong)
    except BackendError as error:
        require(wrong in str(error), f"the error must name {wrong}: {error}")
    else:
        require(False, f"a tensor was made on {wrong}, which does not exist.")


def _synchronize(subject: Subject) -> None:
    x = raxis.ones(1000, device=subject.name)
    for _ in range(20):
        x = x + 1
    subject.backend.synchronize(subject.index)
    require(x[-1].item() == 21.0, f"twenty additions gave {x[-1].item()}, not 21.")


def _numbers_on_both_sides(subject: Subject) -> None:
    """`s - a` and then `a - s`, of one cache of kernels."""
    a = raxis.tensor([1.0, 2.0], device=subject.name)
    require((5 - a).tolist() == [4.0, 3.0], f"5 - [1, 2] is {(5 - a).tolist()}.")
    require((a - 5).tolist() == [-4.0, -3.0], f"[1, 2] - 5 is {(a - 5).tolist()}.")
    require((a - 6).tolist() == [-5.0, -4.0], f"[1, 2] - 6 is {(a - 6).tolist()}.")


def cases() -> Iterator[Case]:
    """Cases of behaviour."""
    checks = {
        "threads": _threads,
        "one_executable_in_threads": _one_executable_in_threads,
        "fork": _fork,
        "determinism": _determinism,
        "random_numbers": _random_numbers,
        "no_growth": _no_growth,
        "out_of_memory": _out_of_memory,
        "errors": _errors,
        "mixed_devices": _mixed_devices,
        "unknown_index": _unknown_index,
        "synchronize": _synchronize,
        "numbers_on_both_sides": _numbers_on_both_sides,
    }
    yield from named(LEVEL, checks)
