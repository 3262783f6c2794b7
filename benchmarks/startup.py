"""Import time in fresh processes, interleaved."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

_PROGRAM = """
import time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import raxis
print(middle - start, time.perf_counter() - middle)
"""


def import_times(rounds: int = 9) -> tuple[float, float]:
    """Median milliseconds of importing NumPy, and of importing raxis after it.

    The first round writes the bytecode files that an installed package has, and does not count.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    pairs = []
    for _ in range(rounds + 1):
        run = subprocess.run(
            [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True, env=environment
        )
        pairs.append([float(part) * 1e3 for part in run.stdout.split()])
    numpy_ms, raxis_ms = zip(*pairs[1:], strict=True)
    return statistics.median(numpy_ms), statistics.median(raxis_ms)
