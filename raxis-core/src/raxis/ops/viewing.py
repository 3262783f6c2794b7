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

Geometry = tuple[Any, ...]
"""Shape, strides, the step from the operand's offset, and the dtype if it is not the operand's."""


def view_run(op: Op, values: Sequence[Any]) -> Callable[..., Any]:
    """The run of a view op for an operand of this layout."""
    layout: Layout = values[0]._layout
    static = static_arguments(op, values)
    geometry = op.body(layout, **static)
    if isinstance(geometry, list):
        return _several(op, static, layout, geometry)
    return _one(op, static, layout, geometry)


def _plan(op: Op, static: dict[str, Any], layout: Layout, geometries: Sequence[Geometry]) -> Plan:
    layouts = tuple(
        layout_of(dtype[0] if dtype else layout.dtype, shape, strides, layout.device)
        for shape, strides, _, *dtype in geometries
    )
    return Plan(op, static, layouts)


def _one(op: Op, static: dict[str, Any], layout: Layout, geometry: Geometry) -> Callable[..., Any]:
    plan = _plan(op, static, layout, [geometry])
    result, step = plan.results[0], geometry[2]
    differentiable = plan.differentiable
    if result.dtype is not layout.dtype:
        return _reinterpreted(plan, layout, step)

    def run(input: Tensor, *rest: Any) -> Tensor:
        view = view_of(input, result, input._offset + step)
        if differentiable and input._edge is not None and mode.enabled:
            record(plan, (input,), (input, *rest), (view,))
        if input._inference:
            view._inference = True
        return view

    return run


def _reinterpreted(plan: Plan, layout: Layout, step: int) -> Callable[..., Any]:
    """The run of a view of the same bytes in another dtype; offsets count elements of the new one."""
    result = plan.results[0]
    old, new = layout.dtype.itemsize, result.dtype.itemsize

    def run(input: Tensor, *rest: Any) -> Tensor:
        offset = input._offset * old
        if offset % new:
            raise RuntimeError(
                f"{plan.op.name}(): the tensor's storage_offset {input._offset} must be divisible by {new // old} "
                f"to view {layout.dtype} as {result.dtype}."
            )
        view = view_of(input, result, offset // new + step)
        if plan.differentiable and input._edge is not None and mode.enabled:
            record(plan, (input,), (input, *rest), (view,))
        view._inference = input._inference
        return view

    return run


def _several(
    op: Op, static: dict[str, Any], layout: Layout, geometries: Sequence[Geometry]
) -> Callable[..., Any]:
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
