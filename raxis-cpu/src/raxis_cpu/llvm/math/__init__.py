"""Vector mathematical functions as LLVM IR, for float and double."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from raxis_cpu.llvm.ir import Value
from raxis_cpu.llvm.math.error_function import erf, erfc, erfinv
from raxis_cpu.llvm.math.exponential import acosh, asinh, atanh, cosh, exp, exp2, expm1, sigmoid, sinh, tanh
from raxis_cpu.llvm.math.gamma import digamma, lgamma
from raxis_cpu.llvm.math.logarithm import log, log1p, log2, log10
from raxis_cpu.llvm.math.power import power
from raxis_cpu.llvm.math.trigonometric import CIRCULAR, atan2, sin_and_cos

__all__ = ["UNARY", "atan2", "power", "sin_and_cos"]

UNARY: Mapping[str, Callable[[Value], Value]] = MappingProxyType(
    {
        **CIRCULAR,
        "exp": exp,
        "exp2": exp2,
        "expm1": expm1,
        "log": log,
        "log2": log2,
        "log10": log10,
        "log1p": log1p,
        "sinh": sinh,
        "cosh": cosh,
        "tanh": tanh,
        "sigmoid": sigmoid,
        "asinh": asinh,
        "acosh": acosh,
        "atanh": atanh,
        "erf": erf,
        "erfc": erfc,
        "erfinv": erfinv,
        "lgamma": lgamma,
        "digamma": digamma,
    }
)
"""Functions of one argument, by the name of the primitive."""
