"""Instructions that are no loop kernels: NumPy routines on host memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from raxis.backends.reference.kernels import KERNELS
from raxis.ptir.program import Instruction


def routine(instruction: Instruction) -> Callable[..., None]:
    """A function of the operands' and then the results' arrays that writes the results."""
    kernel = KERNELS[instruction.primitive](instruction)
    count = len(instruction.operands)

    def run(*arrays: Any) -> None:
        with np.errstate(all="ignore"):
            made = kernel(*arrays[:count])
        for result, values in zip(arrays[count:], made if isinstance(made, tuple) else (made,), strict=True):
            result[...] = values

    return run
