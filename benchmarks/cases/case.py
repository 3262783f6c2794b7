"""What a case is, and operands for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

Call = Callable[[], object]


def itself(result: object) -> object:
    """What is compared of most results: all."""
    return result


@dataclass(frozen=True)
class Case:
    """One measured call.

    Attributes:
        family: group in the summary.
        name: what is called, on what.
        make: the call for a library.
        elements: elements of the largest operand.
        compare: whether the two libraries' results must agree (random ones do not).
        compared: what of a result is compared, where the result itself is not unique (signs of singular vectors).
        numpy: the same call in NumPy, where there is one.
    """

    family: str
    name: str
    make: Callable[[ModuleType], Call]
    elements: int
    compare: bool = True
    numpy: Callable[[], Call] | None = None
    compared: Callable[[Any], object] = itself


def values(
    shape: tuple[int, ...], dtype: str = "float32", low: float = 0.1, high: float = 2.0, seed: int = 0
) -> np.ndarray:
    """Repeatable random numbers in [low, high)."""
    source = np.random.default_rng(seed)
    if dtype == "bool":
        return source.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return source.integers(int(low), max(int(high), int(low) + 2), shape).astype(dtype)
    return np.asarray(source.uniform(low, high, shape), dtype=dtype)


def tensor(lib: ModuleType, array: np.ndarray, **options: Any) -> Any:
    """A tensor of `lib` with the array's values."""
    made = lib.from_numpy(array.copy())
    return made.requires_grad_() if options.get("grad") else made


def gradient(x: Any, function: Callable[[], Any]) -> Call:
    """The gradient by `x` of the sum of what `function` returns."""

    def step() -> Any:
        x.grad = None
        function().sum().backward()
        return x.grad

    return step


def arranged(x: Any, layout: str) -> Any:
    """A tensor of the same shape class in another layout: transposed, every other column, one row repeated."""
    if layout == "transposed":
        return x.t()
    if layout == "sliced":
        return x[:, ::2]
    if layout == "broadcast":
        return x[:1].expand(x.shape)
    return x


def side(elements: int) -> int:
    """The side of a square matrix of so many elements."""
    return max(1, round(elements**0.5))
