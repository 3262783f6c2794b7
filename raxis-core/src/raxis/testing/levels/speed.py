"""How fast the device is; informative, no case fails for being slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import raxis
import raxis.nn.functional as F
from raxis.tensor import Tensor
from raxis.testing.case import Case, Subject

LEVEL = "speed"

_REPEATS = 5

_WORK: Mapping[str, Callable[[Tensor], Tensor]] = {
    "add": lambda x: x + x,
    "exp": lambda x: x.exp(),
    "sum": lambda x: x.sum(),
    "softmax": lambda x: F.softmax(x, -1),
    "matmul": lambda x: x @ x,
    "transpose_copy": lambda x: x.t().contiguous(),
}


def _measure(name: str, subject: Subject) -> None:
    """Least time of a few, for a matrix of 512 x 512 and for one element."""
    for size in (512, 1):
        x = raxis.ones(size, size, device=subject.name)
        times = [_once(_WORK[name], x, subject) for _ in range(1 + _REPEATS)]
        subject.notes.setdefault(name, {})[f"{size} x {size}, ms"] = round(1e3 * min(times[1:]), 4)


def _once(work: Callable[[Tensor], Tensor], x: Tensor, subject: Subject) -> float:
    start = time.perf_counter()
    work(x)
    subject.backend.synchronize(subject.index)
    return time.perf_counter() - start


def cases() -> Iterator[Case]:
    """One case for each piece of work."""
    for name in _WORK:
        yield Case(LEVEL, name, partial(_measure, name))
