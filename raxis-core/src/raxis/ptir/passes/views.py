"""Rules for primitives that only move elements: chains become one step, steps that do nothing go."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from raxis.ptir.attributes import attribute_key
from raxis.ptir.passes.rewriter import Rewriter, Rule
from raxis.ptir.program import Instruction, Value

REARRANGING = ("broadcast", "reshape", "transpose", "slice", "reverse", "unfold")
"""Primitives whose result consists of elements of the operand."""


def _of_uniform(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """A constant with one number everywhere is that in any shape."""
    number = rewriter.number(instruction.operands[0])
    if number is None:
        return None
    return rewriter.constant(number, instruction.results[0].type)


def _same_numbers(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """A constant of equal numbers is uniform."""
    numbers = instruction.attributes["value"]
    if not isinstance(numbers, tuple) or not numbers:
        return None
    first = attribute_key(numbers[0])
    if any(attribute_key(number) != first for number in numbers[1:]):
        return None
    return rewriter.constant(numbers[0], instruction.results[0].type)


# ---- reshape and transpose -----------------------------------------------------------------------------------


def _reshape(_: Rewriter, instruction: Instruction) -> Value | None:
    (operand,) = instruction.operands
    return operand if operand.type.shape == instruction.attributes["shape"] else None


def _reshape_of_reshape(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    inner = rewriter.producer[instruction.operands[0]]
    return rewriter.emit("reshape", inner.operands[0], shape=instruction.attributes["shape"])


def moving(shape: Sequence[int], dims: Sequence[int]) -> list[int]:
    """Those of `dims` whose size is not 1."""
    return [dim for dim in dims if shape[dim] != 1]


def _transpose(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    (operand,), permutation = instruction.operands, instruction.attributes["permutation"]
    if permutation == tuple(range(len(permutation))):
        return operand
    order = moving(operand.type.shape, permutation)
    if order == sorted(order):
        return rewriter.emit("reshape", operand, shape=instruction.results[0].type.shape)
    return None


def _transpose_of_transpose(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    inner = rewriter.producer[instruction.operands[0]]
    first = inner.attributes["permutation"]
    both = tuple(first[dim] for dim in instruction.attributes["permutation"])
    return rewriter.emit("transpose", inner.operands[0], permutation=both)


def inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    """Where each dim goes."""
    places = [0] * len(permutation)
    for place, dim in enumerate(permutation):
        places[dim] = place
    return tuple(places)


def _transpose_of_broadcast(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    inner = rewriter.producer[instruction.operands[0]]
    places = inverse(instruction.attributes["permutation"])
    dims = [places[dim] for dim in inner.attributes["dims"]]
    return repeated(rewriter, inner.operands[0], instruction.results[0].type.shape, dims)


def repeated(rewriter: Rewriter, operand: Value, shape: tuple[int, ...], dims: Sequence[int]) -> Value:
    """`operand` broadcast to `shape`, dim i going to dims[i], in any order."""
    order = sorted(range(len(dims)), key=dims.__getitem__)
    if order != list(range(len(dims))):
        operand = rewriter.emit("transpose", operand, permutation=tuple(order))
    if operand.type.shape == shape:
        return operand
    return rewriter.emit("broadcast", operand, shape=shape, dims=tuple(sorted(dims)))


def squeezed(rewriter: Rewriter, operand: Value) -> Value:
    """`operand` without dims of size 1."""
    shape = tuple(size for size in operand.type.shape if size != 1)
    return operand if operand.type.shape == shape else rewriter.emit("reshape", operand, shape=shape)


# ---- broadcast -----------------------------------------------------------------------------------------------


def _broadcast(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """One that repeats nothing is a reshape, or nothing."""
    (operand,), shape, dims = (
        instruction.operands,
        instruction.attributes["shape"],
        instruction.attributes["dims"],
    )
    sizes = operand.type.shape
    if prod(sizes) != prod(shape):
        return None
    if sizes == shape and dims == tuple(range(len(shape))):
        return operand
    return rewriter.emit("reshape", operand, shape=shape)


def _broadcast_of_broadcast(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    inner, dims = rewriter.producer[instruction.operands[0]], instruction.attributes["dims"]
    both = tuple(dims[dim] for dim in inner.attributes["dims"])
    return rewriter.emit("broadcast", inner.operands[0], shape=instruction.attributes["shape"], dims=both)


def _broadcast_of_reshape(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """A reshape that only adds or removes dims of size 1 is a matter of the broadcast's dims."""
    inner = rewriter.producer[instruction.operands[0]]
    source, reshaped = inner.operands[0].type.shape, inner.results[0].type.shape
    shape, dims = instruction.attributes["shape"], instruction.attributes["dims"]
    if [size for size in source if size != 1] != [size for size in reshaped if size != 1]:
        return None
    direct = _ascending(
        [dim for dim, size in zip(dims, reshaped, strict=True) if size != 1], source, len(shape)
    )
    return None if direct is None else rewriter.emit("broadcast", inner.operands[0], shape=shape, dims=direct)


def _ascending(places: Sequence[int], sizes: Sequence[int], rank: int) -> tuple[int, ...] | None:
    """Ascending dims, `places` for those of `sizes` that are not 1 and others for the rest; None if there are none."""
    taken, dims = iter(places), [-1]
    for size in sizes:
        dims.append(dims[-1] + 1 if size == 1 else next(taken))
    found = tuple(dims[1:])
    ascending = all(before < after for before, after in pairwise(dims))
    return found if ascending and dims[-1] < rank else None


# ---- slice, reverse, pad, concatenate ----------------------------------------------------------------------------


def _slice(_: Rewriter, instruction: Instruction) -> Value | None:
    (operand,) = instruction.operands
    return operand if operand.type.shape == instruction.results[0].type.shape else None


def _bounds(instruction: Instruction) -> list[tuple[int, int, int]]:
    names = ("start", "stop", "step")
    return list(zip(*(instruction.attributes[name] for name in names), strict=True))


def _emit_slice(rewriter: Rewriter, operand: Value, bounds: Sequence[tuple[int, int, int]]) -> Value:
    start, stop, step = zip(*bounds, strict=True)
    return rewriter.emit("slice", operand, start=start, stop=stop, step=step)


def _slice_of_slice(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    inner = rewriter.producer[instruction.operands[0]]
    both = []
    for (start, stop, step), (first, _, stride) in zip(_bounds(instruction), _bounds(inner), strict=True):
        count = -(-(stop - start) // step)
        begin = first + start * stride
        end = begin + (count - 1) * step * stride + 1
        both.append((begin, end, step * stride) if count else (0, 0, 1))
    return _emit_slice(rewriter, inner.operands[0], both)


def _slice_of_broadcast(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """Of repeated elements fewer are repeated."""
    inner = rewriter.producer[instruction.operands[0]]
    (source,), dims, bounds = inner.operands, inner.attributes["dims"], _bounds(instruction)
    own = [(0, 1, 1) if size == 1 else bounds[dim] for size, dim in zip(source.type.shape, dims, strict=True)]
    part = _emit_slice(rewriter, source, own) if own else source
    return rewriter.emit("broadcast", part, shape=instruction.results[0].type.shape, dims=dims)


def _slice_of_piece(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """A slice within one operand of a concatenation."""
    inner = rewriter.producer[instruction.operands[0]]
    dim, bounds = inner.attributes["dim"], _bounds(instruction)
    start, stop, step = bounds[dim]
    for piece in inner.operands:
        size = piece.type.shape[dim]
        if start >= 0 and stop <= size:
            bounds[dim] = (start, stop, step)
            return _emit_slice(rewriter, piece, bounds)
        start, stop = start - size, stop - size
    return None


def _reverse(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    (operand,), dims = instruction.operands, instruction.attributes["dims"]
    needed = tuple(sorted(moving(operand.type.shape, dims)))
    inner = rewriter.made_by(operand, "reverse")
    if inner is not None:
        operand = inner.operands[0]
        needed = tuple(sorted(set(needed) ^ set(inner.attributes["dims"])))
    if not needed:
        return operand
    return None if needed == dims and inner is None else rewriter.emit("reverse", operand, dims=needed)


def _pad(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """Padding that only removes elements is a slice."""
    operand = instruction.operands[0]
    low, high, interior = (instruction.attributes[name] for name in ("low", "high", "interior"))
    if max((*low, *high, *interior), default=0) > 0:
        return None
    sizes = operand.type.shape
    if not sizes:
        return operand
    bounds = [(-before, size + after, 1) for before, size, after in zip(low, sizes, high, strict=True)]
    return _emit_slice(rewriter, operand, bounds)


def _concatenate(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    dim = instruction.attributes["dim"]
    pieces = [piece for piece in instruction.operands if piece.type.shape[dim]] or [instruction.operands[0]]
    merged = _merged_slices(rewriter, pieces, dim)
    if len(merged) == 1:
        return merged[0]
    return (
        None if len(merged) == len(instruction.operands) else rewriter.emit("concatenate", *merged, dim=dim)
    )


def _merged_slices(rewriter: Rewriter, pieces: Sequence[Value], dim: int) -> list[Value]:
    """Neighbouring parts of one value are one part."""
    merged = [pieces[0]]
    for piece in pieces[1:]:
        joined = _joined(rewriter, merged[-1], piece, dim)
        if joined is None:
            merged.append(piece)
        else:
            merged[-1] = joined
    return merged


def _joined(rewriter: Rewriter, left: Value, right: Value, dim: int) -> Value | None:
    parts = [rewriter.made_by(value, "slice") for value in (left, right)]
    if None in parts or parts[0].operands != parts[1].operands:  # type: ignore[union-attr]
        return None
    first, second = (_bounds(part) for part in parts if part is not None)
    (start, middle, step), (begin, stop, stride) = first[dim], second[dim]
    first[dim] = second[dim] = (start, stop, 1)
    if first != second or middle != begin or (step, stride) != (1, 1):
        return None
    return _emit_slice(rewriter, parts[0].operands[0], first)  # type: ignore[union-attr]


RULES: tuple[Rule, ...] = (
    Rule("rearranged uniform constant", REARRANGING, _of_uniform, ("constant",)),
    Rule("constant of equal numbers", ("constant",), _same_numbers),
    Rule("reshape to its own shape", ("reshape",), _reshape),
    Rule("reshape of reshape", ("reshape",), _reshape_of_reshape, ("reshape",)),
    Rule("transpose that moves nothing", ("transpose",), _transpose),
    Rule("transpose of transpose", ("transpose",), _transpose_of_transpose, ("transpose",)),
    Rule("transpose of broadcast", ("transpose",), _transpose_of_broadcast, ("broadcast",)),
    Rule("broadcast that repeats nothing", ("broadcast",), _broadcast),
    Rule("broadcast of broadcast", ("broadcast",), _broadcast_of_broadcast, ("broadcast",)),
    Rule("broadcast of reshape", ("broadcast",), _broadcast_of_reshape, ("reshape",)),
    Rule("slice of all", ("slice",), _slice),
    Rule("slice of slice", ("slice",), _slice_of_slice, ("slice",)),
    Rule("slice of broadcast", ("slice",), _slice_of_broadcast, ("broadcast",)),
    Rule("slice of concatenation", ("slice",), _slice_of_piece, ("concatenate",)),
    Rule("reverse", ("reverse",), _reverse),
    Rule("pad that only removes", ("pad",), _pad),
    Rule("concatenation", ("concatenate",), _concatenate),
)
