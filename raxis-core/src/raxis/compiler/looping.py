"""`raxis.while_loop`: as many turns as values say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.compiler.branching import predicate_of
from raxis.compiler.breaks import RegionError
from raxis.compiler.operands import check_carry, noted, own
from raxis.compiler.recording import Recording, user_line
from raxis.compiler.regions import Instruction
from raxis.compiler.tracing import Traced, trace
from raxis.layout import Layout
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten, tree_map, tree_unflatten


def looped(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried: tuple[Any, ...]) -> Any:
    """The loop, turn by turn."""
    first = carried
    leaves, structure = tree_flatten(carried)
    while bool(_test(cond_fn(*carried))):
        carried = _next(body_fn(*carried))
        made, made_structure = tree_flatten(carried)
        check_carry("while_loop", "body_fn", leaves, structure, made, made_structure)
    return tree_map(Tensor.detach, own(carried, first))  # body_fn may return a tensor from outside


def _test(value: Any) -> Any:
    return predicate_of("while_loop", value) if isinstance(value, Tensor) else value


def _next(carried: Any) -> tuple[Any, ...]:
    if not isinstance(carried, (tuple, list)):
        raise RuntimeError(
            f"while_loop expected body_fn to return a tuple of the carried values, but got {type(carried).__name__}."
        )
    return tuple(carried)


def recorded_while(
    recording: Recording,
    cond_fn: Callable[..., Any],
    body_fn: Callable[..., Any],
    carried: tuple[Any, ...],
) -> Any:
    """The loop as one instruction.

    Raises:
        RegionError: if that would not do what the functions do.
    """
    leaves, structure = tree_flatten(carried)
    tensors = noted(recording, leaves)
    test = trace(recording, lambda *given: _test(cond_fn(*given)), carried)
    body = trace(recording, lambda *given: _next(body_fn(*given)), carried)
    _check_loop(test, body)
    check_carry("while_loop", "body_fn", leaves, structure, body.results, body.structure)
    instruction = Instruction(recording, (test, body), tensors)
    regions = [instruction.region(test), instruction.region(body, passes_on=True)]
    return tree_unflatten(instruction.emit("while", regions), structure)


def _check_loop(test: Traced, body: Traced) -> None:
    if not isinstance(test.results[0], Layout):
        raise RegionError(
            user_line(),
            f"cond_fn of while_loop returned {test.results[0]!r}, which would be the same in every turn",
            "Return a tensor with one element.",
        )
    if test.draws or body.draws:
        raise RegionError(
            user_line(),
            "random numbers of a while_loop would be the same in every turn",
            "Draw them before and carry them, or use scan.",
        )
