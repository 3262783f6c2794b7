"""Checks of values that raise errors of their own: made now, or by the compiled program where a function is recorded.

A program knows one kind of error about values, an index that is out of range. So a check becomes a table of one
element, read at an index that is 0 if all is well and else a number that no index of a user has. It says which check
failed, where, and why; `decoded` reads it from the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from raxis import dtypes
from raxis.interception import recording
from raxis.interop import host_array
from raxis.ops.table import INTERNAL, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

_PAYLOAD_BITS = 48
_FIRST = -(1 << 62)
"""The index of check 0 with nothing else to tell."""
MOST_CHECKS = 1 << 13
"""As many checks as can be told apart in one program; all their indices lie below -(1 << 61)."""
_FEW = 64
"""So many elements are read at once; of more, a reduction says whether there is one to look for."""
_ERROR = re.compile(r"index (-\d+) is out of bounds for dimension 0 with size 1$")


class Failure(NamedTuple):
    """What a check raises.

    Attributes:
        error: makes the error of the position and the code of the first element that fails.
        code_bits: how many bits codes need; greater ones count as the greatest, and so do positions.
    """

    error: Callable[[int, int], Exception]
    code_bits: int = 24


def saying(error: type[Exception], sentence: str) -> Failure:
    """What raises `error` with the same sentence, whichever element fails."""
    return Failure(lambda *_: error(sentence))


def are_deferred() -> bool:
    """Whether checks are left to the program of a recording."""
    return recording() is not None


def require_none(codes: Tensor, failure: Failure) -> None:
    """Raise the error of the first element of `codes`, integers not negative or bools, that is not 0.

    While a function is recorded, the program does it at each call.
    """
    layout = codes._layout
    if layout.traced or layout.device.type == "meta" or not layout.numel:
        return
    codes = codes.device.all_examples(codes)
    noting = recording()
    if noting is not None:
        noting.note_check(codes, failure)
        return
    if layout.numel > _FEW and not bool(codes.any()):
        return
    found = host_array(codes)
    if np.count_nonzero(found):
        found = found.reshape(-1)
        first = int(np.flatnonzero(found)[0])
        raise failure.error(first, int(found[first]))


def require_fractions(values: Tensor, sentence: str) -> None:
    """RuntimeError unless all of `values` lie in [0, 1]; NaN does not."""
    values = values.detach()
    require_none(values.clamp(0, 1) != values, saying(RuntimeError, sentence))


@lowered("_verdict(Tensor codes, int number, int code_bits) -> Tensor", **INTERNAL)
def verdict(codes: Tensor, number: int, code_bits: int) -> Any:
    """One zero; for codes that are not all 0 it lies out of range."""
    count = codes._layout.numel
    codes = emit("reshape", cast(codes, dtypes.int64), shape=(count,))
    none = constant(0, dtypes.int64, (count,))
    own = emit("iota", shape=(count,), dtype=dtypes.int64, dim=0)
    fails = emit("ne", codes, none)
    first = emit("reduce_min", emit("select", fails, own, _repeated(count, (count,))), dims=(0,))
    is_first = emit("eq", own, emit("broadcast", first, shape=(count,), dims=()))
    code = emit("reduce_sum", emit("select", is_first, codes, none), dims=(0,))
    payload = _packed(first, code, code_bits)
    index = emit("add", payload, _repeated(_FIRST + (number << _PAYLOAD_BITS)))
    index = emit("select", emit("lt", first, _repeated(count)), index, _repeated(0))
    return emit("take", constant(0, dtypes.int64, (1,)), emit("reshape", index, shape=(1,)), dim=0)


def _repeated(number: int, shape: tuple[int, ...] = ()) -> Any:
    return constant(number, dtypes.int64, shape)


def _packed(position: Tensor, code: Tensor, code_bits: int) -> Any:
    """Both in one number, in which they can be told apart."""
    limits = ((1 << _PAYLOAD_BITS - code_bits) - 1, (1 << code_bits) - 1)
    position, code = (
        emit("minimum", value, _repeated(limit))
        for value, limit in zip((position, code), limits, strict=True)
    )
    return emit("add", emit("mul", position, _repeated(1 << code_bits)), code)


def decoded(error: Exception, failures: list[Failure]) -> Exception | None:
    """The error of a check, if that is why an index was out of range."""
    found = _ERROR.search(str(error))
    if found is None:
        return None
    number, payload = divmod(int(found[1]) - _FIRST, 1 << _PAYLOAD_BITS)
    if not 0 <= number < len(failures):
        return None
    failure = failures[number]
    return failure.error(*divmod(payload, 1 << failure.code_bits))
