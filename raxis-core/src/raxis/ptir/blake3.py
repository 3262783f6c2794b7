"""BLAKE3, the part that identities need: the unkeyed hash with 32 bytes of output.

Source: O'Connor, Aumasson, Neves, Wilcox-O'Hearn, "BLAKE3: one function, fast everywhere" (2020). It hashes names
of parameters, a few dozen bytes each, so plainness comes before speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack, unpack

_INITIAL = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)  # fmt: skip
_PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
_COLUMNS_AND_DIAGONALS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip
_ROUNDS = 7
_BLOCK, _CHUNK = 64, 1024
_CHUNK_START, _CHUNK_END, _PARENT, _ROOT = 1, 2, 4, 8
_WORD = 0xFFFFFFFF

Words = Sequence[int]


def blake3(data: bytes) -> bytes:
    """The 32-byte BLAKE3 hash of `data`.

    Example:
        >>> blake3(b"").hex()
        'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'
    """
    return pack("<8I", *_tree(data, 0, _ROOT))


def _tree(data: bytes, first_chunk: int, flags: int) -> Words:
    """The chaining value over `data`, whose first chunk is number `first_chunk` of the whole input."""
    if len(data) <= _CHUNK:
        return _chunk(data, first_chunk, flags)
    chunks_on_the_left = 1 << ((len(data) - 1) // _CHUNK).bit_length() - 1
    split = chunks_on_the_left * _CHUNK
    left = _tree(data[:split], first_chunk, 0)
    right = _tree(data[split:], first_chunk + chunks_on_the_left, 0)
    return _compress(_INITIAL, (*left, *right), 0, _BLOCK, _PARENT | flags)


def _chunk(data: bytes, number: int, flags: int) -> Words:
    chaining: Words = _INITIAL
    last = max(len(data) - 1, 0) // _BLOCK * _BLOCK
    for start in range(0, last + 1, _BLOCK):
        block = data[start : start + _BLOCK]
        domain = (_CHUNK_START if start == 0 else 0) | (_CHUNK_END | flags if start == last else 0)
        chaining = _compress(chaining, unpack("<16I", block.ljust(_BLOCK, b"\0")), number, len(block), domain)
    return chaining


def _compress(chaining: Words, block: Words, counter: int, length: int, flags: int) -> Words:
    state = [*chaining, *_INITIAL[:4], counter & _WORD, counter >> 32, length, flags]
    for _ in range(_ROUNDS):
        for mix, positions in enumerate(_COLUMNS_AND_DIAGONALS):
            _mix(state, *positions, block[2 * mix], block[2 * mix + 1])
        block = [block[position] for position in _PERMUTATION]
    return [low ^ high for low, high in zip(state[:8], state[8:], strict=True)]


def _mix(state: list[int], a: int, b: int, c: int, d: int, first: int, second: int) -> None:
    for word, by_d, by_b in ((first, 16, 12), (second, 8, 7)):
        state[a] = (state[a] + state[b] + word) & _WORD
        state[d] = _rotated(state[d] ^ state[a], by_d)
        state[c] = (state[c] + state[d]) & _WORD
        state[b] = _rotated(state[b] ^ state[c], by_b)


def _rotated(word: int, count: int) -> int:
    return (word >> count | word << (32 - count)) & _WORD
