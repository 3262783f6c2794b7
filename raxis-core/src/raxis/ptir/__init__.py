"""PTIR: the portable tensor program that every backend compiles.

The names are loaded at first use: running programs needs neither the parser nor the verifier.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raxis.compiler import capture
    from raxis.ptir.bisecting import Finding, bisect
    from raxis.ptir.bisecting_passes import PassFinding, bisect_passes
    from raxis.ptir.builder import Builder
    from raxis.ptir.identity import base_id, stable_id
    from raxis.ptir.parser import parse
    from raxis.ptir.primitives import PRIMITIVES, Primitive, PrimitiveError
    from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
    from raxis.ptir.running import run
    from raxis.ptir.text import to_text
    from raxis.ptir.types import TensorType
    from raxis.ptir.verifier import VerificationError, verify
    from raxis.ptir.version import ParseError

_HOMES = {
    "raxis.compiler": ("capture",),
    "bisecting": ("Finding", "bisect"),
    "bisecting_passes": ("PassFinding", "bisect_passes"),
    "builder": ("Builder",),
    "identity": ("base_id", "stable_id"),
    "parser": ("parse",),
    "primitives": ("PRIMITIVES", "Primitive", "PrimitiveError"),
    "program": ("Instruction", "Parameter", "Program", "Region", "Value"),
    "running": ("run",),
    "text": ("to_text",),
    "types": ("TensorType",),
    "verifier": ("VerificationError", "verify"),
    "version": ("ParseError",),
}

__all__ = [
    "PRIMITIVES",
    "Builder",
    "Finding",
    "Instruction",
    "Parameter",
    "ParseError",
    "PassFinding",
    "Primitive",
    "PrimitiveError",
    "Program",
    "Region",
    "TensorType",
    "Value",
    "VerificationError",
    "base_id",
    "bisect",
    "bisect_passes",
    "capture",
    "parse",
    "run",
    "stable_id",
    "to_text",
    "verify",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            found = getattr(_import_module(home if "." in home else f"raxis.ptir.{home}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module 'raxis.ptir' has no attribute {name!r}")
