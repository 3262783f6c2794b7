"""`raxis.scan` and `raxis.map`: one turn for each slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.compiler.breaks import either
from raxis.compiler.operands import check_carry, noted, own, require_tensors
from raxis.compiler.recording import Recording
from raxis.compiler.regions import Instruction
from raxis.compiler.signature import describe
from raxis.compiler.tracing import Traced, trace
from raxis.tensor import Tensor
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

SHORT = 16
"""Scans of at most so many steps are written out in compiled functions: kernels can be fused across steps."""


def scanned(
    name: str, combine_fn: Callable[[Any, Any], Any], init: Any, xs: Any, dim: int, reverse: bool
) -> tuple[Any, Any]:
    """The last carry, and what is stacked; errors speak of `name`.

    Raises:
        RuntimeError: see `raxis.scan`.
    """
    leaves, structure = tree_flatten(xs)
    require_tensors(name, "init", tree_flatten(init)[0])
    require_tensors(name, "xs", leaves)
    sizes = sorted({leaf.size(dim) for leaf in leaves})
    if len(sizes) != 1 or sizes[0] == 0:
        raise RuntimeError(
            f"{name} expected tensors with one size along dim {dim}, at least 1, but got {describe(leaves) or 'none'}."
        )
    dim = dim % leaves[0].dim()
    return either(
        lambda recording: _recorded_scan(name, recording, combine_fn, init, xs, dim, reverse),
        lambda: _stepped(name, combine_fn, init, leaves, structure, dim, reverse),
    )


def _stepped(
    name: str,
    combine_fn: Callable[[Any, Any], Any],
    init: Any,
    leaves: Sequence[Tensor],
    structure: TreeSpec,
    dim: int,
    reverse: bool,
) -> tuple[Any, Any]:
    from raxis import stack

    steps = range(leaves[0].size(dim))
    first, first_structure = tree_flatten(init)
    carry, columns, shape = init, [], None
    for step in reversed(steps) if reverse else steps:
        x = tree_unflatten([leaf.select(dim, step) for leaf in leaves], structure)
        carry, y = _pair(name, combine_fn(carry, x))
        made, made_structure = tree_flatten(carry)
        check_carry(name, "combine_fn", first, first_structure, made, made_structure)
        results, shape = tree_flatten(y)
        require_tensors(name, "what is stacked", results)
        columns.append(results)
    if reverse:
        columns.reverse()
    stacked = [stack(parts, dim if dim <= parts[0].dim() else 0) for parts in zip(*columns, strict=True)]
    assert shape is not None  # there was a step
    return own(carry, (init, leaves)), tree_unflatten(stacked, shape)


def _pair(name: str, result: Any) -> Any:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise RuntimeError(
            f"{name} expected combine_fn to return a pair, the next carry and what to stack, "
            f"but got {type(result).__name__}."
        )
    return tuple(result)


def _recorded_scan(
    name: str,
    recording: Recording,
    combine_fn: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    dim: int,
    reverse: bool,
) -> tuple[Any, Any]:
    from raxis import flip, movedim

    carries, carry_structure = tree_flatten(init)
    leaves, structure = tree_flatten(xs)
    noted(recording, [*carries, *leaves])
    example = tree_unflatten([leaf.select(dim, 0) for leaf in leaves], structure)
    body = trace(recording, lambda carry, x: _pair(name, combine_fn(carry, x)), (init, example))
    if body.requires_grad or body.draws or leaves[0].size(dim) <= SHORT:
        return _stepped(name, combine_fn, init, leaves, structure, dim, reverse)
    made_carry, made = _divided(body)
    check_carry(name, "combine_fn", carries, carry_structure, made_carry, body.structure.children[0])
    require_tensors(name, "what is stacked", made)
    sequences = [movedim(leaf, dim, 0) for leaf in leaves]
    if reverse:
        sequences = [flip(sequence, (0,)) for sequence in sequences]
    instruction = Instruction(recording, (body,), carries, sequences)
    region = instruction.region(body, passes_on=True)
    results = instruction.emit("scan", (region,), {"carry_count": instruction.carry_count})
    stacked = results[len(carries) :]
    if reverse:
        stacked = [flip(tensor, (0,)) for tensor in stacked]
    stacked = [movedim(tensor, 0, dim) if dim < tensor.dim() else tensor for tensor in stacked]
    return tree_unflatten(results[: len(carries)], carry_structure), tree_unflatten(
        stacked, body.structure.children[1]
    )


def _divided(body: Traced) -> tuple[Sequence[Any], Sequence[Any]]:
    """What combine_fn returns: the carry, and what is stacked."""
    count = body.structure.children[0].num_leaves
    return body.results[:count], body.results[count:]
