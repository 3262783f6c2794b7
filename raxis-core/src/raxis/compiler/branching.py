"""`raxis.cond`: one of two functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.compiler.breaks import RegionError
from raxis.compiler.choosing import chosen
from raxis.compiler.operands import kinds, listed, noted, own
from raxis.compiler.recording import Recording, user_line
from raxis.compiler.regions import Instruction
from raxis.compiler.signature import describe
from raxis.compiler.tracing import Traced, trace
from raxis.dtypes import bool_
from raxis.layout import Layout
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten, tree_unflatten


def predicate_of(name: str, pred: Tensor) -> Tensor:
    """Whether the one element of a tensor is true, as a tensor of rank 0.

    Raises:
        RuntimeError: if it has several.
    """
    if pred.numel() != 1:
        raise RuntimeError(
            f"{name} expected a predicate with one element, but got {describe([pred])}. Reduce it, such as with .any()."
        )
    return pred.reshape(()).to(bool_)


def taken(
    pred: bool, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any]
) -> Any:
    """What one of the functions returns."""
    return own((true_fn if pred else false_fn)(*operands), operands)


def recorded_cond(
    recording: Recording,
    predicate: Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...],
) -> Any:
    """One instruction, or both functions if gradients are wanted.

    Raises:
        RegionError: if that would not do what the functions do.
    """
    tensors = noted(recording, [predicate, *tree_flatten(operands)[0]])[1:]
    functions = [trace(recording, function, operands) for function in (true_fn, false_fn)]
    _check_branches(*functions)
    first = functions[0]
    if any(function.requires_grad for function in functions):
        return chosen(recording, predicate, (true_fn, false_fn), operands)
    instruction = Instruction(recording, functions, tensors)
    regions = [instruction.region(function) for function in functions]
    made = iter(instruction.emit("cond", regions, predicate=predicate))
    for generator, blocks in first.draws.items():
        recording.draw(generator, blocks)
    leaves = [next(made) if isinstance(leaf, Layout) else leaf for leaf in first.results]
    return tree_unflatten(leaves, first.structure)


def _check_branches(first: Traced, second: Traced) -> None:
    if first.structure != second.structure or kinds(first.results) != kinds(second.results):
        raise RegionError(
            user_line(),
            f"the functions given to cond return different things: {listed(first.results)} if true, "
            f"{listed(second.results)} if false",
            "Both must return the same structure, with tensors of the same shapes and dtypes.",
        )
    if first.draws != second.draws:
        raise RegionError(
            user_line(),
            "the functions given to cond take different amounts of random numbers, so that what is random afterwards "
            "would depend on the predicate",
            "Draw the numbers before, and pass them as operands.",
        )
