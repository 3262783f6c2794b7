"""Philox 4x32-10 on vectors: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011)."""

from __future__ import annotations

from collections.abc import Sequence

from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value
from raxis_cpu.llvm.lanes import interleaved, shuffled

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_LOW = 0xFFFFFFFF


def round_keys(key: Value, lanes: int) -> list[tuple[Value, Value]]:
    """Both i64 words that every round mixes in, from a scalar i64 key."""
    halves = (key & _LOW, key >> 32)
    return [
        (first.splat(lanes), second.splat(lanes))
        for first, second in (
            tuple((half + step * weyl) & _LOW for half, weyl in zip(halves, _WEYL, strict=True))
            for step in range(_ROUNDS)
        )
    ]


def blocks(counter: Value, keys: Sequence[tuple[Value, Value]]) -> list[Value]:
    """The four words of every i64 counter, each in the low half of an i64."""
    first, second = counter, counter >> 32
    third = fourth = counter.function.constant(counter.type, 0)
    for first_key, second_key in keys:
        left, right = (first & _LOW) * _MULTIPLIERS[0], (third & _LOW) * _MULTIPLIERS[1]
        first, second = _high_word(right) ^ second ^ first_key, right
        third, fourth = _high_word(left) ^ fourth ^ second_key, left
    return [first, second, third, fourth]


def _high_word(product: Value) -> Value:
    """The high word of every i64, in its low half: by a shuffle, since shifts want the multiplier's port."""
    function, lanes = product.function, product.type.lanes
    if lanes == 1:
        return product >> 32
    words = Type("i32", 2 * lanes)
    halves = function.emit(words, f"bitcast {product} to {words}")
    moved = shuffled(halves, halves, (lane | 1 for lane in range(words.lanes)))
    return function.emit(product.type, f"bitcast {moved} to {product.type}")


def scattered(position: Value, keys: Sequence[tuple[Value, Value]], offset: Value, words: int) -> Value:
    """The elements, of one or two words, at any positions: one block per lane."""
    per_block = 4 // words
    counter = (position >> (per_block.bit_length() - 1)) + offset.splat(position.type.lanes)
    found = blocks(counter, keys) if words == 1 else _pairs(blocks(counter, keys))
    within = position & (per_block - 1)
    value = found[-1]
    for number in range(per_block - 2, -1, -1):
        value = within.compare("eq", number).select(found[number], value)
    return value if words == 2 else value.convert("trunc", "i32")


def _pairs(block: Sequence[Value]) -> list[Value]:
    """The words two by two, the first one in the low half."""
    return [_pair(block[at], block[at + 1]) for at in (0, 2)]


def _pair(first: Value, second: Value) -> Value:
    """The low halves of both: by a shuffle, since masks tempt LLVM to multiply words of 64 bits."""
    function, lanes = first.function, first.type.lanes
    if lanes == 1:
        return (first & _LOW) | (second << 32)
    words = Type("i32", 2 * lanes)
    low, high = (function.emit(words, f"bitcast {value} to {words}") for value in (first, second))
    both = shuffled(low, high, (2 * place for lane in range(lanes) for place in (lane, lane + lanes)))
    return function.emit(first.type, f"bitcast {both} to {first.type}")


def consecutive(
    position: Value, keys: Sequence[tuple[Value, Value]], offset: Value, words: int, lanes: int
) -> Value:
    """The elements from a scalar position, which begins a block, on."""
    per_block = 4 // words
    count = lanes // per_block
    counter = _from((position >> (per_block.bit_length() - 1)) + offset, count)
    whole = interleaved(*_pairs(blocks(counter, keys)))
    type = Type(f"i{32 * words}", lanes)
    return whole if whole.type == type else position.function.emit(type, f"bitcast {whole} to {type}")


def _from(first: Value, count: int) -> Value:
    """A scalar, and the `count` - 1 integers after it."""
    numbers = ", ".join(f"i64 {number}" for number in range(count))
    return first.splat(count) + Value(
        first.function, Type("i64", count), f"<{numbers}>" if count > 1 else "0"
    )


_COUNTERS = 8
"""Of one register of AVX-512."""


def unaligned(name: str, type: Type) -> str:
    """The text of a function that writes the elements from any scalar position on, as many as `type` has lanes.

    It is called, so that this code is not in every loop: rows that do not begin a block are rare.
    """
    function = Function(f"internal void @{name}(ptr %result, i64 %position, i64 %key, i64 %offset) noinline")
    position, key, offset = (function.argument(I64, name) for name in ("position", "key", "offset"))
    lanes, words = min(type.lanes, _COUNTERS), type.bits // 32
    keys = round_keys(key, lanes)
    with function.loop(0, function.constant(I64, type.lanes), lanes) as first:
        found = scattered(_from(position + first, lanes), keys, offset, words)
        function.store(found, function.advance(function.argument(PTR, "result"), first, 4 * words))
    function.line("ret void")
    return function.text
