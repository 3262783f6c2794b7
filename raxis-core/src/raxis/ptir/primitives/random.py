"""Counter-based random bits."""

from __future__ import annotations

from raxis import dtypes
from raxis.ptir.primitives.checks import require_scalar, require_shape
from raxis.ptir.primitives.record import Attributes, Primitive, Regions, Results, Types
from raxis.ptir.types import TensorType


def _random_bits(operands: Types, attributes: Attributes, _: Regions) -> Results:
    for what, operand in zip(("a key", "an offset"), operands, strict=True):
        require_scalar("random_bits", what, operand, TensorType(dtypes.int64, ()))
    require_shape("random_bits", attributes["shape"])
    return (TensorType(attributes["dtype"], attributes["shape"]),)


PRIMITIVES = (
    Primitive(
        "random_bits",
        "Uniform bits by Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011). Block j "
        "enciphers the counter offset + j (mod 2**64; low word, high word, 0, 0) under the key (low word, high word) "
        "into four 32-bit words. i32 elements are these words in order; i64 elements are pairs, the low word first.",
        _random_bits, frozenset({dtypes.int32, dtypes.int64}), arity=2, data_operand=None, effect="random",
        attributes={"shape": "ints", "dtype": "dtype"},
    ),
)  # fmt: skip
