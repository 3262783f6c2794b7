"""Reductions, scans, sorting."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, side, tensor, values

SIZES = (64, 4096, 1 << 20)


def _call(name: str, array: np.ndarray, options: dict[str, Any], lib: ModuleType) -> Call:
    return partial(getattr(lib, name), tensor(lib, array), **options)


def _strided(name: str, array: np.ndarray, options: dict[str, Any], lib: ModuleType) -> Call:
    return partial(getattr(lib, name), tensor(lib, array).t(), **options)


def cases() -> Iterator[Case]:
    """All reduction cases."""
    for size in SIZES:
        array = values((side(size), side(size)))
        for name in ("sum", "mean", "amax", "prod"):
            numpy_call = partial(getattr(np, name), array)
            yield Case(
                "reduce all",
                f"{name} {size}",
                partial(_call, name, array, {}),
                size,
                numpy=lambda c=numpy_call: c,
            )
        for dim in (0, 1):
            for name in ("sum", "mean", "amax", "argmax", "var", "logsumexp", "std"):
                options = {"dim": dim}
                yield Case(
                    "reduce dim", f"{name} dim {dim} {size}", partial(_call, name, array, options), size
                )
        yield Case(
            "reduce dim", f"sum of transposed {size}", partial(_strided, "sum", array, {"dim": 1}), size
        )
        yield Case("reduce dim", f"norm {size}", partial(_call, "norm", array, {}), size)
        yield Case("reduce bool", f"any {size}", partial(_call, "any", array > 1, {}), size)
        yield Case(
            "reduce int",
            f"sum int64 {size}",
            partial(_call, "sum", values(array.shape, "int64", 0, 9), {}),
            size,
        )
        yield Case("scan", f"cumsum dim 1 {size}", partial(_call, "cumsum", array, {"dim": 1}), size)
        yield Case("scan", f"cumsum dim 0 {size}", partial(_call, "cumsum", array, {"dim": 0}), size)
        yield Case("sort", f"sort {size}", partial(_call, "sort", array, {"dim": 1}), size)
        # Which of two equal elements comes first is not defined, so the indices are not compared.
        call = partial(_call, "argsort", array, {"dim": 1})
        yield Case("sort", f"argsort {size}", call, size, compare=False)
        yield Case("sort", f"topk 5 {size}", partial(_call, "topk", array, {"k": 5, "dim": 1}), size)
        yield from _ordering_cases(size, array)


def _ordering_cases(size: int, array: np.ndarray) -> Iterator[Case]:
    """Selection, distinct elements, searches, and the other scans."""
    for name in ("cumprod", "cummax", "logcumsumexp"):
        yield Case("scan", f"{name} dim 1 {size}", partial(_call, name, array, {"dim": 1}), size)
    yield Case("sort", f"median dim 1 {size}", partial(_call, "median", array, {"dim": 1}), size)
    yield Case(
        "sort", f"kthvalue {size}", partial(_call, "kthvalue", array, {"k": side(size) // 2, "dim": 1}), size
    )
    yield Case("sort", f"sort 1-D {size}", partial(_call, "sort", array.reshape(-1), {}), size)
    whole = values((size,), "int64", 0, side(size))
    for name in ("unique", "unique_consecutive"):
        yield Case("sort", f"{name} {size}", partial(_call, name, whole, {}), size)
    yield Case("sort", f"searchsorted {size}", partial(_searched, np.sort(array.reshape(-1)), array), size)


def _searched(boundaries: np.ndarray, array: np.ndarray, lib: ModuleType) -> Call:
    return partial(lib.searchsorted, tensor(lib, boundaries), tensor(lib, array))
