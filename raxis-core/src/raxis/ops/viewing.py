"""Plans of view ops: a new layout and offset over the same storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd.grad_mode import mode
from raxis.autograd.record import record
from raxis.layout import Layout, layout_of
from raxis.ops.plan import Plan, static_arguments
from raxis.ops.table import Op
from raxis.tensor import Tensor, view_of

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]
"""Shape, strides, and the step from the operand's offset."""


def view_run(op: Op, values: Sequence[Any]) -> Callable[..., Any]:
    """The run of a view op for an operand of this layout."""
    layout: Layout = values[0]._layout
    static = static_arguments(op, values)
    geometry = op.body(layout, **static)
    if isinstance(geometry, list):
        return _several(op, static, layout, geometry)
    return _one(op, static, layout, geometry)


def _plan(op: Op, static: dict[str, Any], layout: Layout, geometries: Sequence[Geometry]) -> Plan:
    layouts = tuple(layout_of(layout.dtype, shape, strides, layout.device) for shape, strides, _ in geometries)
    return Plan(op, static, layouts)


def _one(op: Op, static: dict[str, Any], layout: Layout, geometry: Geometry) -> Callable[..., Any]:
    plan = _plan(op, static, layout, [geometry])
    result, step = plan.results[0], geometry[2]
    differentiable = plan.differentiable

    def run(input: Tensor, *rest: Any) -> Tensor:
        view = view_of(input, result, input._offset + step)
        if differentiable and input._edge is not None and mode.enabled:
            record(plan, (input,), (input, *rest), (view,))
        if input._inference:
            view._inference = True
        return view

    return run


def _several(op: Op, static: dict[str, Any], layout: Layout, geometries: Sequence[Geometry]) -> Callable[..., Any]:
    plan = _plan(op, static, layout, geometries)
    pairs = [(result, geometry[2]) for result, geometry in zip(plan.results, geometries, strict=True)]
    differentiable = plan.differentiable

    def run(input: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        views = tuple(view_of(input, result, input._offset + step) for result, step in pairs)
        if differentiable and input._edge is not None and mode.enabled:
            record(plan, (input,), (input, *rest), views)
        for view in views:
            view._one_of_many = op.name
            view._inference = input._inference
        return views

    return run
