"""Vector mathematical functions as LLVM IR, for float and double."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from raxis_cpu.llvm.ir import Value
from raxis_cpu.llvm.math.error_function import erf, erfinv
from raxis_cpu.llvm.math.exponential import acosh, asinh, atanh, cosh, exp, expm1, sinh, tanh
from raxis_cpu.llvm.math.gamma import digamma, lgamma
from raxis_cpu.llvm.math.logarithm import log, log1p
from raxis_cpu.llvm.math.power import power
from raxis_cpu.llvm.math.trigonometric import CIRCULAR, atan2, sin_and_cos

__all__ = ["UNARY", "atan2", "power", "sin_and_cos"]

UNARY: Mapping[str, Callable[[Value], Value]] = MappingProxyType(
    {
        **CIRCULAR,
        "exp": exp,
        "expm1": expm1,
        "log": log,
        "log1p": log1p,
        "sinh": sinh,
        "cosh": cosh,
        "tanh": tanh,
        "asinh": asinh,
        "acosh": acosh,
        "atanh": atanh,
        "erf": erf,
        "erfinv": erfinv,
        "lgamma": lgamma,
        "digamma": digamma,
    }
)
"""Functions of one argument, by the name of the primitive."""
