"""PTIR: the portable tensor program that every backend compiles."""

from raxis.ptir.builder import Builder
from raxis.ptir.parser import ParseError, parse
from raxis.ptir.primitives import PRIMITIVES, Primitive, PrimitiveError
from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
from raxis.ptir.text import to_text
from raxis.ptir.types import TensorType
from raxis.ptir.verify import VerificationError, verify

__all__ = [
    "PRIMITIVES",
    "Builder",
    "Instruction",
    "Parameter",
    "ParseError",
    "Primitive",
    "PrimitiveError",
    "Program",
    "Region",
    "TensorType",
    "Value",
    "VerificationError",
    "parse",
    "to_text",
    "verify",
]
