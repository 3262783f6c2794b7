"""Instructions as programs of others that loop kernels compute: products, convolutions, updates in half precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from raxis import dtypes
from raxis.dtypes import HALF, DType
from raxis.ptir import Builder, Program, Value
from raxis.ptir.program import Instruction

_Body = Callable[[Builder, Instruction, Sequence[Value]], Value]


LARGEST_UNFOLDED = 1 << 26
"""Elements up to which a convolution's windows are written to memory, to be multiplied as a matrix."""


def decomposition(instruction: Instruction, *, tiles: bool = False) -> Program | None:
    """A program that computes what the instruction does, its operands being the parameters; None if there is none.

    With `tiles`, products of matrices have a kernel of their own that is worth bringing a convolution into its form.

    Example:
        >>> import raxis
        >>> from raxis.ptir import TensorType
        >>> builder = Builder("product")
        >>> x = builder.parameter(TensorType(raxis.float32, (2, 3)))
        >>> dims = {"lhs_batch": (), "rhs_batch": (), "lhs_contract": (1,), "rhs_contract": (1,)}
        >>> program = builder.build([builder.emit("dot_general", x, x, **dims)])
        >>> [item.primitive for item in decomposition(program.instructions[0]).instructions]
        ['broadcast', 'broadcast', 'mul', 'reduce_sum']
    """
    body = _product_of_windows if tiles and _is_unfolded(instruction) else _BODIES.get(instruction.primitive)
    half = instruction.operands[0].type.dtype in HALF if instruction.operands else False
    if body is None or (instruction.primitive in _IN_HALF_ONLY and not half):
        return None
    builder = Builder(instruction.primitive)
    parameters = [builder.parameter(operand.type) for operand in instruction.operands]
    widened = [
        _cast(builder, value, dtypes.float32) if value.type.dtype in HALF else value for value in parameters
    ]
    result = body(builder, instruction, widened)
    return builder.build([_cast(builder, result, instruction.results[0].type.dtype)])


def _emit(builder: Builder, primitive: str, *operands: Value, **attributes: object) -> Value:
    return builder.emit_all(primitive, operands, attributes)[0]


def _cast(builder: Builder, value: Value, dtype: DType) -> Value:
    return value if value.type.dtype is dtype else _emit(builder, "cast", value, dtype=dtype)


def _spread(
    builder: Builder, value: Value, order: Sequence[int], shape: tuple[int, ...], dims: Sequence[int]
) -> Value:
    """The dims `order` of a value as the dims `dims` of one of `shape`."""
    if tuple(order) != tuple(range(len(order))):
        value = _emit(builder, "transpose", value, permutation=tuple(order))
    return _emit(builder, "broadcast", value, shape=shape, dims=tuple(dims))


def _product(builder: Builder, instruction: Instruction, operands: Sequence[Value]) -> Value:
    lhs, rhs = operands
    given = instruction.attributes
    batch, contract = len(given["lhs_batch"]), len(given["lhs_contract"])
    left, right = (
        [
            dim
            for dim in range(value.type.rank)
            if dim not in given[f"{side}_batch"] + given[f"{side}_contract"]
        ]
        for value, side in ((lhs, "lhs"), (rhs, "rhs"))
    )
    left_order = (*given["lhs_batch"], *left, *given["lhs_contract"])
    right_order = (*given["rhs_batch"], *right, *given["rhs_contract"])
    shape = (
        *(lhs.type.shape[dim] for dim in left_order[: batch + len(left)]),
        *(rhs.type.shape[dim] for dim in right_order[batch:]),
    )
    rank = len(shape)
    left_places = (*range(batch + len(left)), *range(rank - contract, rank))
    right_places = (*range(batch), *range(batch + len(left), rank))
    x = _spread(builder, lhs, left_order, shape, left_places)
    y = _spread(builder, rhs, right_order, shape, right_places)
    return _emit(builder, "reduce_sum", _emit(builder, "mul", x, y), dims=tuple(range(rank - contract, rank)))


def _convolution(builder: Builder, instruction: Instruction, operands: Sequence[Value]) -> Value:
    """[N, C, space] with [O, C/groups, kernel] as a sum over all windows."""
    image, weight = operands
    given, groups = instruction.attributes, instruction.attributes["groups"]
    kernel = weight.type.shape[2:]
    windows = _windows(builder, _padded(builder, image, given["padding"]), kernel, given)
    count, channels = windows.type.shape[:2]
    space = windows.type.shape[2 : 2 + len(kernel)]
    within, outputs = channels // groups, weight.type.shape[0] // groups
    windows = _emit(builder, "reshape", windows, shape=(count, groups, within, *space, *kernel))
    weight = _emit(builder, "reshape", weight, shape=(groups, outputs, within, *kernel))
    shape = (count, groups, outputs, *space, within, *kernel)
    rank, first = len(shape), 3 + len(space)
    order = (0, 1, *range(3, first), 2, *range(first, first + len(kernel)))
    x = _spread(builder, windows, order, shape, (0, 1, *range(3, rank)))
    y = _spread(builder, weight, range(3 + len(kernel)), shape, (1, 2, *range(first, rank)))
    total = _emit(builder, "reduce_sum", _emit(builder, "mul", x, y), dims=tuple(range(first, rank)))
    return _emit(builder, "reshape", total, shape=instruction.results[0].type.shape)


def _is_unfolded(instruction: Instruction) -> bool:
    """Whether a convolution is better done as a product of matrices."""
    if instruction.primitive != "convolution" or instruction.attributes["groups"] != 1:
        return False
    result, weight = instruction.results[0].type, instruction.operands[1].type
    elements = weight.size // max(1, weight.shape[0]) * (result.size // max(1, weight.shape[0]))
    return result.dtype.is_floating_point and 0 < elements <= LARGEST_UNFOLDED


def _product_of_windows(builder: Builder, instruction: Instruction, operands: Sequence[Value]) -> Value:
    """[O, C x kernel] times [C x kernel, N x space]."""
    image, weight = operands
    given, kernel = instruction.attributes, weight.type.shape[2:]
    windows = _windows(builder, _padded(builder, image, given["padding"]), kernel, given)
    space = windows.type.shape[2 : 2 + len(kernel)]
    first = 2 + len(space)
    order = (1, *range(first, first + len(kernel)), 0, *range(2, first))
    outputs, count = weight.type.shape[0], image.type.shape[0]
    depth = weight.type.size // outputs
    windows = _emit(builder, "transpose", windows, permutation=order)
    windows = _emit(builder, "reshape", windows, shape=(depth, windows.type.size // depth))
    weight = _emit(builder, "reshape", weight, shape=(outputs, depth))
    dims = {"lhs_batch": (), "rhs_batch": (), "lhs_contract": (1,), "rhs_contract": (0,)}
    made = _emit(builder, "dot_general", weight, windows, **dims)
    made = _emit(builder, "reshape", made, shape=(outputs, count, *space))
    return _emit(builder, "transpose", made, permutation=(1, 0, *range(2, first)))


def _padded(builder: Builder, image: Value, padding: Sequence[tuple[int, int]]) -> Value:
    if not any(map(any, padding)):
        return image
    low, high = ((0, 0, *(pair[side] for pair in padding)) for side in (0, 1))
    zero = builder.constant(0, image.type.dtype)
    return _emit(builder, "pad", image, zero, low=low, high=high, interior=(0,) * len(low))


def _windows(
    builder: Builder, image: Value, kernel: Sequence[int], given: Mapping[str, Sequence[int]]
) -> Value:
    for place, size in enumerate(kernel):
        step, dilation = given["stride"][place], given["dilation"][place]
        image = _emit(builder, "unfold", image, dim=2 + place, size=size, step=step, dilation=dilation)
    return image


def _update(builder: Builder, instruction: Instruction, operands: Sequence[Value]) -> Value:
    return _emit(builder, instruction.primitive, *operands, **instruction.attributes)


_BODIES: Mapping[str, _Body] = {
    "dot_general": _product,
    "convolution": _convolution,
    "scatter": _update,
    "put": _update,
}
_IN_HALF_ONLY = frozenset({"scatter", "put"})
