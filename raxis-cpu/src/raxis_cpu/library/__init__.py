"""Library routines: what runs the instructions that are not loops.

`routine` makes a callable over NumPy arrays for one instruction; `composites` makes kernels of whole ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from raxis.backends.reference.kernels import may_warn
from raxis.layout import Strides
from raxis.ptir.program import Instruction
from raxis_cpu.library import convolution, ordering, products, scans, scattering
from raxis_cpu.library.composites import composites
from raxis_cpu.library.reference import reference
from raxis_cpu.library.routine import Call, Factory, Routine, quietly

__all__ = ["ROUTINES", "Routine", "composites", "routine"]

ROUTINES: Mapping[str, Factory] = {
    "dot_general": products.dot_general,
    "convolution": convolution.convolution,
    "sort": ordering.sort,
    "scatter": scattering.scatter,
    "put": scattering.put,
    "cumsum": scans.scan(np.add),
    "cumprod": scans.scan(np.multiply),
    "cummax": scans.scan(np.maximum),
    "cummin": scans.scan(np.minimum),
}
"""Primitives with a routine of their own; the others run the reference backend's kernel."""


def routine(instruction: Instruction, operands: Sequence[Strides], results: Sequence[Strides]) -> Routine:
    """What runs `instruction` on arrays of these strides (in elements), one per operand, then one per result.

    Results share no memory with operands. An index out of range raises IndexError before anything is written.

    Example:
        >>> import numpy as np, raxis
        >>> from raxis.ptir.builder import Builder
        >>> from raxis.ptir.types import TensorType
        >>> builder = Builder("running")
        >>> x = builder.parameter(TensorType(raxis.float32, (3,)))
        >>> program = builder.build([builder.emit("cumsum", x, dim=0)])
        >>> out = np.empty(3, np.float32)
        >>> routine(program.instructions[0], [(1,)], [(1,)])(np.ones(3, np.float32), out)
        >>> out
        array([1., 2., 3.], dtype=float32)
    """
    call = Call(instruction, tuple(map(tuple, operands)), tuple(map(tuple, results)))
    factory = ROUTINES.get(instruction.primitive)
    made = factory(call) if factory is not None else None
    if made is None:
        made = reference(call)
    return quietly(made) if may_warn(instruction) else made
