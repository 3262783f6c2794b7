"""Views: tensors that share the storage of their operand."""

from __future__ import annotations

from typing import Any

from raxis.layout import Layout, view_strides, contiguous_strides
from raxis.ops.table import viewed, composed
from raxis.ops.trace import broadcast, emit
from raxis.tensor import Tensor


@viewed(
    "expand(Tensor input, int... size) -> Tensor",
    lower=lambda input, size: broadcast(input, size),
    vjp={"input": lambda grad: grad},
)
def expand(layout: Layout, size: tuple[int, ...]) -> Any:
    """"""
    lead = len(size) - layout.ndim
    strides = [0] * lead + [0 if s == 1 and t != 1 else st for s, st, t in zip(layout.shape, layout.strides, size[lead:])]
    return size, tuple(strides), 0


@viewed(
    "view(Tensor input, int... size) -> Tensor",
    lower=lambda input, size: emit("reshape", input, shape=size),
    vjp={"input": lambda grad, input_layout: grad.reshape(input_layout.shape)},
)
def view(layout: Layout, size: tuple[int, ...]) -> Any:
    """"""
    return size, view_strides(layout, size), 0

@composed("reshape(Tensor input, int... shape) -> Tensor", out=False)
def reshape(input, *shape):
    """"""
    s = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return input.view(*s) if view_strides(input._layout, tuple(s)) is not None else input.clone().view(*s)
