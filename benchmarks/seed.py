"""Timing the cases with another raxis, in an interpreter of its own: two libraries of one name share no process.

`Seed` starts ``PYTHON -m benchmarks.seed``, which imports the ``raxis`` that is installed there, and asks it for one
round at a time, so that its rounds lie between those of the other libraries.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import all_cases
from benchmarks.cases.case import Case
from benchmarks.timing import microseconds


class Digest(NamedTuple):
    """What two results are compared by."""

    shape: tuple[int, ...]
    total: float
    magnitude: float

    def agrees(self, other: Digest) -> bool:
        """Whether both describe the same result, as far as they tell."""
        close = np.isclose(self[1:], other[1:], rtol=2e-3, atol=1e-3 * max(1.0, abs(other.magnitude)))
        return tuple(self.shape) == tuple(other.shape) and bool(np.all(close))


def digest(result: Any) -> Digest | None:
    """The digest of a tensor, or of the first of several; None for anything else."""
    if isinstance(result, (tuple, list)):
        return digest(result[0]) if result else None
    if not hasattr(result, "detach"):
        return None
    array = np.asarray(result.detach().numpy())
    parts = np.ascontiguousarray(array).view(array.real.dtype) if np.iscomplexobj(array) else array
    return Digest(array.shape, float(parts.sum(dtype=np.float64)), float(np.abs(parts).sum(dtype=np.float64)))


class Seed:
    """The other library; a context manager.

    Args:
        python: an interpreter whose environment has it (and NumPy).
        threads: how many it may use.
    """

    def __init__(self, python: str, threads: int) -> None:
        self._python = python
        self._threads = threads
        self._start()

    def _start(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": str(self._threads), "PYTHONPATH": str(Path.cwd())}
        command = [self._python, "-m", "benchmarks.seed", str(self._threads)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.version = self._receive()

    def __enter__(self) -> Seed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def _ask(self, **question: Any) -> Any:
        if self._process.stdin is None:
            raise RuntimeError("the process has no input")
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._receive()

    def _receive(self) -> Any:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise EOFError(f"{self._python} -m benchmarks.seed ended with status {self._process.wait()}")
        return json.loads(line)

    def prepare(self, case: int) -> Digest | None:
        """Make a case ready; its result's digest, None if the library does not have it (or dies of it)."""
        try:
            found = self._ask(case=case)
        except EOFError:
            self._start()
            return None
        return None if found is None else Digest(*found)

    def time(self, calls: int) -> float:
        """Microseconds of one call of the case at hand, in a round of at most so many calls."""
        return float(self._ask(calls=calls))


def _made(library: Any, case: Case) -> tuple[Callable[[], object] | None, Digest | None]:
    """The call of a case and its result's digest; nothing if the library raises."""
    try:
        call = case.make(library)
        return call, digest(case.compared(call())) or Digest((), 0.0, 0.0)
    except Exception:  # whatever a library that lacks something does
        return None, None


_ROUND_LIMIT = 0.25
"""Seconds; a round that would take longer has fewer calls."""


def _round(call: Callable[[], object], calls: int) -> float:
    once = microseconds(call, 1)
    return microseconds(call, max(1, min(calls, int(_ROUND_LIMIT * 1e6 / once))))


def main() -> None:
    """Answer questions until the input ends."""
    import raxis

    raxis.set_num_threads(int(sys.argv[1]))
    cases = list(all_cases())
    call: Callable[[], object] | None = None
    print(json.dumps(getattr(raxis, "__version__", "unknown")), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        if "case" in question:
            call, answer = None, None  # the former case's memory goes first
            call, answer = _made(raxis, cases[question["case"]])
        else:
            answer = None if call is None else _round(call, question["calls"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
