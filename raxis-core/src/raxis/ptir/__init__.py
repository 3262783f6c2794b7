"""PTIR: the portable tensor program that every backend compiles."""

from raxis.ptir.builder import Builder
from raxis.ptir.primitives import PRIMITIVES, Primitive, PrimitiveError
from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
from raxis.ptir.types import TensorType
