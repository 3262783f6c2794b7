"""Modules as functions of their parameters: `functional_call`, `stack_module_state`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from raxis.interception import active
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.nn import Module

State = Mapping[str, Tensor]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: State | Sequence[State],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other tensors in the place of its parameters and buffers.

    Args:
        module: is as before afterwards.
        parameter_and_buffer_dicts: tensors by dotted name, or several such dicts with different names. Names that the
            module does not have count for nothing.
        args: the positional arguments; one that is no tuple stands for itself.
        kwargs: the keyword arguments.
        tie_weights: what is one parameter under several names in the module stays one.
        strict: raise unless every parameter and buffer is given, and nothing else.

    Raises:
        ValueError: if the dicts are none, a name is in several, or tied names get different tensors.
        RuntimeError: with `strict`, for missing or unexpected names.

    Example:
        >>> import raxis
        >>> linear = raxis.nn.Linear(2, 1, bias=False)
        >>> raxis.func.functional_call(linear, {"weight": raxis.ones(1, 2)}, raxis.tensor([1.0, 2.0]))
        tensor([3.])
    """
    given = _merged(parameter_and_buffer_dicts)
    slots = _slots(module)
    if strict:
        _require_all(module, given, slots)
    if tie_weights:
        given = _with_tied(given, slots)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    if active.recording is not None:
        for part in module.modules():
            active.recording.note_module(part)  # as it is outside of this call
    with _replaced(slots, given):
        return module(*arguments, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence) or not all(isinstance(item, Mapping) for item in dicts):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    merged: dict[str, Tensor] = {}
    for item in dicts:
        twice = sorted(merged.keys() & item.keys())
        if twice:
            raise ValueError(
                f"{twice[0]} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        merged.update(item)
    return merged


_Slot = tuple[dict[str, Any], str]
"""The dict of a module that holds a tensor, and the name there."""


def _slots(module: Module) -> dict[str, _Slot]:
    """Where every parameter and buffer is, by dotted name."""
    found: dict[str, _Slot] = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for held in (part._parameters, part._buffers):
            for name, value in held.items():
                if value is not None:
                    found[f"{prefix}.{name}" if prefix else name] = (held, name)
    return found


def _require_all(module: Module, given: State, slots: Mapping[str, _Slot]) -> None:
    missing, unexpected = sorted(slots.keys() - given.keys()), sorted(given.keys() - slots.keys())
    if missing or unexpected:
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(module).__name__}: missing key(s): {missing}; unexpected "
            f"key(s): {unexpected}."
        )


def _with_tied(given: State, slots: Mapping[str, _Slot]) -> dict[str, Tensor]:
    """The tensors under all names of what they replace."""
    groups: dict[int, list[str]] = {}
    for name, (held, key) in slots.items():
        groups.setdefault(id(held[key]), []).append(name)
    complete = dict(given)
    for names in groups.values():
        values = {id(given[name]): given[name] for name in names if name in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {names}, which are tied. Consider using "
                "tie_weights=False"
            )
        for value in values.values():
            complete.update(dict.fromkeys(names, value))
    return complete


@contextmanager
def _replaced(slots: Mapping[str, _Slot], given: State) -> Iterator[None]:
    writes = [(*slots[name], value) for name, value in given.items() if name in slots]
    before = [(held, key, held[key]) for held, key, _ in writes]
    try:
        for held, key, value in writes:
            held[key] = value
        yield
    finally:
        for held, key, value in before:
            held[key] = value


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and buffers of several modules of one class, each stacked: an ensemble for `vmap`.

    Returns:
        ``(params, buffers)``, by dotted name, with the models along the first dimension. New leaves: the models' own
        parameters do not change with them.

    Raises:
        RuntimeError: if there are no models, or they differ in class, mode, or in what requires grad.

    Example:
        >>> import raxis
        >>> from raxis.func import functional_call, stack_module_state, vmap
        >>> models = [raxis.nn.Linear(3, 2) for _ in range(4)]
        >>> params, buffers = stack_module_state(models)
        >>> call = lambda params, buffers, x: functional_call(models[0], (params, buffers), (x,))
        >>> vmap(call, in_dims=(0, 0, None))(params, buffers, raxis.ones(5, 3)).shape
        raxis.Size([4, 5, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(states: Sequence[State]) -> dict[str, Tensor]:
    return {name: _stacked_leaf([state[name] for state in states]) for name in states[0]}


def _stacked_leaf(tensors: Sequence[Tensor]) -> Tensor:
    from raxis.ops.definitions.joining import stack

    needs = {tensor.requires_grad for tensor in tensors}
    if len(needs) > 1:
        raise RuntimeError(
            "Expected tensors from each model to have the same .requires_grad, but some of them require grad and some "
            "do not."
        )
    stacked: Tensor = stack(list(tensors)).detach()
    return stacked.requires_grad_() if needs == {True} else stacked
