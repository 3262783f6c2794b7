"""Derivatives of functions: vjp, jacobian, hessian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd.grad_mode import enable_grad
from raxis.autograd.gradients import grad
from raxis.tensor import Tensor

Tensors = Tensor | tuple[Tensor, ...]


def _inputs(given: Tensors | Sequence[Tensor], create_graph: bool) -> tuple[Tensor, ...]:
    tensors = (given,) if isinstance(given, Tensor) else tuple(given)
    return tuple(tensor if create_graph else tensor.detach().requires_grad_() for tensor in tensors)


def _call(function: Callable[..., Any], inputs: Sequence[Tensor]) -> tuple[Any, tuple[Tensor, ...]]:
    with enable_grad():
        returned = function(*inputs)
    outputs = (returned,) if isinstance(returned, Tensor) else tuple(returned)
    for output in outputs:
        if not isinstance(output, Tensor):
            raise TypeError(
                f"The function must return a Tensor or a tuple of Tensors, but got {type(output).__name__}."
            )
    return returned, outputs


def _like(given: Any, results: Sequence[Any]) -> Any:
    return results[0] if isinstance(given, Tensor) else tuple(results)


def vjp(
    func: Callable[..., Any], inputs: Tensors, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The value of `func` and the product of `v` with its Jacobian.

    Args:
        func: takes tensors, returns a tensor or a tuple of them.
        inputs: where to differentiate.
        v: one cotangent per output; may be left out for a single scalar output.
        create_graph: make the result differentiable.
        strict: raise when an input does not influence the outputs, instead of returning zeros.
    """
    prepared = _inputs(inputs, create_graph)
    returned, outputs = _call(func, prepared)
    found = grad(
        outputs, prepared, v, create_graph=create_graph, allow_unused=not strict, materialize_grads=not strict
    )
    value = returned if create_graph else _like(returned, [output.detach() for output in outputs])
    return value, _like(inputs, found)


def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
) -> Any:
    """The Jacobian: for each output and input a tensor of shape ``output.shape + input.shape``.

    Args:
        func: takes tensors, returns a tensor or a tuple of them.
        inputs: where to differentiate.
        create_graph: make the result differentiable.
        strict: raise when an input does not influence an output, instead of giving zeros.

    Example:
        >>> import raxis
        >>> raxis.autograd.functional.jacobian(lambda x: x * x, raxis.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    prepared = _inputs(inputs, create_graph)
    returned, outputs = _call(func, prepared)
    rows = [_rows(output, prepared, create_graph, strict) for output in outputs]
    return _like(returned, [_like(inputs, row) for row in rows])


def _rows(output: Tensor, inputs: Sequence[Tensor], create_graph: bool, strict: bool) -> list[Tensor]:
    from raxis.ops.definitions.joining import stack

    columns: list[list[Tensor]] = [[] for _ in inputs]
    for element in output.reshape(-1):
        found = grad(
            element, inputs, retain_graph=True, create_graph=create_graph, allow_unused=not strict,
            materialize_grads=not strict,
        )  # fmt: skip
        for column, gradient in zip(columns, found, strict=True):
            assert gradient is not None  # materialised, or an error was raised
            column.append(gradient)
    return [
        stack(column).reshape((*output.shape, *tensor.shape))
        if column
        else tensor.new_zeros((*output.shape, *tensor.shape))
        for column, tensor in zip(columns, inputs, strict=True)
    ]


def hessian(
    func: Callable[..., Tensor], inputs: Tensors, create_graph: bool = False, strict: bool = False
) -> Any:
    """The matrix of second derivatives of a scalar function.

    Args:
        func: returns a tensor of one element.
        inputs: where to differentiate.
        create_graph: make the result differentiable.
        strict: as for `jacobian`.
    """

    def first(*given: Tensor) -> tuple[Tensor, ...]:
        found = grad(
            func(*given), given, create_graph=True, allow_unused=not strict, materialize_grads=not strict
        )
        return tuple(gradient for gradient in found if gradient is not None)

    found = jacobian(first, inputs, create_graph=create_graph, strict=strict)
    if isinstance(inputs, Tensor):
        return found[0][0] if isinstance(found[0], tuple) else found[0]
    return found
