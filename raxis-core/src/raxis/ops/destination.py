"""Writing results into existing tensors: in-place forms and ``out=``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from raxis.autograd.grad_mode import mode
from raxis.autograd.inplace import check_inplace, rebase
from raxis.frames import user_stacklevel
from raxis.layout import Layout, contiguous_strides, extent, layout_of, overlaps_itself
from raxis.ops.arguments import call_by_name
from raxis.ops.exhaustion import exhausted
from raxis.ops.plan import Plan, check_writable, tensor_operands, tensors_in
from raxis.ops.table import Op
from raxis.tensor import Tensor, view_of, wrap


def check_destination(name: str, target: Any) -> None:
    """Raise unless `target` may be written in place.

    Raises:
        RuntimeError: if elements of `target` share memory, or autograd forbids the write.
    """
    if not isinstance(target, Tensor):
        raise TypeError(f"{name}(): the destination must be a Tensor, not {type(target).__name__}")
    _check_own_memory(name, target)
    check_inplace(name, target)


def _check_own_memory(name: str, target: Tensor) -> None:
    if overlaps_itself(target._layout):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            f"location ({name} on shape {list(target._layout.shape)} with strides {list(target._layout.strides)}). "
            "Please clone() the tensor before performing the operation."
        )


def overwrite_with_plan(plan: Plan, arguments: Sequence[Any]) -> Tensor:
    """The in-place form where operands may share memory with the target or gradients flow."""
    target: Tensor = arguments[0]
    check_inplace(f"{plan.op.public_name}_", target)
    operands = [separate(target, item) for item in arguments]
    tracked = any(operand._edge is not None for operand in tensor_operands(plan.op, operands))
    recorded = plan.recorders is not None and mode.enabled and tracked
    saved = _preserve(plan, operands) if recorded else operands
    _execute(plan, operands, target)
    target._storage.version += 1
    if recorded:
        rebase(plan, saved, target)
    return target


def write_with_plan(plan: Plan, *arguments: Any) -> Tensor:
    """``out=``: compute into the last of the arguments, which lies apart from the others and needs no gradient."""
    *operands, target = arguments
    _execute(plan, operands, target)
    target._storage.version += 1
    return target


def separate(target: Tensor, operand: Any) -> Any:
    """A copy of an operand that shares the target's memory at other places; any other operand itself."""
    if isinstance(operand, tuple):
        return tuple(separate(target, item) for item in operand)
    if not isinstance(operand, Tensor) or operand is target or operand._storage is not target._storage:
        return operand
    if operand._offset == target._offset and operand._layout is target._layout:
        return operand
    return _copied(operand) if reach_overlaps(target, operand) else operand


def _copied(operand: Tensor) -> Tensor:
    """The same values in memory of their own and in the same layout, which the plan was made for."""
    layout = operand._layout
    reach = layout_of(layout.dtype, (extent(layout.shape, layout.strides),), (1,), layout.device)
    copy = wrap(view_of(operand, reach, operand._offset).clone()._storage, 0, layout)
    copy._edge = operand._edge
    return copy


def reach_overlaps(first: Tensor, second: Tensor) -> bool:
    """Whether the ranges of storage of two tensors meet; those of two halves of a tensor do not."""
    ends = [
        tensor._offset + extent(tensor._layout.shape, tensor._layout.strides) for tensor in (first, second)
    ]
    same_size = first._layout.dtype.itemsize == second._layout.dtype.itemsize
    return not same_size or (first._offset < ends[1] and second._offset < ends[0])


def _preserve(plan: Plan, operands: Sequence[Any]) -> list[Any]:
    """The operands with the target replaced by a copy of its old values where a formula will need them."""
    first = operands[0]
    before = first.detach().clone() if _reads_old_values(plan, operands) else first.detach()
    before._edge = first._edge
    return [before if item is first else item for item in operands]


def _reads_old_values(plan: Plan, operands: Sequence[Any]) -> bool:
    """Whether a formula for an operand that requires grad takes the target's values."""
    pairs = zip(plan.op.parameters, operands, strict=True)
    tracked = {
        parameter.name
        for parameter, value in pairs
        if any(operand._edge is not None for operand in tensors_in(value))
    }
    name = plan.op.parameters[0].name
    return any(name in formula.names and not tracked.isdisjoint(formula.targets) for formula in plan.op.vjp)


def _execute(plan: Plan, arguments: Sequence[Any], target: Tensor) -> None:
    passed: list[Any] = []
    for parameter, value in zip(plan.op.parameters, arguments, strict=True):
        if value is None or parameter.is_static:
            continue
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Tensor):
                passed += [item._storage.buffer, item._offset]
            elif item is not None and item is not parameter.default:
                passed.append(item)
    assert plan.execute is not None and plan.place is not None  # noqa: PT018  plans of lowered ops have both
    if plan.uses_random:
        from raxis import random

        passed += random.reserve(_generator(plan, arguments), plan.place, plan.random_blocks)
    try:
        plan.execute(*passed, target._storage.buffer, target._offset)
    except MemoryError as error:
        raise exhausted(plan.place, error) from None


def _generator(plan: Plan, arguments: Sequence[Any]) -> Any:
    pairs = zip(plan.op.parameters, arguments, strict=True)
    return next((value for parameter, value in pairs if parameter.type == "Generator"), None)


def overwrite(name: str, target: Tensor, result: Tensor) -> Tensor:
    """Write a computed result over `target`, recorded as if the op had been applied in place."""
    check_destination(f"{name}_", target)
    check_writable(f"{name}_", result._layout.dtype, result._layout.shape, target._layout)
    return target.copy_(result)


def store_op_results(op: Op, arguments: Mapping[str, Any], results: Any, out: Any) -> Any:
    """`store_results` under the op's own rules for its destination; `arguments` by name."""
    if op.apart:
        operands = [tensor for value in arguments.values() for tensor in tensors_in(value)]
        several = isinstance(results, (tuple, list)) and isinstance(out, (tuple, list))
        for target, result in zip(
            out if several else (out,), results if several else (results,), strict=False
        ):
            _check_apart(op.public_name, operands, target, result)
    exact = op.exact
    if callable(exact):
        exact = call_by_name(exact, {**arguments, "out": out})
    return store_results(op.public_name, results, out, exact=exact, refusal=op.refusal)


def _check_apart(name: str, operands: Sequence[Tensor], target: Any, result: Tensor) -> None:
    """Raise unless `target`, made large enough for the result, shares no memory with operands or within itself."""
    if not isinstance(target, Tensor):
        return
    _check_own_memory(name, target)
    fits = target._layout.shape == result._layout.shape
    whole = target if fits else wrap(target._storage, target._offset, result._layout)
    sharing = [item for item in operands if item._storage is whole._storage]
    if any(item is target or (item._layout.numel and reach_overlaps(whole, item)) for item in sharing):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
            f"memory location ({name} with out= of shape {list(target._layout.shape)}). Please clone() the tensor "
            "before performing the operation."
        )


def store_results(
    name: str, results: Any, out: Any, *, exact: bool = False, refusal: type[Exception] = RuntimeError
) -> Any:
    """``out=``: copy computed results into the given tensors, which take on their shapes.

    Args:
        name: the op's, for messages.
        results: one tensor or several.
        out: as many tensors.
        exact: whether `out` must have the dtype of the results, and not only one that these can be cast to.
        refusal: what is raised if they cannot.

    Raises:
        TypeError: if `out` is not as many tensors as there are results.
        RuntimeError: if dtype (see `refusal`) or device do not fit, an output overlaps itself, or a gradient would be
            needed.
    """
    several = isinstance(results, (tuple, list))
    outputs = out if several and isinstance(out, (tuple, list)) else (out,)
    produced = results if several else (results,)
    if len(outputs) != len(produced):
        raise TypeError(f"{name}(): expected {len(produced)} output tensors in out=, but got {len(outputs)}.")
    for output, result in zip(outputs, produced, strict=True):
        _check_output(name, output, result, refusal)
        if exact:
            _check_output_dtype(name, output, result)
    for output, result in zip(outputs, produced, strict=True):
        fit_output(output, result._layout)
        output.copy_(result)
    return out


def _check_output(name: str, output: Any, result: Tensor, refusal: type[Exception]) -> None:
    if not isinstance(output, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(output).__name__}")
    if mode.enabled and (output._edge is not None or result._edge is not None):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    layout = result._layout
    check_writable(name, layout.dtype, output._layout.shape, output._layout, refusal)
    if output._layout.device is not layout.device:
        raise RuntimeError(
            f"{name}: Expected out tensor to be on device {layout.device}, but got {output._layout.device} instead."
        )
    if output._layout.shape == layout.shape:
        check_destination(name, output)


def _check_output_dtype(name: str, output: Tensor, result: Tensor) -> None:
    if output._layout.dtype is not result._layout.dtype:
        raise RuntimeError(
            f"{name}: Expected out tensor to have dtype {result.dtype}, but got {output.dtype} instead"
        )


def fit_output(output: Tensor, layout: Layout) -> None:
    """Give an ``out=`` tensor the shape of a result; a warning if it had another one."""
    if output._layout.shape == layout.shape:
        return
    if output._layout.numel:
        warnings.warn(
            f"An output with one or more elements was resized since it had shape {list(output._layout.shape)}, "
            f"which does not match the required output shape {list(layout.shape)}.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    resize(output, layout.shape)


def resize(tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Give `tensor` a new shape, allocating when its storage is too small (values beyond are undefined)."""
    layout = layout_of(tensor._layout.dtype, shape, contiguous_strides(shape), tensor._layout.device)
    needed = (tensor._offset + layout.numel) * layout.dtype.itemsize
    storage = tensor._storage
    if needed > storage.nbytes:
        storage.replace(storage.place.backend.allocate(needed, storage.place.index), needed)
    storage.version += 1
    tensor._layout = layout
