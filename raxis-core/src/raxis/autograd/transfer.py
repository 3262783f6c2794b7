"""The tape across devices: the gradient of a moved tensor moves back."""

from __future__ import annotations

from raxis.autograd.node import Gradients, Node, next_number
from raxis.dtypes import Category
from raxis.tensor import Tensor


class Transfer(Node):
    """Backward of copying a tensor to another device."""

    def __init__(self, source: Tensor, result: Tensor) -> None:
        self.number = next_number()
        self.edges = [source._edge]
        self.result_layouts = (result._layout,)
        self._device = source._layout.device

    def name(self) -> str:
        return "ToCopyBackward0"

    def apply(self, gradients: Gradients) -> Gradients:
        gradient = gradients[0]
        return [None if gradient is None else gradient.to(self._device)]


def record_transfer(source: Tensor, result: Tensor) -> None:
    """Make `result`'s gradient flow to `source`."""
    if result._layout.dtype.category >= Category.FLOAT:
        result._edge = (Transfer(source, result), 0)
