"""Matrix products, from tiny to large."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType

import numpy as np

from benchmarks.cases.case import Call, Case, tensor, values

SQUARES = (4, 16, 64, 256, 768)


def _product(name: str, left: np.ndarray, right: np.ndarray, arrangement: str, lib: ModuleType) -> Call:
    x, y = tensor(lib, left), tensor(lib, right)
    if arrangement == "transposed right":
        y = y.t()
    if arrangement == "transposed left":
        x = x.t()
    return partial(getattr(lib, name), x, y)


def _converted(dtype: str, left: np.ndarray, right: np.ndarray, arrangement: str, lib: ModuleType) -> Call:
    x, y = (tensor(lib, item).to(getattr(lib, dtype)) for item in (left, right))
    return partial(lib.mm, x, y.t() if arrangement == "transposed right" else y)


def _linear(x: np.ndarray, w: np.ndarray, b: np.ndarray, lib: ModuleType) -> Call:
    return partial(lib.nn.functional.linear, tensor(lib, x), tensor(lib, w), tensor(lib, b))


def _addmm(x: np.ndarray, w: np.ndarray, b: np.ndarray, lib: ModuleType) -> Call:
    return partial(lib.addmm, tensor(lib, b), tensor(lib, x), tensor(lib, w).t())


def cases() -> Iterator[Case]:
    """All product cases."""
    for n in SQUARES:
        a, b = values((n, n)), values((n, n), seed=1)
        for arrangement in ("dense", "transposed right", "transposed left"):
            yield Case("matmul", f"mm {n} {arrangement}", partial(_product, "mm", a, b, arrangement), n * n,
                       numpy=lambda a=a, b=b: partial(np.matmul, a, b))  # fmt: skip
        yield Case("matmul", f"mv {n}", partial(_product, "mv", a, b[0], "dense"), n * n)
        yield Case("matmul", f"linear batch 64, {n}", partial(_linear, values((64, n)), a, b[0]), 64 * n)
        yield Case("matmul", f"addmm batch 64, {n}", partial(_addmm, values((64, n)), a, b[0]), 64 * n)
    for batch, rows, inner, columns in ((8, 8, 8, 8), (16, 64, 64, 64), (24, 256, 64, 256)):
        x, y = values((batch, rows, inner)), values((batch, inner, columns))
        yield Case(
            "matmul", f"bmm {batch}x{rows}x{inner}x{columns}", partial(_product, "bmm", x, y, "dense"), x.size
        )
    for rows in (4, 16):
        yield Case("matmul", f"linear batch {rows}, 768",
                   partial(_linear, values((rows, 768)), values((768, 768)), values((768,))), 768 * 768)  # fmt: skip
    square = values((768, 768), seed=1)
    for rows in (2, 8):
        few = values((rows, 768))
        yield Case("matmul", f"mm {rows}x768x768", partial(_product, "mm", few, square, "dense"), 768 * 768)
    yield from _half_cases()
    yield from _integer_cases()
    wide = values((4096, 768))
    yield Case("matmul", "vector by (768, 4096), transposed", partial(_linear, values((1, 768)), wide, values((4096,))),
               wide.size)  # fmt: skip
    yield Case(
        "matmul", "dot 4096", partial(_product, "dot", values((4096,)), values((4096,)), "dense"), 4096
    )
    yield Case(
        "matmul", "outer 512", partial(_product, "outer", values((512,)), values((512,)), "dense"), 512 * 512
    )


def _half_cases() -> Iterator[Case]:
    weight = values((768, 3072), seed=1)
    for dtype in ("float16", "bfloat16"):
        for n in (64, 256, 1024):
            square = values((n, n)), values((n, n), seed=1)
            yield Case("matmul", f"mm {n} {dtype}", partial(_converted, dtype, *square, "dense"), n * n)
        for rows in (1, 8):
            few, name = values((rows, 768)), f"mm {rows}x768x3072 {dtype}"
            yield Case("matmul", name, partial(_converted, dtype, few, weight, "dense"), weight.size)
            turned = partial(_converted, dtype, few, weight.reshape(3072, 768), "transposed right")
            yield Case("matmul", f"{name} transposed right", turned, weight.size)


def _integer_cases() -> Iterator[Case]:
    weight = values((768, 768), "int64", 0, 9)
    for dtype in ("int8", "int32", "int64"):
        for n in (64, 256):
            square = values((n, n), "int64", 0, 9)
            yield Case(
                "matmul", f"mm {n} {dtype}", partial(_converted, dtype, square, square, "dense"), n * n
            )
        row = partial(_converted, dtype, weight[:1], weight, "dense")
        yield Case("matmul", f"mm 1x768x768 {dtype}", row, weight.size)
