"""``python -m benchmarks.coldstart [--rounds N] [--json FILE]``: fresh processes up to their first results; sizes.

Every round starts processes with an empty kernel cache and with the cache that those left, and, where it is installed,
the same in torch. The first call is ``exp`` on 1,000 numbers; the step is an MLP 784-128-64-10, cross-entropy and Adam
on a batch of 64. Wall time is that of the process from before its first import; processor time next to it tells the
program's own work from waiting on a busy machine; resident memory is the most the process had. The installed size of a
library is that of its files, without bytecode.
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
try:
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
except ImportError:  # Windows
    print(0)
"""

_CALL = "import {library} as library; library.arange(1000.0).exp()[-1].item()"

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


class Figures(NamedTuple):
    """Milliseconds and resident MiB of one process, or their medians."""

    wall: float
    processor: float
    resident: float


def _run(body: str, cache: str) -> Figures:
    """The figures of a fresh process; bytecode is written as for an installed package."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"RAXIS_CPU": "plugin", "RAXIS_CACHE": "on", "RAXIS_CACHE_DIR": cache}
    command = [sys.executable, "-c", _CLOCK.format(body=body)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    wall, processor, resident = (float(part) for part in run.stdout.split())
    return Figures(wall * 1e3, processor * 1e3, resident / _RESIDENT_UNITS)


_RESIDENT_UNITS = 1 << 20 if sys.platform == "darwin" else 1 << 10
"""How many of the units that the system counts resident memory in make a MiB."""


def _round() -> dict[str, Figures]:
    found = {"import numpy": _run("import numpy", "")}
    for library in _libraries():
        found[f"import {library}"] = _run(f"import {library}", "")
        for label, program in (("first call", _CALL), ("first step", _STEP)):
            body = program.format(library=library)
            if library == "torch":
                found[f"torch {label}"] = _run(body, "")
                continue
            with tempfile.TemporaryDirectory() as cache:
                found[f"raxis {label}, empty cache"] = _run(body, cache)
                found[f"raxis {label}, warm cache"] = _run(body, cache)
    return found


def _libraries() -> list[str]:
    return ["raxis", "torch"] if importlib.util.find_spec("torch") else ["raxis"]


def installed_mebibytes() -> dict[str, float]:
    """Sizes of packages: what raxis brings, what it needs, and torch where it is installed."""
    packages = ("raxis", "raxis_cpu", "numpy", "llvmlite", "ml_dtypes", "torch")
    return {name: sum(map(_bytes_below, _folders(name))) / (1 << 20) for name in packages if _folders(name)}


def _folders(package: str) -> list[Path]:
    """Where the files of a package lie, the libraries that its wheel brought included."""
    spec = importlib.util.find_spec(package)
    if spec is None:
        return []
    folders = [Path(place) for place in spec.submodule_search_locations or ()]
    return [
        folder
        for place in folders
        for folder in (place, place.with_name(f"{package}.libs"))
        if folder.is_dir()
    ]


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def measure(rounds: int = 5) -> dict[str, Figures]:
    """Medians over rounds; one more round before them, which fills bytecode and disk caches, does not count."""
    measured = [_round() for _ in range(rounds + 1)][1:]
    return {
        name: Figures(
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
    results, sizes = measure(options.rounds), installed_mebibytes()
    print(f"{'fresh process':28} {'wall ms':>9} {'processor ms':>13} {'resident MiB':>13}")
    for name, figures in results.items():
        print(f"{name:28} {figures.wall:9.0f} {figures.processor:13.0f} {figures.resident:13.0f}")
    print(f"\n{'installed package':28} {'MiB':>9}")
    for name, size in sizes.items():
        print(f"{name:28} {size:9.1f}")
    if options.json:
        processes = {name: figures._asdict() for name, figures in results.items()}
        options.json.write_text(json.dumps({"processes": processes, "installed_mib": sizes}, indent=2))


if __name__ == "__main__":
    main()
