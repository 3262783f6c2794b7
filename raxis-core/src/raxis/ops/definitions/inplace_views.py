"""In-place forms of view ops: the tensor itself takes the view's geometry (``unsqueeze_``, ``t_``, ...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.autograd.inplace import check_inplace
from raxis.ops.definitions import strided_views, transposition, views
from raxis.ops.table import composed
from raxis.tensor import Tensor


def _publish(schema: str, view: Callable[..., Any], summary: str) -> None:
    name = schema.partition("(")[0]

    def body(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_inplace(name, input)
        made = view(input, *args, **kwargs)
        edge = made._edge
        input._layout, input._offset = made._layout, made._offset
        if edge is not None:
            input._edge = edge
        input._storage.version += (
            1  # a saved reference to this object would show the new geometry in backward
        )
        return input

    body.__doc__ = summary
    composed(schema, function=False, out=False)(body)


_publish("unsqueeze_(Tensor input, int dim) -> Tensor", views.unsqueeze, "`unsqueeze` in place.")
_publish("squeeze_(Tensor input, int[]? dim=None) -> Tensor", views.squeeze, "`squeeze` in place.")
_publish(
    "transpose_(Tensor input, int dim0, int dim1) -> Tensor", transposition.transpose, "`transpose` in place."
)
_publish(
    "swapaxes_(Tensor input, int axis0, int axis1) -> Tensor", transposition.swapaxes, "`swapaxes` in place."
)
_publish(
    "swapdims_(Tensor input, int dim0, int dim1) -> Tensor", transposition.swapdims, "`swapdims` in place."
)
_publish("t_(Tensor input) -> Tensor", transposition.t, "`t` in place.")
_publish(
    "as_strided_(Tensor input, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    strided_views.as_strided,
    "`as_strided` in place.",
)
