"""Access to the tape: nodes, edges of tensors, hooks on saved tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from raxis.autograd.node import Node
from raxis.autograd.saved_hooks import saved_tensors_hooks
from raxis.tensor import Tensor


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes: a node and the position of the result there."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of `tensor`.

    Raises:
        RuntimeError: if it does not require grad.
    """
    edge = tensor._edge
    if edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(*edge)


class save_on_cpu(saved_tensors_hooks):
    """``with save_on_cpu():`` what is saved for backward is kept in host memory.

    Args:
        pin_memory: accepted for PyTorch's sake; has no effect.
    """

    def __init__(self, pin_memory: bool = False) -> None:
        super().__init__(_pack, _unpack)


def _pack(tensor: Tensor) -> Any:
    return tensor.device, tensor.to("cpu")


def _unpack(packed: Any) -> Tensor:
    device, tensor = packed
    return tensor.to(device)


__all__ = ["GradientEdge", "Node", "get_gradient_edge", "save_on_cpu", "saved_tensors_hooks"]
