"""Whole Jacobians: products with all unit vectors at once, by `vmap`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from raxis.func.forward import check_primals, pushing
from raxis.func.tracing import Argnums, Chosen, Traced, require_tensors
from raxis.func.vmapping import vmap
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_leaves, tree_unflatten


def jacrev(
    func: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The function that gives the Jacobian of `func` by reverse mode: quicker where outputs are fewer than inputs.

    Args:
        func: takes and returns tensors or containers of them.
        argnums: for which positional arguments; a tuple gives a tuple of Jacobians.
        has_aux: `func` returns a pair ``(output, aux)``; the result is ``(jacobian, aux)``.
        chunk_size: how many rows to compute at a time; None: all.

    Returns:
        A function whose results are like the output; in the place of each tensor there is what is like the argument,
        with tensors of shape ``output.shape + argument.shape``.

    Example:
        >>> import raxis
        >>> raxis.func.jacrev(lambda x: x * x)(raxis.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = Chosen(func, argnums, args, kwargs)
        traced = Traced(chosen.function, chosen.arguments, has_aux)
        require_tensors("jacrev", traced.outputs)

        def rows(*cotangents: Tensor) -> tuple[Tensor, ...]:
            return tuple(traced.pull(cotangents))

        found = vmap(rows, chunk_size=chunk_size)(*_unit_vectors(traced.outputs))
        made = []
        for at, output in enumerate(traced.outputs):
            parts = [_rows_of(traced.outputs, at, column) for column in found]
            shaped = [part.reshape((*output.shape, *part.shape[1:])) for part in parts]
            made.append(chosen.like_argnums(traced.as_arguments(shaped)))
        result = tree_unflatten(made, traced.structure)
        return (result, traced.aux) if has_aux else result

    return jacobian


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """The function that gives the Jacobian of `func` by forward mode; otherwise like `jacrev`.

    Args:
        func: takes and returns tensors or containers of them.
        argnums: for which positional arguments; a tuple gives a tuple of Jacobians.
        has_aux: `func` returns a pair ``(output, aux)``; the result is ``(jacobian, aux)``.
        randomness: as for `vmap`, for random functions in backward; `func` itself runs once.

    Example:
        >>> import raxis
        >>> raxis.func.jacfwd(lambda x: x * x)(raxis.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = Chosen(func, argnums, args, kwargs)
        check_primals("jacfwd", tree_leaves(chosen.arguments))
        traced = Traced(chosen.function, chosen.arguments, has_aux)
        require_tensors("jacfwd", traced.outputs)
        push = pushing(traced)

        def columns(*tangents: Tensor) -> tuple[Tensor, ...]:
            return tuple(push(tangents, keep=True))

        found = vmap(columns, out_dims=-1, randomness=randomness)(*_unit_vectors(traced.inputs))
        made = []
        for output, columns_of_output in zip(traced.outputs, found, strict=True):
            flat = columns_of_output.movedim(-1, 0)
            shaped = [
                _rows_of(traced.inputs, at, flat).movedim(0, -1).reshape((*output.shape, *tensor.shape))
                for at, tensor in enumerate(traced.inputs)
            ]
            made.append(chosen.like_argnums(traced.as_arguments(shaped)))
        result = tree_unflatten(made, traced.structure)
        return (result, traced.aux) if has_aux else result

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """The function that gives the second derivatives of `func`: forward mode over reverse mode.

    Args:
        func: returns a tensor, or a container of them.
        argnums: for which positional arguments; a tuple gives a tuple of tuples.

    Example:
        >>> import raxis
        >>> raxis.func.hessian(lambda x: (x ** 3).sum())(raxis.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def _unit_vectors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each tensor, its part of every unit vector over the elements of all of them."""
    from raxis.ops.definitions.creation import zeros

    total = sum(tensor.numel() for tensor in tensors)
    made, start = [], 0
    for tensor in tensors:
        count = tensor.numel()
        unit = zeros((total, count), dtype=tensor.dtype, device=tensor.device)
        unit.narrow(0, start, count).fill_diagonal_(1)
        made.append(unit.reshape((total, *tensor.shape)))
        start += count
    return made


def _rows_of(tensors: Sequence[Tensor], at: int, rows: Tensor) -> Tensor:
    """The rows that belong to the elements of one of the tensors."""
    start = sum(tensor.numel() for tensor in tensors[:at])
    return rows.narrow(0, start, tensors[at].numel())
