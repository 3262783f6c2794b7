"""Plans of view ops: a new layout and offset over the same storage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd.grad_mode import ever, mode
from raxis.autograd.record import record
from raxis.layout import Layout, layout_of
from raxis.ops.plan import Plan, static_arguments
from raxis.ops.source import compiled_run
from raxis.ops.table import Op
from raxis.tensor import Tensor, blank_view, view_of

Geometry = tuple[Any, ...]
"""Shape, strides, the step from the operand's offset, and the dtype if it is not the operand's."""


def view_run(op: Op, values: Sequence[Any]) -> Callable[..., Any]:
    """The run of a view op for an operand of this layout."""
    layout: Layout = values[0]._layout
    geometry = op.body(layout, **static_arguments(op, values))
    if isinstance(geometry, list):
        return _several(_plan(op, values, geometry), [step for _, _, step in geometry])
    plan = _plan(op, values, [geometry])
    if plan.results[0].dtype is not layout.dtype:
        return _reinterpreted(plan, layout, geometry[2])
    return _one(plan, geometry[2])


def _plan(op: Op, values: Sequence[Any], geometries: Sequence[Geometry]) -> Plan:
    layout: Layout = values[0]._layout
    layouts = tuple(
        layout_of(dtype[0] if dtype else layout.dtype, shape, strides, layout.device)
        for shape, strides, _, *dtype in geometries
    )
    return Plan(op, values, layouts)


def _one(plan: Plan, step: int) -> Callable[..., Any]:
    """`view_of` in line, and the tape."""
    input, *rest = [parameter.name for parameter in plan.op.parameters]
    lines = [
        "view = _blank()",
        f"view._storage = {input}._storage",
        f"view._offset = {input}._offset" + (" + _step" if step else ""),
        "view._layout = _layout",
        f"base = {input}._base",
        f"view._base = base = {input} if base is None else base",
        "if base._rebased: view._seen = base._rebased",
    ]
    if plan.recorders is not None:
        passed = ", ".join([input, *rest, "view"])
        lines.append(f"if {input}._edge is not None and _mode.enabled: _recorders[True,]({passed})")
    lines += [f"if _ever.inferred and {input}._inference: view._inference = True", "return view"]
    names = {
        "_blank": blank_view,
        "_ever": ever,
        "_layout": plan.results[0],
        "_mode": mode,
        "_recorders": plan.recorders,
        "_step": step,
    }
    return compiled_run(plan.op, lines, names)


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
        if input._edge is not None and mode.enabled:
            record(plan, (input, *rest), (view,))
        view._inference = input._inference
        return view

    return run


def _several(plan: Plan, steps: Sequence[int]) -> Callable[..., Any]:
    pairs = list(zip(plan.results, steps, strict=True))
    name = plan.op.name

    def run(input: Tensor, *rest: Any) -> tuple[Tensor, ...]:
        offset = input._offset
        views = tuple([view_of(input, result, offset + step) for result, step in pairs])
        if input._edge is not None and mode.enabled:
            record(plan, (input, *rest), views)
        for view in views:
            view._one_of_many = name
        if ever.inferred and input._inference:
            for view in views:
                view._inference = True
        return views

    return run
