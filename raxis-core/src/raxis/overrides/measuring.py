"""The policy ``measured``: time every implementation on the arguments of the first call, keep the fastest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from raxis import random
from raxis.autograd.grad_mode import enable_grad, mode, no_grad
from raxis.autograd.gradients import grad
from raxis.device import Device
from raxis.dtypes import Category
from raxis.interception import active
from raxis.overrides import choices, scopes
from raxis.overrides.dispatch import described
from raxis.overrides.registry import DEFAULT, Implementation, find, implementations
from raxis.placement import place_of
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_flatten, tree_unflatten

ROUNDS = 5
"""How often every implementation is timed, after one call that compiles; the shortest time counts."""

SECONDS = 0.2
"""After so much timing of one call there are no further rounds."""

_known: dict[Any, str] = {}
"""Choices of this process by functional and arguments; single reads and writes of a dict need no lock."""


def fastest(
    functional: str, own: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> str:
    """The name of the implementation that is fastest for arguments like these.

    It is measured if the tensors have elements, else (while a function is recorded, and on ``meta``) looked up; the
    op's own runs if there is nothing to look up.

    Raises:
        RuntimeError: if an implementation fails or gives results of another shape or dtype than the op's own.
    """
    key = (functional, mode.enabled, *map(_key_part, args), *map(_key_part, kwargs.items()))
    name = _known.get(key)
    if name is not None:
        return name
    leaves, structure = tree_flatten((args, dict(kwargs)))
    tracked = mode.enabled and any(isinstance(leaf, Tensor) and leaf._edge is not None for leaf in leaves)
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if not tensors or tensors[0].device.type == "meta":
        return DEFAULT
    case = _case(functional, args, kwargs, tracked, tensors[0].device)
    if len(case.implementations) == 1:
        return case.implementations[0]
    name = choices.load(case)
    if name is None:
        if active.recording is not None:
            return DEFAULT
        seconds = _measure(functional, own, case, leaves, structure)
        name = min(seconds, key=seconds.__getitem__)
        choices.save(case, name, seconds)
    _known[key] = name
    return name


def forget() -> None:
    """Measure anew, here and, as far as choices are kept in files, everywhere."""
    _known.clear()
    choices.forget()


def _key_part(argument: Any) -> Any:
    if isinstance(argument, Tensor):
        return argument._layout, argument._edge is not None
    if isinstance(argument, (tuple, list)):
        return tuple(map(_key_part, argument))
    return type(argument), repr(argument)


def _case(
    functional: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], tracked: bool, device: Device
) -> choices.Case:
    """What a choice depends on."""
    admitted = [DEFAULT]
    origins = [choices.origin_of(device)]
    for name in implementations(functional):
        found = find(functional, name)
        if found is not None and found.admits(args, kwargs):
            admitted.append(name)
            origins.append(f"{name}: {found.origin}")
    named = [f"{name}={described(value)}" for name, value in sorted(kwargs.items())]
    arguments = ", ".join([*map(described, args), *named])
    return choices.Case(functional, arguments, tracked, tuple(admitted), tuple(origins))


class _Candidate(NamedTuple):
    name: str
    function: Callable[..., Any]


def _measure(
    functional: str, own: Callable[..., Any], case: choices.Case, leaves: Sequence[Any], structure: Any
) -> dict[str, float]:
    """Seconds of a call, with its backward half if gradients are wanted, by implementation."""
    device = next(leaf.device for leaf in leaves if isinstance(leaf, Tensor))
    generator = random.default_for(device)
    state = generator._state()
    seconds: dict[str, float] = {}
    try:
        with scopes.running(functional):
            trial = _Trial(_copies(leaves, case.tracked), structure, case.tracked, device)
            candidates = [
                _Candidate(name, _function(find(functional, name), own)) for name in case.implementations
            ]
            expected = trial.layouts(candidates[0].function)
            for candidate in candidates[1:]:
                _check(functional, candidate, trial, expected)
            started = time.perf_counter()
            for _ in range(ROUNDS):
                for name, function in candidates:
                    seconds[name] = min(trial.seconds(function), seconds.get(name, float("inf")))
                if time.perf_counter() - started > SECONDS:
                    break
    finally:
        generator._restore(*state)
    return seconds


def _function(found: Implementation | None, own: Callable[..., Any]) -> Callable[..., Any]:
    return own if found is None else found.function


def _check(functional: str, candidate: _Candidate, trial: _Trial, expected: Any) -> None:
    try:
        given = trial.layouts(candidate.function)
    except Exception as error:
        raise RuntimeError(
            f"{functional}: the implementation {candidate.name!r} failed while it was measured: {error} "
            "Let it refuse such arguments by `supports`, or choose another policy."
        ) from error
    if given != expected:
        raise RuntimeError(
            f"{functional}: the implementation {candidate.name!r} gives {given} where the op's own gives {expected}; "
            "it was not chosen. Correct it, or choose another policy."
        )


class _Trial:
    """Runs implementations on copies of a call's arguments."""

    def __init__(self, leaves: Sequence[Any], structure: Any, tracked: bool, device: Device) -> None:
        self._args, self._kwargs = tree_unflatten(list(leaves), structure)
        self._inputs = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.requires_grad]
        self._tracked = tracked
        self._place = place_of(device)

    def layouts(self, function: Callable[..., Any]) -> list[str]:
        """Dtypes and shapes of the results; everything is compiled by then."""
        results = _tensors(self._run(function))
        return [f"{result.dtype.name}{list(result.shape)}" for result in results]

    def seconds(self, function: Callable[..., Any]) -> float:
        """How long one run takes."""
        self._place.backend.synchronize(self._place.index)
        started = time.perf_counter()
        self._run(function)
        self._place.backend.synchronize(self._place.index)
        return time.perf_counter() - started

    def _run(self, function: Callable[..., Any]) -> Any:
        with enable_grad() if self._tracked else no_grad():
            result = function(*self._args, **self._kwargs)
            outputs = [item for item in _tensors(result) if item.requires_grad]
            if outputs and self._inputs:
                ones = [output.detach().new_ones(output.shape) for output in outputs]
                grad(outputs, self._inputs, ones, allow_unused=True)
        return result


def _tensors(result: Any) -> list[Tensor]:
    return [leaf for leaf in tree_flatten(result)[0] if isinstance(leaf, Tensor)]


def _copies(leaves: Sequence[Any], tracked: bool) -> list[Any]:
    """The leaves with tensors copied, so that whatever an implementation writes is not seen."""
    return [_copy(leaf, tracked) if isinstance(leaf, Tensor) else leaf for leaf in leaves]


def _copy(tensor: Tensor, tracked: bool) -> Tensor:
    wanted = tracked and tensor._edge is not None and tensor.dtype.category >= Category.FLOAT
    copied: Tensor = tensor.detach().clone()
    if copied._layout.strides != tensor._layout.strides:
        fresh = tensor.detach().new_empty_strided(tensor.shape, tensor.stride())
        copied = fresh.copy_(copied)
    return copied.requires_grad_(wanted)
