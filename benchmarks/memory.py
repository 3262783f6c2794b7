"""``python -m benchmarks.memory [--steps N] [--json FILE]``: memory over the steps of a training.

The step is a small network with dropout, batch normalisation, cross-entropy, gradient clipping and AdamW, on
batches of which every tenth is smaller. Printed are, at some steps, the bytes that tensors hold, those with what the
allocator keeps for reuse, the resident memory of the process, and the objects that the garbage collector knows. All
four settle within the first steps.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import raxis
from raxis import nn

_BATCH = 128


class Level(NamedTuple):
    """What is held after so many steps; bytes, except for `objects`."""

    step: int
    allocated: int
    reserved: int
    resident: int
    objects: int


def resident_bytes() -> int:
    """Resident memory of this process; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def training_step() -> Callable[[int], None]:
    """A function that makes step number `n`."""
    model = nn.Sequential(
        nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 10)
    )
    optimizer = raxis.optim.AdamW(model.parameters(), lr=1e-3)
    images, labels = raxis.randn(_BATCH, 64), raxis.randint(0, 10, (_BATCH,))

    def step(number: int) -> None:
        size = _BATCH // 2 if number % 10 == 9 else _BATCH
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[:size]), labels[:size])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def measure(steps: int) -> list[Level]:
    """Levels after 1, 3, 10, 30, ... steps and at the end."""
    step, levels = training_step(), []
    stops = sorted({steps, *(base * 10**power for power in range(8) for base in (1, 3))})
    for number in range(steps):
        step(number)
        if number + 1 in stops:
            gc.collect()
            levels.append(_level(number + 1))
    return levels


def _level(step: int) -> Level:
    return Level(
        step,
        raxis.cpu.memory_allocated(),
        raxis.cpu.memory_reserved(),
        resident_bytes(),
        len(gc.get_objects()),
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="training steps (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    levels = measure(options.steps)
    print(f"{'step':>8} {'allocated KiB':>14} {'reserved KiB':>14} {'resident KiB':>14} {'objects':>10}")
    for level in levels:
        sizes = " ".join(f"{nbytes / 1024:14.0f}" for nbytes in level[1:4])
        print(f"{level.step:8} {sizes} {level.objects:10}")
    if options.json:
        options.json.write_text(json.dumps([level._asdict() for level in levels], indent=1))


if __name__ == "__main__":
    main()
