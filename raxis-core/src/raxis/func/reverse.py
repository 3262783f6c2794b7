"""Reverse mode: `grad`, `grad_and_value`, `vjp`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from raxis.autograd.record import constant_of
from raxis.func.tracing import Argnums, Chosen, Traced, require_tensors
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of `func`, which returns one number.

    Args:
        func: returns a tensor without dimensions.
        argnums: for which positional arguments; a tuple gives a tuple of gradients.
        has_aux: `func` returns a pair ``(output, aux)``; the result is ``(gradient, aux)``.

    Raises:
        RuntimeError: on a call, if `func` returns something else, or there are fewer arguments.

    Example:
        >>> import raxis
        >>> from raxis.func import grad
        >>> grad(raxis.sin)(raxis.tensor(0.0))
        tensor(1.)
        >>> grad(grad(lambda x: x ** 3))(raxis.tensor(2.0))
        tensor(12.)
    """

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        gradient, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derivative


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Like `grad`; the function gives the pair ``(gradient, value)``, with `has_aux` ``(gradient, (value, aux))``.

    Example:
        >>> import raxis
        >>> raxis.func.grad_and_value(lambda x: (x * x).sum())(raxis.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        chosen = Chosen(func, argnums, args, kwargs)
        traced = Traced(chosen.function, chosen.arguments, has_aux)
        output = _number(traced)
        gradients = traced.pull([constant_of(output._layout, 1)], keep=False)
        found = chosen.like_argnums(traced.as_arguments(gradients))
        value = traced.result()
        return found, ((value, traced.aux) if has_aux else value)

    return derivative


def _number(traced: Traced) -> Tensor:
    """The one output."""
    output = traced.outputs[0] if traced.structure.type is None else traced.structure
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(traced.result()).__name__}"
        )
    if output.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
            f"{output.ndim} dims. Maybe you forgot to reduce it?"
        )
    return output


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `func`, and the function that multiplies its Jacobian by a cotangent from the left.

    Args:
        func: takes and returns tensors or containers of them.
        primals: the arguments.
        has_aux: `func` returns a pair ``(output, aux)``.

    Returns:
        ``(output, vjp_fn)``, or ``(output, vjp_fn, aux)``. ``vjp_fn`` takes one tree of cotangents like the output, and
        gives the gradient of the argument, or a tuple of those of several.

    Raises:
        RuntimeError: if `func` returns other things, or cotangents do not fit the output.

    Example:
        >>> import raxis
        >>> output, pull = raxis.func.vjp(lambda x: x * x, raxis.tensor([1.0, 2.0]))
        >>> pull(raxis.ones(2))
        (tensor([2., 4.]),)
    """
    traced = Traced(func, primals, has_aux)
    require_tensors("vjp", traced.outputs)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        found = traced.pull(_like_outputs(traced, cotangents), keep=retain_graph, record=create_graph)
        return traced.as_arguments(found)

    return (traced.result(), pull, traced.aux) if has_aux else (traced.result(), pull)


def _like_outputs(traced: Traced, cotangents: Any) -> list[Tensor]:
    leaves, structure = tree_flatten(cotangents)
    if structure != traced.structure:
        raise RuntimeError(
            f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
            f"cotangents: {structure}, primal output: {traced.structure}"
        )
    return leaves
