"""Complex arithmetic, functions, reductions and products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, side, tensor, values

Work = Callable[[ModuleType, Any, Any], Any]

COMPLEX: dict[str, Work] = {
    "add": lambda lib, x, y: x + y,
    "mul": lambda lib, x, y: x * y,
    "abs": lambda lib, x, y: x.abs(),
    "exp": lambda lib, x, y: x.exp(),
    "sum": lambda lib, x, y: x.sum(),
    "prod dim 1": lambda lib, x, y: x.prod(1),
}


def _complex(size: int, seed: int) -> np.ndarray:
    """Numbers near the unit circle, of which products neither vanish nor overflow."""
    angles = values((side(size), side(size)), low=-3.0, high=3.0, seed=seed)
    return np.asarray(np.exp(1j * angles), dtype=np.complex64)


def _on(work: Work, size: int, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, _complex(size, 0)), tensor(lib, _complex(size, 1)))


def cases() -> Iterator[Case]:
    """All complex cases."""
    for size in (1 << 16, 1 << 20):
        for name, work in COMPLEX.items():
            yield Case("complex", f"complex {name} {size}", partial(_on, work, size), size)
    for n in (64, 256):
        yield Case("complex", f"complex matmul {n}", partial(_on, lambda lib, x, y: x @ y, n * n), n * n)
