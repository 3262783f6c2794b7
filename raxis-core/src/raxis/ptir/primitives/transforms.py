"""Discrete Fourier transforms along one dim, without any scaling: X[k] = sum of x[j] exp(-2 pi i j k / n) over j."""

from __future__ import annotations

from raxis import dtypes
from raxis.ptir.primitives.checks import require, require_dim
from raxis.ptir.primitives.record import COMPLEX, FLOAT, Attributes, Primitive, Regions, Results, Types
from raxis.ptir.types import TensorType

_REAL = FLOAT - frozenset(dtypes.HALF)


def _length(name: str, operand: TensorType, dim: int) -> int:
    require_dim(name, dim, operand.rank)
    length = operand.shape[dim]
    require(length > 0, f"{name} expected a non-empty dim {dim}, but got {operand}.")
    return length


def _resized(operand: TensorType, dim: int, size: int) -> tuple[int, ...]:
    return (*operand.shape[:dim], size, *operand.shape[dim + 1 :])


def _fft(operands: Types, attributes: Attributes, _: Regions) -> Results:
    _length("fft", operands[0], attributes["dim"])
    return (operands[0],)


def _rfft(operands: Types, attributes: Attributes, _: Regions) -> Results:
    operand, dim = operands[0], attributes["dim"]
    half = _length("rfft", operand, dim) // 2 + 1
    return (TensorType(operand.dtype.to_complex(), _resized(operand, dim, half)),)


def _irfft(operands: Types, attributes: Attributes, _: Regions) -> Results:
    operand, dim, size = operands[0], attributes["dim"], attributes["size"]
    half = _length("irfft", operand, dim)
    require(
        size > 0 and half == size // 2 + 1,
        f"irfft expected size // 2 + 1 elements along dim {dim} for size {size}, but got {operand}.",
    )
    return (TensorType(operand.dtype.to_real(), _resized(operand, dim, size)),)


PRIMITIVES = (
    Primitive("fft", "The transform of complex numbers; `inverse`: with the other sign in the exponent.",
              _fft, COMPLEX, attributes={"dim": "int", "inverse": "bool"}),
    Primitive("rfft", "The first n // 2 + 1 elements of the transform of n real numbers; the others mirror them.",
              _rfft, _REAL, attributes={"dim": "int"}),
    Primitive("irfft", "The inverse transform, real, of size // 2 + 1 elements and their mirror images; the imaginary "
              "parts of the first and, for even sizes, the last are not read.",
              _irfft, COMPLEX, attributes={"dim": "int", "size": "int"}),
)  # fmt: skip
