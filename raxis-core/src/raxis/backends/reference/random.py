"""Philox 4x32-10: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.backends.reference.casting import Kernel
from raxis.ptir.program import Instruction

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_ROUNDS = 10


def philox(counter: tuple[Any, Any, Any, Any], key: tuple[int, int]) -> tuple[Any, Any, Any, Any]:
    """The four output words of every counter; words are uint64 arrays with values below 2**32."""
    first, second, third, fourth = counter
    for step in range(_ROUNDS):
        keys = [np.uint64((word + step * weyl) & 0xFFFFFFFF) for word, weyl in zip(key, _WEYL, strict=True)]
        left, right = first * _MULTIPLIERS[0], third * _MULTIPLIERS[1]
        first, second = (right >> _WORD) ^ second ^ keys[0], right & _LOW_WORD
        third, fourth = (left >> _WORD) ^ fourth ^ keys[1], left & _LOW_WORD
    return first, second, third, fourth


def _random_bits(instruction: Instruction) -> Kernel:
    result = instruction.results[0].type
    wide = result.dtype is dtypes.int64
    blocks = -(-result.size * (2 if wide else 1) // 4)

    def kernel(key: Any, offset: Any) -> Any:
        block = np.arange(blocks, dtype=np.uint64) + np.uint64(int(offset) & 0xFFFFFFFFFFFFFFFF)
        zero = np.zeros_like(block)
        key_words = int(key) & 0xFFFFFFFF, (int(key) >> 32) & 0xFFFFFFFF
        words = np.stack(philox((block & _LOW_WORD, block >> _WORD, zero, zero), key_words), axis=-1)
        elements = words[:, 0::2] | (words[:, 1::2] << _WORD) if wide else words.astype(np.uint32)
        return elements.reshape(-1)[: result.size].view(result.dtype.numpy).reshape(result.shape)

    return kernel


KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {"random_bits": _random_bits}
