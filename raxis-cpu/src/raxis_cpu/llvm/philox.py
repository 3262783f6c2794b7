"""Philox 4x32-10 on vectors: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011)."""

from __future__ import annotations

from raxis_cpu.llvm.ir import Type, Value

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


def blocks(counter: Value, key: Value) -> list[Value]:
    """The four i32 words of every i64 counter under a scalar i64 key."""
    lanes = counter.type.lanes
    first, second = _halves(counter)
    third = fourth = counter.function.constant(first.type, 0)
    words = _halves(key)
    for step in range(_ROUNDS):
        keys = [
            (word + (step * weyl & 0xFFFFFFFF)).splat(lanes) for word, weyl in zip(words, _WEYL, strict=True)
        ]
        left_high, left_low = _product(first, _MULTIPLIERS[0])
        right_high, right_low = _product(third, _MULTIPLIERS[1])
        first, second = right_high ^ second ^ keys[0], right_low
        third, fourth = left_high ^ fourth ^ keys[1], left_low
    return [first, second, third, fourth]


def _halves(value: Value) -> tuple[Value, Value]:
    return value.convert("trunc", "i32"), (value >> 32).convert("trunc", "i32")


def _product(word: Value, multiplier: int) -> tuple[Value, Value]:
    """High and low word of the 64-bit product."""
    low = word * multiplier
    wide = word.convert("zext", "i64") * multiplier
    return (wide >> 32).convert("trunc", "i32"), low


def scattered(position: Value, key: Value, offset: Value, words: int) -> Value:
    """The elements, of one or two words, at any positions: one block per lane."""
    per_block = 4 // words
    counter = (position >> (per_block.bit_length() - 1)) + offset.splat(position.type.lanes)
    found = _elements(blocks(counter, key), words)
    within = position & (per_block - 1)
    value = found[-1]
    for number in range(per_block - 2, -1, -1):
        value = within.compare("eq", number).select(found[number], value)
    return value


def _elements(block: list[Value], words: int) -> list[Value]:
    if words == 1:
        return block
    wide = [word.convert("zext", "i64") for word in block]
    return [wide[0] | (wide[1] << 32), wide[2] | (wide[3] << 32)]


def consecutive(position: Value, key: Value, offset: Value, words: int, lanes: int) -> Value:
    """The elements from a scalar position, which begins a block, on."""
    per_block = 4 // words
    count = lanes // per_block
    function = position.function
    numbers = ", ".join(f"i64 {number}" for number in range(count))
    ladder = Value(function, Type("i64", count), f"<{numbers}>" if count > 1 else "0")
    counter = ((position >> (per_block.bit_length() - 1)) + offset).splat(count) + ladder
    return _interleaved(_elements(blocks(counter, key), words))


def _interleaved(parts: list[Value]) -> Value:
    """Lane 0 of every part, then lane 1 of every part, ..."""
    function, count = parts[0].function, parts[0].type.lanes
    joined = parts
    while len(joined) > 1:
        joined = [_joined(joined[at], joined[at + 1]) for at in range(0, len(joined), 2)]
    lanes = count * len(parts)
    order = ", ".join(f"i32 {part * count + lane}" for lane in range(count) for part in range(len(parts)))
    whole = joined[0]
    return function.emit(whole.type, f"shufflevector {whole}, {whole.type} poison, <{lanes} x i32> <{order}>")


def _joined(low: Value, high: Value) -> Value:
    lanes = 2 * low.type.lanes
    target = Type(low.type.element, lanes)
    if lanes == 2:
        one = low.function.emit(target, f"insertelement {target} poison, {low}, i64 0")
        return low.function.emit(target, f"insertelement {one}, {high}, i64 1")
    order = ", ".join(f"i32 {lane}" for lane in range(lanes))
    return low.function.emit(target, f"shufflevector {low}, {high}, <{lanes} x i32> <{order}>")
