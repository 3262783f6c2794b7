"""Elementwise ops: arithmetic, mathematical functions, comparisons, casts, activations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, arranged, side, tensor, values

SIZES = (1, 64, 4096, 1 << 20)
UNARY = (
    "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "erf", "abs", "neg", "square", "floor", "round",
    "log1p", "expm1", "reciprocal", "sign",
)  # fmt: skip
BINARY = ("add", "sub", "mul", "div", "maximum", "pow", "atan2")
COMPARISONS = ("eq", "lt", "ge")
ACTIVATIONS = ("relu", "gelu", "silu", "leaky_relu", "elu", "softplus", "hardswish", "mish")
LAYOUTS = ("transposed", "sliced", "broadcast")


def _square(size: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    return values((side(size), side(size)), dtype, seed=seed)


def _unary(name: str, array: np.ndarray, layout: str, lib: ModuleType) -> Call:
    return partial(getattr(lib, name), arranged(tensor(lib, array), layout))


def _binary(name: str, array: np.ndarray, layout: str, lib: ModuleType) -> Call:
    left = arranged(tensor(lib, array), layout)
    right = arranged(tensor(lib, array[::-1]), layout) if layout != "broadcast" else tensor(lib, array)
    return partial(getattr(lib, name), left, right)


def _scalar(name: str, array: np.ndarray, number: float, lib: ModuleType) -> Call:
    return partial(getattr(lib, name), tensor(lib, array), number)


def _activation(name: str, array: np.ndarray, lib: ModuleType) -> Call:
    return partial(getattr(lib.nn.functional, name), tensor(lib, array))


def _inplace(name: str, array: np.ndarray, lib: ModuleType) -> Call:
    target, other = (
        tensor(lib, array),
        tensor(lib, np.zeros_like(array) if name == "add_" else np.ones_like(array)),
    )
    return partial(getattr(target, name), other)


def _cast(array: np.ndarray, target: str, lib: ModuleType) -> Call:
    return partial(tensor(lib, array).to, getattr(lib, target))


def _three(name: str, array: np.ndarray, lib: ModuleType) -> Call:
    x, y, z = (tensor(lib, array) for _ in range(3))
    if name == "where":
        condition = x > 1
        return lambda: lib.where(condition, y, z)
    return partial(getattr(lib, name), x, y, z)


def _clamp(array: np.ndarray, lib: ModuleType) -> Call:
    return partial(lib.clamp, tensor(lib, array), 0.5, 1.5)


def _numpy(name: str, *arrays: np.ndarray) -> Any:
    function = getattr(np, name, None)
    return None if function is None else lambda: partial(function, *arrays)


def cases() -> Iterator[Case]:
    """All elementwise cases."""
    for size in SIZES:
        array = _square(size)
        for name in UNARY:
            yield Case(
                "unary",
                f"{name} {size}",
                partial(_unary, name, array, "dense"),
                size,
                numpy=_numpy(name, array),
            )
        for name in BINARY:
            call = partial(_binary, name, array, "dense")
            yield Case("binary", f"{name} {size}", call, size, numpy=_numpy(name, array, array))
        for name in COMPARISONS:
            yield Case("comparison", f"{name} {size}", partial(_binary, name, array, "dense"), size)
        for name in ACTIVATIONS:
            yield Case("activation", f"{name} {size}", partial(_activation, name, array), size)
        for name in ("add", "mul", "div", "pow"):
            yield Case("scalar", f"{name} number {size}", partial(_scalar, name, array, 2.5), size)
        for name in ("add_", "mul_"):
            yield Case("in place", f"{name} {size}", partial(_inplace, name, array), size)
        for name in ("where", "addcmul", "lerp"):
            yield Case("ternary", f"{name} {size}", partial(_three, name, array), size)
        yield Case("ternary", f"clamp {size}", partial(_clamp, array), size)
    yield from _layout_cases()
    yield from _dtype_cases()


def _layout_cases() -> Iterator[Case]:
    for size in (4096, 1 << 20):
        for layout in LAYOUTS:
            for name in ("add", "mul"):
                yield Case(
                    "layout", f"{name} {layout} {size}", partial(_binary, name, _square(size), layout), size
                )
            yield Case("layout", f"exp {layout} {size}", partial(_unary, "exp", _square(size), layout), size)
    for name in ("add", "exp"):
        array = values((16 << 20,))
        make = partial(_unary, name, array, "dense") if name == "exp" else partial(_scalar, name, array, 1.0)
        yield Case("huge", f"{name} 16M", make, 16 << 20)


def _dtype_cases() -> Iterator[Case]:
    for size in (64, 1 << 20):
        for dtype in ("float64", "int32", "int64", "uint8", "float16"):
            for name in ("add", "mul"):
                yield Case(
                    "dtype",
                    f"{name} {dtype} {size}",
                    partial(_binary, name, _square(size, dtype), "dense"),
                    size,
                )
        for source, target in (("float32", "float64"), ("float32", "int32"), ("int64", "float32"), ("bool", "float32"),
                               ("float32", "bfloat16"), ("float32", "float16")):  # fmt: skip
            yield Case(
                "cast", f"{source} to {target} {size}", partial(_cast, _square(size, source), target), size
            )
        for name in ("bitwise_and", "bitwise_xor"):
            yield Case(
                "dtype", f"{name} int32 {size}", partial(_binary, name, _square(size, "int32"), "dense"), size
            )
