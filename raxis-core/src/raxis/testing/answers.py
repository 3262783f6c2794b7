"""The right answers: programs run by the reference backend, in double precision where the device may round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raxis import dtypes
from raxis.backends.reference.backend import ReferenceBackend
from raxis.dtypes import DType
from raxis.ptir import Program
from raxis.ptir.primitives import FAMILIES
from raxis.testing.applications import Application
from raxis.testing.case import Subject
from raxis.testing.placed import Placed, execute

_DOUBLE = {
    dtypes.float16: dtypes.float64,
    dtypes.bfloat16: dtypes.float64,
    dtypes.float32: dtypes.float64,
    dtypes.complex64: dtypes.complex128,
}
_OWN_DTYPE = frozenset(
    {"nextafter", "cast", "constant", "iota", "random_bits", "composite", "scan", "while", "cond"}
)
"""Primitives whose answer depends on the dtype, or that hold constants of it."""
_ROUNDING_FAMILIES = frozenset(
    {"elementwise", "reductions", "contraction", "factorizations", "transforms", "indexing"}
)


def reference() -> Subject:
    """The reference backend, whatever serves ``cpu``."""
    return Subject("cpu", ReferenceBackend())


def run(program: Program, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The reference backend's results."""
    subject = reference()
    operands: list[Placed | complex] = [
        array.item() if parameter.by_value else Placed(subject, array)
        for parameter, array in zip(program.parameters, arrays, strict=True)
    ]
    return execute(subject, program, operands)


def wide(dtype: DType) -> DType:
    """The double precision of a dtype's category."""
    return _DOUBLE.get(dtype, dtype)


def answers(application: Application, dtype: DType, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The right results of an application for these operands."""
    name = application.primitive
    if name in _OWN_DTYPE or FAMILIES[name] not in _ROUNDING_FAMILIES:
        return run(application.program(dtype), arrays)
    program = application.program(wide(dtype))
    operands = [
        array.astype(parameter.type.dtype.numpy)
        for array, parameter in zip(arrays, program.parameters, strict=True)
    ]
    return run(program, operands)
