"""Special functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, gradient, tensor, values

Work = Callable[[ModuleType, Any, Any], Any]

ONE_OPERAND = (
    "erfinv", "erfc", "gammaln", "digamma", "i0", "i0e", "i1", "ndtri", "log_ndtr", "bessel_j0", "logit", "expit",
    "entr",
)  # fmt: skip
TWO_OPERANDS: dict[str, Work] = {
    "xlogy": lambda lib, x, y: lib.special.xlogy(x, y),
    "zeta": lambda lib, x, y: lib.special.zeta(x + 2, y),
    "polygamma 2": lambda lib, x, y: lib.special.polygamma(2, x),
    "log of the beta function": lambda lib, x, y: lib.lgamma(x) + lib.lgamma(y) - lib.lgamma(x + y),
}
GRADIENTS = ("gammaln", "erfinv", "log_ndtr")


def _one(name: str, array: np.ndarray, lib: ModuleType) -> Call:
    return partial(getattr(lib.special, name), tensor(lib, array))


def _two(work: Work, array: np.ndarray, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, array), tensor(lib, array[::-1]))


def _gradient(name: str, array: np.ndarray, lib: ModuleType) -> Call:
    function, x = getattr(lib.special, name), tensor(lib, array, grad=True)
    return gradient(x, partial(function, x))


def cases() -> Iterator[Case]:
    """All cases of special functions."""
    for size in (4096, 1 << 20):
        array = values((size,), low=0.05, high=0.95)
        for name in ONE_OPERAND:
            yield Case("special", f"special {name} {size}", partial(_one, name, array), size)
        for name, work in TWO_OPERANDS.items():
            yield Case("special", f"special {name} {size}", partial(_two, work, array), size)
        for name in GRADIENTS:
            yield Case(
                "special gradient", f"gradient of {name} {size}", partial(_gradient, name, array), size
            )
