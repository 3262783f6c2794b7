"""Running sums, products and extrema."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from raxis.dtypes import HALF
from raxis_cpu.library.routine import Array, Call, Routine


def scan(ufunc: np.ufunc) -> Callable[[Call], Routine]:
    """Accumulation by a ufunc along a dim, straight into the result; half precision by way of float32."""

    def factory(call: Call) -> Routine:
        dim, dtype = call.instruction.attributes["dim"], call.instruction.operands[0].type.dtype
        if dtype in HALF:
            return partial(_widened, ufunc, dim)

        def routine(x: Array, out: Array) -> None:
            ufunc.accumulate(x, dim, dtype.numpy, out)

        return routine

    return factory


def _widened(ufunc: np.ufunc, dim: int, x: Array, out: Array) -> None:
    out[...] = ufunc.accumulate(x.astype(np.float32), dim, np.float32)
