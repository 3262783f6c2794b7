"""Views, joining, indexing, creation and random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, side, tensor, values

Work = Callable[[ModuleType, Any], Any]
IndexedWork = Callable[[ModuleType, Any, Any], Any]

VIEWS: dict[str, Work] = {
    "x[3]": lambda lib, x: x[3],
    "x[2:5]": lambda lib, x: x[2:5],
    "x[:, None]": lambda lib, x: x[:, None],
    "transpose": lambda lib, x: x.transpose(0, 1),
    "reshape": lambda lib, x: x.reshape(-1),
    "permute": lambda lib, x: x.permute(1, 0),
    "expand": lambda lib, x: x[:1].expand(x.shape),
    "split": lambda lib, x: x.split(2),
    "squeeze": lambda lib, x: x.unsqueeze(0).squeeze(0),
}
MOVES: dict[str, Work] = {
    "clone": lambda lib, x: x.clone(),
    "contiguous of transposed": lambda lib, x: x.t().contiguous(),
    "cat rows": lambda lib, x: lib.cat([x, x, x]),
    "cat columns": lambda lib, x: lib.cat([x, x], 1),
    "stack": lambda lib, x: lib.stack([x, x]),
    "flip": lambda lib, x: x.flip(0),
    "roll": lambda lib, x: lib.roll(x, 1, 0),
    "tril": lambda lib, x: lib.tril(x),
    "pad": lambda lib, x: lib.nn.functional.pad(x, (1, 1, 1, 1)),
    "zeros_like": lambda lib, x: lib.zeros_like(x),
    "repeat": lambda lib, x: x.repeat(2, 1),
}
RANDOM: dict[str, Work] = {
    "rand": lambda lib, x: lib.rand(x.shape),
    "randn": lambda lib, x: lib.randn(x.shape),
    "randint": lambda lib, x: lib.randint(0, 10, x.shape),
    "bernoulli": lambda lib, x: lib.bernoulli(x.clamp(0, 1)),
    "dropout": lambda lib, x: lib.nn.functional.dropout(x, 0.5),
    "randperm": lambda lib, x: lib.randperm(x.shape[0]),
}


def _on(work: Work, array: np.ndarray, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, array))


def _indexed(
    work: Callable[[ModuleType, Any, Any], Any], array: np.ndarray, index: np.ndarray, lib: ModuleType
) -> Call:
    return partial(work, lib, tensor(lib, array), tensor(lib, index))


INDEXED: dict[str, IndexedWork] = {
    "x[rows]": lambda lib, x, i: x[i],
    "index_select": lambda lib, x, i: lib.index_select(x, 0, i),
    "gather": lambda lib, x, i: lib.gather(x, 0, i[:, None].expand(-1, x.shape[1])),
    "embedding": lambda lib, x, i: lib.nn.functional.embedding(i, x),
    "index_add": lambda lib, x, i: x.index_add(0, i, x),
    "scatter_add": lambda lib, x, i: x.scatter_add(0, i[:, None].expand(-1, x.shape[1]), x),
    "masked_fill": lambda lib, x, i: x.masked_fill(x > 1, 0.0),
    "x[mask]": lambda lib, x, i: x[x > 1],
    "nonzero": lambda lib, x, i: (x > 1).nonzero(),
    "x[i, j]": lambda lib, x, i: x[i, i],
    "masked_select": lambda lib, x, i: x.masked_select(x > 1),
    "masked_scatter": lambda lib, x, i: x.masked_scatter(x > 1, x),
    "index_copy": lambda lib, x, i: x.index_copy(0, i.sort().values, x[:1].expand(x.shape)),
    "index_put": lambda lib, x, i: x.index_put((i,), x, accumulate=True),
    "scatter_reduce": lambda lib, x, i: x.scatter_reduce(0, i[:, None].expand(-1, x.shape[1]), x, "amax"),
    "take": lambda lib, x, i: x.take(i),
    "one_hot": lambda lib, x, i: lib.nn.functional.one_hot(i, x.shape[0]),
    "bincount": lambda lib, x, i: lib.bincount(i),
    "repeat_interleave": lambda lib, x, i: x.repeat_interleave(2, 0),
}


def cases() -> Iterator[Case]:
    """All data-movement cases."""
    for name, work in VIEWS.items():
        yield Case("view", name, partial(_on, work, values((16, 16))), 256)
    for size in (64, 4096, 1 << 20):
        array = values((side(size), side(size)))
        for name, work in MOVES.items():
            yield Case("move", f"{name} {size}", partial(_on, work, array), size)
        for name, work in RANDOM.items():
            yield Case("random", f"{name} {size}", partial(_on, work, array), size, compare=False)
        rows = values((side(size),), "int64", 0, side(size))
        for name, both in INDEXED.items():
            yield Case("index", f"{name} {size}", partial(_indexed, both, array, rows), size)
    for size in (64, 1 << 20):
        yield Case("create", f"zeros {size}", lambda lib, n=size: partial(lib.zeros, n), size)
        yield Case("create", f"full {size}", lambda lib, n=size: partial(lib.full, (n,), 2.0), size)
        yield Case("create", f"arange {size}", lambda lib, n=size: partial(lib.arange, n), size)
