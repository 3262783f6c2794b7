"""Calls that miss the plan cache, and calls with a destination."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from raxis.autograd.grad_mode import mode
from raxis.errors import MixedDevicesError
from raxis.interception import active, observer
from raxis.interop import share
from raxis.ops import launch, tables
from raxis.ops.arguments import is_number, normalise
from raxis.ops.destination import check_destination, overwrite_with_plan, store_op_results, write_with_plan
from raxis.ops.plan import build, common_device, tensor_operands, traced_plan
from raxis.ops.schema import Parameter
from raxis.ops.table import Kind, Op
from raxis.ops.viewing import view_run
from raxis.return_types import return_type
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording
    from raxis.layout import Layout


def call(op: Op, arguments: tuple[Any, ...], out: Any = None) -> Any:
    """Run an op whose plan is not cached, or that writes into `out`."""
    if out is not None:
        return _call_into(op, arguments, out)
    if active.recording is not None:
        arguments = active.recording.operands(arguments, op.name)
    values = normalise(op, arguments)
    recording = _noted(op, values)
    run = run_of(op, values)
    if recording is None and _interchangeable(op, arguments, values):
        _remember_raw(op, op.plans, arguments, run)
    result = _run(op.public_name, run, values)
    if recording is not None and op.kind is Kind.VIEWED:
        for view in result if isinstance(result, tuple) else (result,):
            if not view._layout.traced:
                recording.note_made(view)
    return result


def _call_into(op: Op, arguments: tuple[Any, ...], out: Any) -> Any:
    """Compute straight into `out` where that is laid out like the result and apart from the operands; else copy."""
    if op.adopts and isinstance(out, Tensor):
        arguments = _adopting(op, arguments, out)
    if op.kind is Kind.LOWERED and isinstance(out, Tensor) and active.recording is None:
        values = normalise(op, arguments)
        run = _run_into(op, values, out)
        if run is not None:
            check_destination(op.public_name, out)
            return _run(op.public_name, run, [*values, out])
    named = dict(zip((parameter.name for parameter in op.parameters), arguments, strict=True))
    return store_op_results(op, named, call(op, arguments), out)


def _adopting(op: Op, arguments: tuple[Any, ...], out: Tensor) -> tuple[Any, ...]:
    """The arguments, with the destination's dtype where none is given."""
    place = op.schema.position("dtype")
    chosen = out.dtype if arguments[place] is None else arguments[place]
    return (*arguments[:place], chosen, *arguments[place + 1 :])


def _run_into(op: Op, values: Sequence[Any], out: Tensor) -> Callable[..., Any] | None:
    operands = tensor_operands(op, values)
    if any(item._layout.traced or item._storage is out._storage for item in operands):
        return None
    if mode.enabled and any(item._edge is not None for item in (*operands, out)):
        return None
    key = (plan_key(op, values), out._layout)
    run = tables.find(op.out_plans, key)
    if run is None:
        plan = build(op, values)
        run = partial(write_with_plan, plan) if plan.results == (out._layout,) else _no_run
        tables.remember(op.out_plans, key, run)
    return None if run is _no_run else run


def _no_run(*_arguments: Any) -> Any:
    """Stands in the table for a destination that results are copied to, so that no plan is made for it again."""


def run_of(op: Op, values: Sequence[Any]) -> Callable[..., Any]:
    """The function of an op's plan for normalised arguments like these."""
    key = plan_key(op, values)
    run = tables.find(op.plans, key)
    if run is None:
        run = _planned(op, partial(_make_run, op, values))
        tables.remember(op.plans, key, run)
    return run


def repeated(op: Op, *arguments: Any) -> Callable[..., Any]:
    """The call of an op, to be made any number of times; a Generator as its last parameter is left open."""
    is_random = op.parameters[-1].type == "Generator"
    if active.recording is not None:
        return lambda *generator: call(op, (*arguments, *generator))
    values = normalise(op, (*arguments, None) if is_random else arguments)
    return partial(run_of(op, values), *values[: len(arguments)])


def _noted(op: Op, values: Sequence[Any]) -> Recording | None:
    """The thread's recording, told of the operands; None if there is none, or if it cannot go on with these."""
    if active.recording is not None:
        operands = tensor_operands(op, values)
        if not any(operand._layout.traced for operand in operands):
            outside = [operand for operand in operands if not operand._layout.device.depth]
            active.recording.note(outside, common_device(op, values).base)
    return active.recording


def call_operator(op: Op, arguments: tuple[Any, ...], own: Any) -> Any:
    """Run an op for an operator method of `own`: arrays become tensors, operands it does not know give NotImplemented.

    Raises:
        TypeError: if `own` is no tensor, as when the method is called by hand.
    """
    if not isinstance(own, Tensor):
        raise TypeError(
            f"the operator of {op.name} is a method of tensors, but was called on a {type(own).__name__}"
        )
    operands = list(arguments)
    for position, (parameter, value) in enumerate(zip(op.parameters, arguments, strict=True)):
        if not parameter.is_tensor or isinstance(value, Tensor):
            continue
        if isinstance(value, np.ndarray):
            operands[position] = share(np.asarray(value, order="C"))
        elif not is_number(value):
            return NotImplemented
    return call(op, tuple(operands))


def plan_key(op: Op, values: Sequence[Any]) -> Any:
    """The cache key of normalised arguments; what the generated entry computes inline."""
    parts = [
        _key_part(parameter, value)
        for parameter, value in zip(op.parameters, values, strict=True)
        if parameter.type != "Generator"
    ]
    return parts[0] if len(parts) == 1 else tuple(parts)


def _key_part(parameter: Parameter, value: Any) -> Any:
    if parameter.is_real:
        return value or str(value)
    if parameter.is_scalar:
        return value is not parameter.default and type(value)
    if value is None or parameter.is_static:
        return value
    if isinstance(value, tuple):
        return tuple([None if item is None else item._layout for item in value])
    if isinstance(value, Tensor):
        return value._layout
    return type(value)


def _interchangeable(op: Op, raw: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether a run made for the normalised values may be called with the raw ones."""
    return all(
        (parameter.is_static and not _holds_tensor(given) and not _is_nan(given))
        or given is value
        or (isinstance(value, tuple) and isinstance(given, (list, tuple)))
        for parameter, given, value in zip(op.parameters, raw, values, strict=True)
    )


def _is_nan(value: Any) -> bool:
    """Whether a static argument is NaN, which as a key is found only by identity."""
    return isinstance(value, float) and math.isnan(value)


def _holds_tensor(value: Any) -> bool:
    """Whether a static argument was given as a tensor, whose value may change under the same key."""
    return isinstance(value, Tensor) or (isinstance(value, (tuple, list)) and any(map(_holds_tensor, value)))


def _remember_raw(op: Op, plans: dict[Any, Any], raw: Sequence[Any], run: Callable[..., Any]) -> None:
    frozen = [
        tuple(value) if parameter.length is not None and isinstance(value, list) else value
        for parameter, value in zip(op.parameters, raw, strict=True)
    ]
    try:
        tables.remember(plans, plan_key(op, frozen), run)
    except TypeError:
        return  # an unhashable argument, such as a list of sizes: normalised again at each call


def _make_run(op: Op, values: Sequence[Any]) -> Callable[..., Any]:
    if any(operand._layout.traced for operand in tensor_operands(op, values)):
        return traced_plan(op)
    if op.kind is Kind.VIEWED:
        return view_run(op, values)
    return launch.functional_run(build(op, values), values, return_type(op))


def call_inplace(op: Op, arguments: tuple[Any, ...]) -> Any:
    """Run the in-place form of an op whose plan is not cached."""
    if active.recording is not None:
        arguments = active.recording.operands(arguments, op.name)
    values = normalise(op, arguments)
    recording = _noted(op, values)
    target = values[0]
    if target is not arguments[0]:
        raise MixedDevicesError(
            f"{op.public_name}_()",
            f"Expected all tensors to be on the same device, but the tensor written to is on {arguments[0].device} and "
            f"another operand on {target.device}.",
        )
    check_destination(f"{op.name}_", target)
    key = plan_key(op, values)
    run = tables.find(op.inplace_plans, key)
    if run is None:
        run = _planned(op, partial(_make_inplace_run, op, values, target._layout))
        tables.remember(op.inplace_plans, key, run)
    if recording is not None:
        recording.note_write(target)
    elif _interchangeable(op, arguments, values):
        _remember_raw(op, op.inplace_plans, arguments, run)
    return _run(f"{op.public_name}_", run, values)


def _make_inplace_run(op: Op, values: Sequence[Any], target: Layout) -> Callable[..., Any]:
    plan = build(op, values, target)
    return launch.inplace_run(plan, values, partial(overwrite_with_plan, plan))


def _planned(op: Op, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    observing = observer()
    made: Callable[..., Any] = (
        make() if observing is None else observing.run(f"plan {op.public_name}", "compile", make, ())
    )
    return made


def _run(name: str, run: Callable[..., Any], values: Sequence[Any]) -> Any:
    observing = observer()
    return run(*values) if observing is None else observing.run(name, "op", run, values)
