"""How each primitive does for many examples what it does for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from raxis import dtypes
from raxis.func import control_rules
from raxis.func.batching import Batcher, Lane, Rule
from raxis.ptir.primitives import FAMILIES, PRIMITIVES
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction, Value


def _one_more_dim(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """All operands get the examples as first dimension; dimensions in attributes count one further."""
    attributes = dict(instruction.attributes)
    if "dim" in attributes:
        attributes["dim"] += 1
    if "dims" in attributes:
        attributes["dims"] = tuple(dim + 1 for dim in attributes["dims"])
    operands = [batcher.repeated(lane) for lane in lanes]
    made = batcher.builder.emit_all(instruction.primitive, operands, attributes)
    return [Lane(value, True) for value in made]


# ---- shapes --------------------------------------------------------------------------------------------


def _broadcast(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    shape = (batcher.size, *instruction.attributes["shape"])
    dims = (0, *[dim + 1 for dim in instruction.attributes["dims"]])
    return [Lane(batcher.emit("broadcast", lanes[0].value, shape=shape, dims=dims), True)]


def _reshape(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    return [Lane(batcher.reshaped(lanes[0].value, (batcher.size, *instruction.attributes["shape"])), True)]


def _transpose(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    permutation = (0, *[dim + 1 for dim in instruction.attributes["permutation"]])
    return [Lane(batcher.emit("transpose", lanes[0].value, permutation=permutation), True)]


def _slice(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    start, stop, step = (instruction.attributes[name] for name in ("start", "stop", "step"))
    made = batcher.emit(
        "slice", lanes[0].value, start=(0, *start), stop=(batcher.size, *stop), step=(1, *step)
    )
    return [Lane(made, True)]


def _pad(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """With a fill value for each example, it is chosen where padding put a mark."""
    operand, fill = lanes
    attributes = {name: (0, *values) for name, values in instruction.attributes.items()}
    data = batcher.repeated(operand)
    if not fill.batched:
        return [Lane(batcher.emit("pad", data, fill.value, **attributes), True)]
    builder = batcher.builder
    zero = builder.constant(0, data.type.dtype)
    padded = batcher.emit("pad", data, zero, **attributes)
    inside = builder.constant(True, dtypes.bool_, data.type.shape)
    inside = batcher.emit("pad", inside, builder.constant(False, dtypes.bool_), **attributes)
    fills = batcher.emit("broadcast", fill.value, shape=padded.type.shape, dims=(0,))
    return [Lane(batcher.emit("select", inside, padded, fills), True)]


# ---- contractions --------------------------------------------------------------------------------------


def _dot_general(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """Examples of both operands are a batch dimension; those of one are free, and moved to the front."""
    both = lanes[0].batched and lanes[1].batched
    dims: dict[str, tuple[int, ...]] = {}
    for side, lane in zip(("lhs", "rhs"), lanes, strict=True):
        for role in ("batch", "contract"):
            own = instruction.attributes[f"{side}_{role}"]
            dims[f"{side}_{role}"] = tuple(dim + 1 for dim in own) if lane.batched else own
        if both:
            dims[f"{side}_batch"] = (0, *dims[f"{side}_batch"])
    made = batcher.emit("dot_general", lanes[0].value, lanes[1].value, **dims)
    if both:
        return [Lane(made, True)]
    place = len(dims["lhs_batch"])
    if lanes[1].batched:
        place += len(free_dims(lanes[0].value.type.rank, dims["lhs_batch"], dims["lhs_contract"]))
    return [Lane(batcher.moved(made, place), True)]


def _convolution(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """Examples become images, output channels, or groups."""
    image, weight = (lane.value for lane in lanes)
    size, groups = batcher.size, instruction.attributes["groups"]
    shape = instruction.results[0].type.shape
    images, outputs, *spatial = shape
    if not lanes[1].batched:
        image = batcher.reshaped(image, (size * image.type.shape[1], *image.type.shape[2:]))
        made = _convolved(batcher, instruction, image, weight, groups)
        return [Lane(batcher.reshaped(made, (size, *shape)), True)]
    if lanes[0].batched:
        image = batcher.moved(image, 0, 1)
        channels = size * image.type.shape[2]
        image = batcher.reshaped(image, (images, channels, *image.type.shape[3:]))
        weight = batcher.reshaped(weight, (size * outputs, *weight.type.shape[2:]))
        made = _convolved(batcher, instruction, image, weight, size * groups)
        return [Lane(batcher.moved(batcher.reshaped(made, (images, size, outputs, *spatial)), 1), True)]
    part = outputs // groups
    weight = batcher.reshaped(weight, (size, groups, part, *weight.type.shape[2:]))
    weight = batcher.moved(weight, 0, 1)
    weight = batcher.reshaped(weight, (groups * size * part, *weight.type.shape[3:]))
    made = _convolved(batcher, instruction, image, weight, groups)
    made = batcher.moved(batcher.reshaped(made, (images, groups, size, part, *spatial)), 2)
    return [Lane(batcher.reshaped(made, (size, *shape)), True)]


def _convolved(batcher: Batcher, instruction: Instruction, image: Value, weight: Value, groups: int) -> Value:
    return batcher.emit("convolution", image, weight, **{**instruction.attributes, "groups": groups})


# ---- indexing ------------------------------------------------------------------------------------------


def _take(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    operand, index = lanes
    dim = instruction.attributes["dim"]
    if not index.batched:
        return [Lane(batcher.emit("take", operand.value, index.value, dim=dim + 1), True)]
    if not operand.batched:
        return [Lane(batcher.moved(batcher.emit("take", operand.value, index.value, dim=dim), dim), True)]
    count = index.value.type.size // batcher.size
    own = operand.value.type.shape
    positions = _along(batcher, index.value, (*own[: dim + 1], count, *own[dim + 2 :]), dim + 1)
    made = batcher.emit("gather", operand.value, positions, dim=dim + 1)
    return [Lane(batcher.reshaped(made, (batcher.size, *instruction.results[0].type.shape)), True)]


def _put(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    dim, reduce = instruction.attributes["dim"] + 1, instruction.attributes["reduce"]
    operand, updates = batcher.repeated(lanes[0]), batcher.repeated(lanes[2])
    index = lanes[1]
    if not index.batched:
        return [Lane(batcher.emit("put", operand, index.value, updates, dim=dim, reduce=reduce), True)]
    positions = _along(batcher, index.value, updates.type.shape, dim)
    return [Lane(batcher.emit("scatter", operand, positions, updates, dim=dim, reduce=reduce), True)]


def _along(batcher: Batcher, index: Value, shape: Sequence[int], dim: int) -> Value:
    """The indices of each example along `dim` of `shape`, repeated in its other dimensions."""
    flat = batcher.reshaped(index, (batcher.size, shape[dim]))
    return batcher.emit("broadcast", flat, shape=tuple(shape), dims=(0, dim))


# ---- random numbers ------------------------------------------------------------------------------------


def batched_anyway(batcher: Batcher, instruction: Instruction) -> bool:
    """Whether results differ between examples although no operand does."""
    return batcher.draws and instruction.primitive == "random_bits"


def _random_bits(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """As many numbers as all examples need: counters that were set apart for one are so for each."""
    if batcher.counter is None:
        return [_bits_in_loop(batcher, instruction, *lanes)]
    key, offset = (lane.value for lane in lanes)
    start = batcher.counter
    count = batcher.builder.constant(batcher.size, dtypes.int64)
    steps = batcher.emit("mul", batcher.emit("sub", offset, start), count)
    return [Lane(_drawn(batcher, instruction, key, batcher.emit("add", start, steps)), True)]


def _drawn(batcher: Batcher, instruction: Instruction, key: Value, offset: Value) -> Value:
    """Numbers for all examples."""
    attributes = dict(instruction.attributes)
    attributes["shape"] = (batcher.size, *attributes["shape"])
    return batcher.emit("random_bits", key, offset, **attributes)


def _bits_in_loop(batcher: Batcher, instruction: Instruction, key: Lane, offset: Lane) -> Lane:
    """In a loop, whose stream begins at 0 under a key that was drawn: all examples take that of the first one's key.

    Examples that still run are as far as each other, and no less far than those that do not.
    """
    if not key.batched and batcher.draws:
        raise RuntimeError(
            "vmap: random numbers that differ between examples cannot be drawn inside of a loop of a program, unless "
            'the loop draws with a key of its own. Draw them before the loop, or use randomness="same".'
        )
    first, farthest = key.value, offset.value
    if key.batched:
        first = batcher.reshaped(batcher.emit("slice", first, start=(0,), stop=(1,), step=(1,)), ())
    if offset.batched:
        farthest = batcher.emit("reduce_max", farthest, dims=(0,))
    if not batcher.draws:
        return Lane(batcher.emit("random_bits", first, farthest, **instruction.attributes), False)
    count = batcher.builder.constant(batcher.size, dtypes.int64)
    return Lane(_drawn(batcher, instruction, first, batcher.emit("mul", farthest, count)), True)


# ---- the table -----------------------------------------------------------------------------------------

_SPECIAL: Mapping[str, Rule] = {
    "broadcast": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "pad": _pad,
    "dot_general": _dot_general,
    "convolution": _convolution,
    "take": _take,
    "put": _put,
    "random_bits": _random_bits,
    **control_rules.RULES,
}

_NEVER = frozenset({"constant", "iota"})
"""Primitives without operands, which are the same for all examples."""

_PLAIN_FAMILIES = frozenset(
    {"elementwise", "shaping", "reductions", "factorizations", "transforms", "indexing"}
)
"""Families whose primitives take leading dimensions, unless they have a rule of their own."""

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        name: _SPECIAL.get(name, _one_more_dim)
        for name in PRIMITIVES
        if name not in _NEVER and (name in _SPECIAL or FAMILIES[name] in _PLAIN_FAMILIES)
    }
)
"""The rule of every primitive that has operands."""
