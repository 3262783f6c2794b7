"""Counting, distances, reductions over segments, and reductions of masked elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, gradient, side, tensor, values

Work = Callable[[ModuleType, Any, Any], Any]

COUNTS: dict[str, Work] = {
    "histc": lambda lib, x, i: lib.histc(x, 100, 0.0, 2.0),
    "histogram": lambda lib, x, i: lib.histogram(x, 100, range=(0.0, 2.0)),
    "bincount, weighted": lambda lib, x, i: lib.bincount(i, x),
    "bucketize": lambda lib, x, i: lib.bucketize(x, lib.linspace(0, 2, 65)),
    "segment_reduce": lambda lib, x, i: lib.segment_reduce(
        x.reshape(-1, 8), "sum", lengths=lib.full((x.numel() // 32,), 4), axis=0
    ),
    "index_reduce": lambda lib, x, i: lib.zeros(i.shape[0]).index_reduce(0, i, x, "amax"),
}
MASKED: dict[str, Work] = {
    "mean": lambda lib, x, m: lib.masked.mean(x, 1, mask=m),
    "var": lambda lib, x, m: lib.masked.var(x, 1, mask=m),
    "softmax": lambda lib, x, m: lib.masked.softmax(x, 1, mask=m),
}


def _on(work: Work, array: np.ndarray, second: np.ndarray, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, array), tensor(lib, second))


def _cdist(points: np.ndarray, p: float, backward: bool, lib: ModuleType) -> Call:
    x, y = tensor(lib, points, grad=backward), tensor(lib, values(points.shape, seed=1))
    distances = partial(lib.cdist, x, y, p)
    return gradient(x, distances) if backward else distances


def cases() -> Iterator[Case]:
    """All cases of counting, distances and masked reductions."""
    for size in (4096, 1 << 20):
        whole, bins = values((size,)), values((size,), "int64", 0, side(size))
        for name, work in COUNTS.items():
            yield Case("count", f"{name} {size}", partial(_on, work, whole, bins), size)
        square = whole.reshape(side(size), -1)
        for name, work in MASKED.items():
            make = partial(_on, work, square, values(square.shape, "bool", seed=1))
            yield Case("masked", f"masked {name} {size}", make, size)
    for n in (64, 512):
        points = values((n, 32))
        for p in (1.0, 2.0, 3.0):
            yield Case("distance", f"cdist {n} points, p={p:g}", partial(_cdist, points, p, False), n * n)
        yield Case("distance", f"gradient of cdist {n} points", partial(_cdist, points, 2.0, True), n * n)
    pairs = values((512, 32))
    yield Case("distance", "pdist 512 points", lambda lib: partial(lib.pdist, tensor(lib, pairs)), 512 * 512)
