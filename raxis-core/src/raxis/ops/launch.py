"""Generated `run` functions: from arguments to one call of the executable.

A run is specialised on which arguments are tensors, numbers or absent, so it is straight-line code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis import random
from raxis.autograd.grad_mode import ever, mode
from raxis.layout import extent
from raxis.ops.exhaustion import exhausted, second_attempt
from raxis.ops.plan import Plan, tensor_operands
from raxis.ops.source import compiled_run
from raxis.tensor import Tensor, blank


def functional_run(
    plan: Plan, arguments: Sequence[Any], returns: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Allocate results, execute, record on the tape."""
    parameters = ", ".join(parameter.name for parameter in plan.op.parameters)
    lines: list[str] = []
    passed, edges = _operands(plan, arguments, lines)
    for position, _ in enumerate(plan.results):
        lines += [
            f"s{position} = _Storage()",
            f"s{position}.buffer = b{position} = _allocate{position}()",
            f"s{position}.nbytes = _n{position}",
            f"s{position}.place = _place",
            f"s{position}.version = 0",
            f"s{position}.read_only = False",
        ]
        passed += [f"b{position}", "0"]
    lines += _random_lines(plan, passed)
    lines += [
        "try:",
        f"    _execute({', '.join(passed)})",
        "except MemoryError:",
        f"    _second_attempt(_place, _execute, {', '.join(passed)})",
    ]
    for position, _ in enumerate(plan.results):
        lines += [
            f"r{position} = _blank()",
            f"r{position}._storage = s{position}",
            f"r{position}._offset = 0",
            f"r{position}._layout = _l{position}",
            f"r{position}._edge = None",
        ]
    results = ", ".join(f"r{position}" for position in range(len(plan.results)))
    lines += _record_lines(plan, edges, f"{parameters}, {results}")
    lines += ["if _ever.inferred and _mode.inference:", f"    _mark({results})"]
    lines.append(f"return {results}" if returns is None else f"return _returns({results})")
    return _compile(plan, lines, _returns=returns)


def inplace_run(plan: Plan, arguments: Sequence[Any], slow: Callable[..., Any]) -> Callable[..., Any]:
    """Execute into the first argument; calls needing checks, the tape or a copy of an operand are slow."""
    parameters = ", ".join(parameter.name for parameter in plan.op.parameters)
    target = plan.op.parameters[0].name
    lines: list[str] = []
    passed, edges = _operands(plan, arguments, lines)
    meeting, reaches = _meeting(plan, arguments)
    if plan.recorders is not None and edges:
        lines += [f"if ({' or '.join(edges)}) and _mode.enabled:", f"    return _slow(({parameters},))"]
    lines += [
        f"_storage = {target}._storage",
        f"if _storage.read_only or {target}._inference or ({target}._base is not None "
        f"and {target}._base._edge is not None):",
        f"    return _slow(({parameters},))",
    ]
    if meeting:
        lines += [f"if {' or '.join(meeting)}:", f"    return _slow(({parameters},))"]
    passed += ["_storage.buffer", f"{target}._offset"]
    lines += _random_lines(plan, passed)
    lines += [
        "try:",
        f"    _execute({', '.join(passed)})",
        "except MemoryError as error:",
        "    raise _exhausted(_place, error) from None",
        "_storage.version += 1",
        f"return {target}",
    ]
    return _compile(plan, lines, _slow=slow, **reaches)


def _meeting(plan: Plan, arguments: Sequence[Any]) -> tuple[list[str], dict[str, int]]:
    """Source of the conditions under which an operand shares elements with the target, and names in it."""
    target, *others = zip(_tensor_names(plan, arguments), tensor_operands(plan.op, arguments), strict=True)
    conditions = []
    reaches = {}
    for name, operand in (target, *others):
        reaches[f"_reach_{name}"] = extent(operand._layout.shape, operand._layout.strides)
    own = target[0]
    for name, operand in others:
        parts = [f"{name}._storage is _storage", f"{name} is not {own}"]
        if (
            operand._layout.dtype.itemsize == target[1]._layout.dtype.itemsize
        ):  # else offsets count other units
            parts += [
                f"{name}._offset < {own}._offset + _reach_{own}",
                f"{own}._offset < {name}._offset + _reach_{name}",
            ]
        conditions.append(f"({' and '.join(parts)})")
    return conditions, reaches


def _operands(plan: Plan, arguments: Sequence[Any], lines: list[str]) -> tuple[list[str], list[str]]:
    """Source of the operands passed on, and of the conditions under which a gradient flows."""
    passed: list[str] = []
    edges: list[str] = []
    for parameter, value in zip(plan.op.parameters, arguments, strict=True):
        if value is None or parameter.is_static:
            continue
        name = parameter.name
        if isinstance(value, tuple):
            for index, item in enumerate(value):
                if item is not None:
                    element = f"{name}_{index}"
                    lines.append(f"{element} = {name}[{index}]")
                    passed += [f"{element}._storage.buffer", f"{element}._offset"]
                    edges.append(f"{element}._edge is not None")
        elif isinstance(value, Tensor):
            passed += [f"{name}._storage.buffer", f"{name}._offset"]
            edges.append(f"{name}._edge is not None")
        elif value is not parameter.default:
            passed.append(name)
            if type(value) is int:
                lines += [f"if not {_LEAST} <= {name} < {_BEYOND}:", f"    _overflow({name})"]
    return passed, edges


_LEAST, _BEYOND = -(1 << 63), 1 << 64


def _overflow(number: int) -> None:
    raise OverflowError(f"int too big to convert: {number} does not fit 64 bits.")


def _tensor_names(plan: Plan, arguments: Sequence[Any]) -> list[str]:
    names = []
    for parameter, value in zip(plan.op.parameters, arguments, strict=True):
        if isinstance(value, Tensor):
            names.append(parameter.name)
        elif isinstance(value, tuple) and parameter.is_tensor:
            names += [f"{parameter.name}_{index}" for index, item in enumerate(value) if item is not None]
    return names


def _random_lines(plan: Plan, passed: list[str]) -> list[str]:
    if not plan.uses_random:
        return []
    results = 2 * len(plan.results)
    passed[len(passed) - results : len(passed) - results] = ["_key", "_counter"]
    generator = "generator" if any(p.type == "Generator" for p in plan.op.parameters) else "None"
    return [f"_key, _counter = _reserve({generator}, _place, {plan.random_blocks})"]


def _record_lines(plan: Plan, edges: list[str], passed: str) -> list[str]:
    if plan.recorders is None or not edges:
        return []
    return [
        f"if ({' or '.join(edges)}) and _mode.enabled:",
        f"    _recorders[{', '.join(edges)},]({passed})",
    ]


def _mark(*results: Tensor) -> None:
    for result in results:
        result._inference = True


def _compile(plan: Plan, lines: list[str], **names: Any) -> Callable[..., Any]:
    place = plan.place
    assert place is not None  # set by plan.build, which made this plan
    namespace: dict[str, Any] = {
        "_blank": blank,
        "_Storage": place.storage,
        "_place": place,
        "_execute": plan.execute,
        "_second_attempt": second_attempt,
        "_exhausted": exhausted,
        "_mode": mode,
        "_ever": ever,
        "_recorders": plan.recorders,
        "_mark": _mark,
        "_overflow": _overflow,
        "_reserve": random.reserve,
        **names,
    }
    for position, layout in enumerate(plan.results):
        namespace[f"_allocate{position}"] = place.backend.allocator(layout.nbytes, place.index)
        namespace[f"_n{position}"] = layout.nbytes
        namespace[f"_l{position}"] = layout
    return compiled_run(plan.op, lines, namespace)
