"""Leaves: switching requires_grad, checking and clearing their grad, setting their data."""

from __future__ import annotations

from raxis.autograd.node import AccumulateGrad
from raxis.dtypes import Category
from raxis.interception import active, anyone
from raxis.tensor import Tensor


def set_requires_grad(tensor: Tensor, value: bool) -> None:
    """Make a leaf require grad or not.

    Raises:
        RuntimeError: for a non-leaf set to False, or an integer or bool tensor set to True.
    """
    edge = tensor._edge
    if edge is not None and not edge[0].is_accumulator:
        if not value:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        return
    if not value:
        tensor._edge = None
    elif edge is None:
        if tensor._layout.dtype.category < Category.FLOAT:
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, but got {tensor.dtype}."
            )
        if tensor._inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
            )
        tensor._edge = (AccumulateGrad(tensor), 0)


def check_grad(tensor: Tensor, grad: object) -> None:
    """Raise unless `grad` can be the gradient of `tensor`."""
    if not isinstance(grad, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}"
        )
    if grad is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad._layout is tensor._layout:
        return
    for what, given, expected in (
        ("size", list(grad._layout.shape), list(tensor._layout.shape)),
        ("type", grad.dtype, tensor.dtype),
        ("device", grad.device, tensor.device),
    ):
        if given != expected:
            raise RuntimeError(
                f"assigned grad has data of a different {what}: expected {expected} as the tensor has, but got {given}"
            )


def set_data(tensor: Tensor, value: Tensor) -> None:
    """Make `tensor` show the memory of `value`; its place on the tape stays.

    Raises:
        TypeError: if `value` is no tensor.
        RuntimeError: if `tensor` requires grad and `value`'s dtype cannot.
    """
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    edge = tensor._edge
    if edge is not None and value._layout.dtype.category < Category.FLOAT:
        raise RuntimeError(
            f"data set to a tensor that requires gradients must be floating point or complex, not {value.dtype}"
        )
    changed = tensor._layout is not value._layout
    tensor._storage, tensor._offset, tensor._layout = value._storage, value._offset, value._layout
    if changed and edge is not None and edge[0].is_accumulator:
        tensor._edge = (AccumulateGrad(tensor), 0)


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Drop a gradient, or fill it with zeros outside of any graph."""
    if anyone.records and active.recording is not None:
        active.recording.note_grad(parameter)
    grad = parameter._grad
    if set_to_none:
        parameter._grad = None
    elif grad is not None and grad._edge is None:
        grad.zero_()
    elif grad is not None:
        parameter.grad = grad.detach().zero_()
