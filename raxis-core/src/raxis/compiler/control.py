"""Control flow that depends on values: `cond`, `while_loop`, `scan` and `map`.

Outside of compiled functions they are Python's ``if``, ``while`` and ``for``. Inside, the functions they are given
are recorded on stand-ins and become regions of one instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd.grad_mode import no_grad
from raxis.compiler.branching import predicate_of, recorded_cond, taken
from raxis.compiler.breaks import either
from raxis.compiler.looping import looped, recorded_while
from raxis.compiler.operands import require_tensors
from raxis.compiler.scanning import scanned
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten


def cond(
    pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Sequence[Any] = ()
) -> Any:
    """``true_fn(*operands)`` if `pred` is true, else ``false_fn(*operands)``.

    In a compiled function only one of them runs too, unless gradients are wanted: then both do, and the results and
    gradients of one are taken.

    Args:
        pred: a bool, or a tensor with one element.
        true_fn: takes the operands; may use other tensors, but writes nothing in place.
        false_fn: likewise; its results have the same structure, shapes and dtypes.
        operands: tensors, or containers of them.

    Returns:
        Results that share no memory with the operands.

    Raises:
        RuntimeError: if `pred` has several elements.
        CompileError: in a compiled function, if the results differ in structure, shape or dtype, if something is
            written in place or left behind, or if the functions take different amounts of random numbers.

    Example:
        >>> import raxis
        >>> x = raxis.tensor([1.0, -3.0])
        >>> raxis.cond(x.sum() > 0, lambda x: x + 1, lambda x: -x, (x,))
        tensor([-1.,  3.])
    """
    if not isinstance(pred, Tensor):
        return taken(bool(pred), true_fn, false_fn, operands)
    predicate = predicate_of("cond", pred)
    return either(
        lambda recording: recorded_cond(recording, predicate, true_fn, false_fn, tuple(operands)),
        lambda: taken(bool(predicate), true_fn, false_fn, operands),
    )


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]
) -> tuple[Any, ...]:
    """``carried = body_fn(*carried)`` as long as ``cond_fn(*carried)`` is true; the last `carried`, as a tuple.

    No gradients flow through it.

    Args:
        cond_fn: gives a tensor with one element.
        body_fn: gives the next values: a tuple with the structure, shapes and dtypes of the first ones.
        carried_inputs: the first values: tensors, or containers of them.

    Returns:
        Tensors that share no memory with `carried_inputs`.

    Raises:
        RuntimeError: if what is carried is no tensor, or changes in structure, shape or dtype.
        CompileError: in a compiled function, if something is random, written in place or left behind.

    Example:
        >>> import raxis
        >>> raxis.while_loop(lambda x: x < 100, lambda x: (x * 2,), (raxis.tensor(3),))
        (tensor(192),)
    """
    carried = tuple(carried_inputs)
    require_tensors("while_loop", "carried_inputs", tree_flatten(carried)[0])
    with no_grad():
        return either(
            lambda recording: recorded_while(recording, cond_fn, body_fn, carried),
            lambda: looped(cond_fn, body_fn, carried),
        )


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """``carry, y = combine_fn(carry, x)`` for the slices x of `xs` in order; the last carry, and all y stacked.

    Args:
        combine_fn: gives the next carry, like `init` in structure, shapes and dtypes, and tensors to stack.
        init: the first carry: a tensor, or a container of tensors.
        xs: a tensor, or a container of tensors with equal sizes along `dim`.
        dim: the dimension to go along, also that of the stacked results (the first for those with fewer dimensions).
        reverse: go from the last slice to the first; results are stacked at their slice's place.

    Raises:
        RuntimeError: if `xs` holds no slice, sizes differ, something is no tensor, or the carry changes in structure,
            shape or dtype.
        CompileError: in a compiled function, if something is written in place or left behind.

    Example:
        >>> import raxis
        >>> total, sums = raxis.scan(lambda t, x: (t + x, t + x), raxis.tensor(0), raxis.arange(4))
        >>> total, sums
        (tensor(6), tensor([0, 1, 3, 6]))
    """
    return scanned("scan", combine_fn, init, xs, dim, reverse)


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """``f(x, *args)`` for the slices x of `xs` along the first dimension, stacked.

    Args:
        f: gives a tensor, or a container of tensors.
        xs: a tensor, or a container of tensors with equal first sizes.
        args: given to every call.

    Raises:
        RuntimeError: if `xs` holds no slice, first sizes differ, or something is no tensor.
        CompileError: in a compiled function, if something is written in place or left behind.

    Example:
        >>> import raxis
        >>> raxis.map(lambda row: row.sum(), raxis.ones(2, 3))
        tensor([3., 3.])
    """
    return scanned("map", lambda carry, x: (carry, f(x, *args)), (), xs, 0, False)[1]
