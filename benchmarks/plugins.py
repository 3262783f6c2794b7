"""``python -m benchmarks.plugins [--rounds N]``: import time of raxis with and without ten broken plugins installed."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.devices.plugins import install_broken

_PROGRAM = """
import numpy, time
start = time.perf_counter()
import raxis
print((time.perf_counter() - start) * 1e3)
"""


def import_ms(folder: Path) -> float:
    """Milliseconds of importing raxis after NumPy in a fresh process with `folder` on its path."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, sys.path)])
    command = [sys.executable, "-c", _PROGRAM]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(run.stdout)


def compare(rounds: int) -> dict[str, list[float]]:
    """Times with an empty folder and with the plugins, interleaved, after a round that writes bytecode."""
    with tempfile.TemporaryDirectory() as name:
        folders = {"without": Path(name, "empty"), "with": Path(name, "broken")}
        for folder in folders.values():
            folder.mkdir()
        install_broken(folders["with"])
        found: dict[str, list[float]] = {label: [] for label in folders}
        for _ in range(rounds + 1):
            for label, folder in folders.items():
                found[label].append(import_ms(folder))
    return {label: times[1:] for label, times in found.items()}


def main() -> None:
    """Print medians, minima and their differences."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plugins", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    found = compare(parser.parse_args().rounds)
    print(f"{'import raxis, ms':24} {'median':>8} {'least':>8}")
    figures = {label: (statistics.median(times), min(times)) for label, times in found.items()}
    for label, (median, least) in figures.items():
        print(f"{label + ' ten broken plugins':24} {median:8.2f} {least:8.2f}")
    more = [there - here for there, here in zip(figures["with"], figures["without"], strict=True)]
    print(f"{'difference':24} {more[0]:8.2f} {more[1]:8.2f}")


if __name__ == "__main__":
    main()
