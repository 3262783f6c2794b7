"""Forms of the view ops that copy: ``permute_copy(x, dims)`` is ``permute(x, dims).clone()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.ops.definitions import slicing, splitting, strided_views, transposition, views
from raxis.ops.table import composed
from raxis.tensor import Tensor


def _publish(schema: str, view: Callable[..., Any]) -> None:
    name = schema.partition("(")[0]

    def body(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        made = view(input, *args, **kwargs)
        return tuple(part.clone() for part in made) if isinstance(made, tuple) else made.clone()

    body.__doc__ = f"`{name.removesuffix('_copy')}`, in new memory."
    composed(schema, method=False)(body)


_publish("alias_copy(Tensor input) -> Tensor", views.alias)
_publish(
    "as_strided_copy(Tensor input, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    strided_views.as_strided,
)
_publish("detach_copy(Tensor input) -> Tensor", views.detach)
_publish("diagonal_copy(Tensor input, int offset=0, int dim1=0, int dim2=1) -> Tensor", slicing.diagonal)
_publish("expand_copy(Tensor input, int[] size) -> Tensor", views.expand)
_publish("permute_copy(Tensor input, int[] dims) -> Tensor", transposition.permute)
_publish("select_copy(Tensor input, int dim, int index) -> Tensor", slicing.select)
_publish(
    "split_with_sizes_copy(Tensor input, int[] split_sizes, int dim=0) -> Tensor", splitting.split_with_sizes
)
_publish("squeeze_copy(Tensor input, int[]? dim=None) -> Tensor", views.squeeze)
_publish("t_copy(Tensor input) -> Tensor", transposition.t)
_publish("transpose_copy(Tensor input, int dim0, int dim1) -> Tensor", transposition.transpose)
_publish("unbind_copy(Tensor input, int dim=0) -> Tensor", splitting.unbind)
_publish("unfold_copy(Tensor input, int dimension, int size, int step) -> Tensor", slicing.unfold)
_publish("unsqueeze_copy(Tensor input, int dim) -> Tensor", views.unsqueeze)
_publish("view_copy(Tensor input, int[] size) -> Tensor", views.view)
