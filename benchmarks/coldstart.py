"""``python -m benchmarks.coldstart [--rounds N] [--json FILE]``: fresh processes up to their first training step.

Every round starts one process with an empty kernel cache and one with the cache that the former left, and, where they
are installed, the same step in torch and the bare imports. The step is an MLP 784-128-64-10, cross-entropy and Adam on
a batch of 64. Wall time is that of the process from before its first import; processor time next to it tells the
program's own work from waiting on a busy machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

_CLOCK = """
import time
_start, _used = time.perf_counter(), time.process_time()
{body}
print(time.perf_counter() - _start, time.process_time() - _used)
"""

_STEP = """
import {library} as library
from {library} import nn
model = nn.Sequential(
    nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
)
optimizer = library.optim.Adam(model.parameters(), lr=1e-3)
images, labels = library.randn(64, 784), library.randint(0, 10, (64,))
optimizer.zero_grad()
loss = nn.functional.cross_entropy(model(images), labels)
loss.backward()
optimizer.step()
loss.item()
"""


class Times(NamedTuple):
    """Milliseconds of one process, or their medians."""

    wall: float
    processor: float


def _run(body: str, cache: str) -> Times:
    """The times of a fresh process; bytecode is written as for an installed package."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"RAXIS_CPU": "plugin", "RAXIS_CACHE": "on", "RAXIS_CACHE_DIR": cache}
    command = [sys.executable, "-c", _CLOCK.format(body=body)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    wall, processor = (float(part) * 1e3 for part in run.stdout.split())
    return Times(wall, processor)


def _round() -> dict[str, Times]:
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        step = _STEP.format(library="raxis")
        found["import numpy"] = _run("import numpy", cache)
        found["import raxis"] = _run("import raxis", cache)
        found["raxis step, empty cache"] = _run(step, cache)
        found["raxis step, warm cache"] = _run(step, cache)
        if importlib.util.find_spec("torch"):
            found["import torch"] = _run("import torch", cache)
            found["torch step"] = _run(_STEP.format(library="torch"), cache)
    return found


def measure(rounds: int = 5) -> dict[str, Times]:
    """Medians over rounds; one more round before them, which fills bytecode and disk caches, does not count."""
    measured = [_round() for _ in range(rounds + 1)][1:]
    return {
        name: Times(
            *(statistics.median(column) for column in zip(*(each[name] for each in measured), strict=True))
        )
        for name in measured[0]
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coldstart", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    results = measure(options.rounds)
    print(f"{'fresh process':28} {'wall ms':>9} {'processor ms':>13}")
    for name, times in results.items():
        print(f"{name:28} {times.wall:9.0f} {times.processor:13.0f}")
    if options.json:
        options.json.write_text(
            json.dumps({name: times._asdict() for name, times in results.items()}, indent=2)
        )


if __name__ == "__main__":
    main()
