"""Layout propagation: rearrangements move behind what is computed by element, to where they cancel or cost nothing.

A transpose of operands becomes one of the result, until it meets its inverse or a product that takes it as dimension
numbers. What is repeated is computed once and then repeated. Reshapes that merge dims stay where they are, since no
index arithmetic expresses them; pairs of them that cancel go.
"""

from __future__ import annotations

from raxis.ptir.passes.liveness import BY_ELEMENT
from raxis.ptir.passes.record import Pass
from raxis.ptir.passes.rewriter import Rewriter, Rule, RuleTable, sweep
from raxis.ptir.passes.views import repeated, squeezed
from raxis.ptir.program import Instruction, Value
from raxis.ptir.types import TensorType

_MOVES = frozenset({"transpose", "reshape", "reverse"})

_DEEPEST = 8
"""How many instructions by element a pair of reshapes may have between them."""


# ---- moves -------------------------------------------------------------------------------------------------------


def _sink(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """f(move(x), move(y)) is move(f(x, y))."""
    move = _move_among(rewriter, instruction)
    if move is None:
        return None
    operands = []
    for operand in instruction.operands:
        unmoved = _unmoved(rewriter, operand, move)
        if unmoved is None:
            return None
        operands.append(unmoved)
    result = rewriter.emit(instruction.primitive, *operands, **instruction.attributes)
    return rewriter.emit(move.primitive, result, **move.attributes)


def _move_among(rewriter: Rewriter, instruction: Instruction) -> Instruction | None:
    for operand in instruction.operands:
        if rewriter.maker(operand) in _MOVES:
            move = rewriter.producer[operand]
            return move if move.primitive != "reshape" or _moves_ones(move) else None
    return None


def _moves_ones(reshape: Instruction) -> bool:
    """Whether a reshape only adds or removes dims of size 1."""
    before, after = reshape.operands[0].type.shape, reshape.results[0].type.shape
    return [size for size in before if size != 1] == [size for size in after if size != 1]


def _unmoved(rewriter: Rewriter, operand: Value, move: Instruction) -> Value | None:
    """What `move` makes `operand` of; None if that takes another instruction."""
    shape = move.operands[0].type.shape
    number = rewriter.number(operand)
    if number is not None:
        return rewriter.constant(number, TensorType(operand.type.dtype, shape))
    made = rewriter.producer.get(operand)
    if made is None:
        return None
    if made.primitive == "broadcast":
        return _unmoved_broadcast(rewriter, made, move)
    same = made.primitive == move.primitive and made.attributes == move.attributes
    return made.operands[0] if same and made.operands[0].type.shape == shape else None


def _unmoved_broadcast(rewriter: Rewriter, broadcast: Instruction, move: Instruction) -> Value | None:
    source, shape, dims = broadcast.operands[0], move.operands[0].type.shape, broadcast.attributes["dims"]
    if move.primitive == "reverse":
        return None
    if move.primitive == "transpose":
        permutation = move.attributes["permutation"]
        origins = dict(enumerate(permutation))
    else:
        origins = dict(zip(_long(move.results[0].type.shape), _long(shape), strict=True))
    if not all(dim in origins for dim in dims):
        return None
    return repeated(rewriter, source, shape, [origins[dim] for dim in dims])


def _long(shape: tuple[int, ...]) -> list[int]:
    """The dims whose size is not 1."""
    return [dim for dim, size in enumerate(shape) if size != 1]


# ---- repetitions -------------------------------------------------------------------------------------------------


def _compute_once(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """Where all operands are repeated along a dim, the result is."""
    shape = instruction.results[0].type.shape
    needed: set[int] = set()
    repeated = False
    for operand in instruction.operands:
        maker = rewriter.maker(operand)
        if maker == "broadcast":
            repeated = True
            needed |= _varying(rewriter.producer[operand])
        elif maker != "constant" or rewriter.number(operand) is None:
            return None
    dims = tuple(sorted(needed))
    if not repeated or len(dims) == len(_long(shape)) or 0 in shape:
        return None
    once = tuple(shape[dim] for dim in dims)
    operands = [_once(rewriter, operand, dims, once) for operand in instruction.operands]
    result = rewriter.emit(instruction.primitive, *operands, **instruction.attributes)
    return rewriter.emit("broadcast", result, shape=shape, dims=dims)


def _varying(broadcast: Instruction) -> set[int]:
    """The dims along which the elements of a broadcast's result differ."""
    sizes = broadcast.operands[0].type.shape
    return {dim for dim, size in zip(broadcast.attributes["dims"], sizes, strict=True) if size != 1}


def _once(rewriter: Rewriter, operand: Value, dims: tuple[int, ...], shape: tuple[int, ...]) -> Value:
    """One operand without what is repeated along all dims but `dims`."""
    number = rewriter.number(operand)
    if number is not None:
        return rewriter.constant(number, TensorType(operand.type.dtype, shape))
    made = rewriter.producer[operand]
    source = made.operands[0]
    own = [dim for dim, size in zip(made.attributes["dims"], source.type.shape, strict=True) if size != 1]
    return repeated(rewriter, squeezed(rewriter, source), shape, [dims.index(dim) for dim in own])


# ---- reshapes that cancel ----------------------------------------------------------------------------------------


def _cancel(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """reshape(f(reshape(x))) is f(x), if x has the final shape."""
    (operand,) = instruction.operands
    if rewriter.maker(operand) not in BY_ELEMENT or not _comes_from(rewriter, operand, instruction, _DEEPEST):
        return None
    return _in_shape(rewriter, operand, instruction.attributes["shape"])


def _comes_from(rewriter: Rewriter, value: Value, reshape: Instruction, depth: int) -> bool:
    """Whether `value` is made by element, for nobody else, of reshaped values of the final shape, and of constants."""
    if rewriter.number(value) is not None:
        return True
    made = rewriter.producer.get(value)
    if made is None or not depth:
        return False
    if made.primitive == "reshape":
        return made.operands[0].type.shape == reshape.attributes["shape"]
    if made.primitive not in BY_ELEMENT or rewriter.uses(value) > 1:
        return False
    return all(_comes_from(rewriter, operand, reshape, depth - 1) for operand in made.operands)


def _in_shape(rewriter: Rewriter, value: Value, shape: tuple[int, ...]) -> Value:
    made = rewriter.producer[value]
    if made.primitive == "reshape":
        return made.operands[0]
    if made.primitive == "constant":
        return rewriter.constant(made.attributes["value"], TensorType(value.type.dtype, shape))
    operands = [_in_shape(rewriter, operand, shape) for operand in made.operands]
    return rewriter.emit(made.primitive, *operands, **made.attributes)


_BY_ELEMENT = tuple(sorted(BY_ELEMENT))

_TABLE = RuleTable(
    [
        Rule("computed once, then repeated", _BY_ELEMENT, _compute_once),
        Rule("moved after computing", _BY_ELEMENT, _sink),
        Rule("reshapes that cancel", ("reshape",), _cancel),
    ]
)

LAYOUT = Pass(
    "layout",
    "transposes and repetitions move behind what is computed by element",
    lambda program, context: sweep(program, _TABLE, context),
)
