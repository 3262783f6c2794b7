"""Activation checkpointing: recompute the forward pass instead of keeping what it saved.

Source of the idea: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis import random
from raxis.autograd.function import Function
from raxis.autograd.grad_mode import enable_grad, mode
from raxis.autograd.gradients import backward
from raxis.autograd.saved_hooks import saved_tensors_hooks
from raxis.tensor import Tensor


class CheckpointError(RuntimeError):
    """The recomputed forward pass saved other tensors than the first one did."""


class _Recomputation:
    """What one checkpointed call saved, by order; recomputed when backward first asks."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], keep_rng: bool
    ) -> None:
        self.call = (function, args, kwargs)
        self.layouts: list[Any] = []
        self.recomputed: dict[int, Tensor] = {}
        self.rng = _states((*args, *kwargs.values())) if keep_rng else []

    def pack(self, tensor: Tensor) -> int:
        self.layouts.append(tensor._layout)
        return len(self.layouts) - 1

    def unpack(self, index: int) -> Tensor:
        if index not in self.recomputed:
            self._recompute()
        return self.recomputed.pop(index)

    def _recompute(self) -> None:
        kept: list[Tensor] = []

        def keep(tensor: Tensor) -> int:
            kept.append(tensor.detach())
            return len(kept) - 1

        function, args, kwargs = self.call
        with _rng_of(self.rng), enable_grad(), saved_tensors_hooks(keep, lambda index: kept[index]):
            function(*args, **kwargs)
        if [tensor._layout for tensor in kept] != self.layouts:
            raise CheckpointError(
                "checkpoint: a different number or kind of tensors was saved during the original forward and "
                f"recomputation: {len(self.layouts)} and {len(kept)}. The function must do the same work both times."
            )
        self.recomputed = dict(enumerate(kept))


_States = Sequence[tuple[random.Generator, tuple[int, int]]]


def _states(arguments: Sequence[Any]) -> _States:
    """The random states of cpu and of the devices of the arguments."""
    devices = [item.device for item in arguments if isinstance(item, Tensor)]
    generators = dict.fromkeys([random.default_generator, *map(random.default_for, devices)])
    return [(generator, generator._state()) for generator in generators]


class _rng_of:
    """Run a block with given random states and go on with the present ones afterwards."""

    def __init__(self, states: _States) -> None:
        self._states = states

    def __enter__(self) -> None:
        self._present = [(generator, generator._state()) for generator, _ in self._states]
        _return_to(self._states)

    def __exit__(self, *exception: Any) -> None:
        _return_to(self._present)


def _return_to(states: _States) -> None:
    for generator, state in states:
        generator._return_to(*state)


class _Reentrant(Function):
    """The variant that runs a whole backward pass inside backward."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], keep_rng: bool, *args: Any) -> Any:
        ctx.function, ctx.arguments = function, args
        ctx.rng = _states(args) if keep_rng else []
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        detached = [
            item.detach().requires_grad_(item.requires_grad) if isinstance(item, Tensor) else item
            for item in ctx.arguments
        ]
        with _rng_of(ctx.rng), enable_grad():
            returned = ctx.function(*detached)
        outputs = [returned] if isinstance(returned, Tensor) else list(returned)
        pairs = [
            (output, gradient)
            for output, gradient in zip(outputs, gradients, strict=True)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([output for output, _ in pairs], [gradient for _, gradient in pairs])
        return (None, None, *[item.grad if isinstance(item, Tensor) else None for item in detached])


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = False,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function(*args, **kwargs)`` without keeping its intermediate tensors; backward recomputes them.

    Args:
        function: any function of tensors that does the same work each time it is called.
        use_reentrant: run the recomputation as a backward pass of its own (needs an argument that requires
            grad; takes no keyword arguments).
        preserve_rng_state: recompute with the random states of the first call (on cpu and the arguments' devices), so
            that dropout agrees.

    Raises:
        CheckpointError: in backward, if the recomputation saved other tensors.
        ValueError: for keyword arguments with `use_reentrant`.

    Example:
        >>> import raxis
        >>> from raxis.utils.checkpoint import checkpoint
        >>> x = raxis.ones(2, requires_grad=True)
        >>> checkpoint(lambda t: (t * t).exp(), x).sum().backward()
        >>> x.grad
        tensor([5.4366, 5.4366])
    """
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"Unexpected keyword arguments: {', '.join(kwargs)} (use_reentrant=True takes none)"
            )
        return _Reentrant.apply(function, preserve_rng_state, *args)
    if not mode.enabled:
        return function(*args, **kwargs)
    frame = _Recomputation(function, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool = False, **options: Any
) -> Any:
    """Run a sequence of functions in `segments` checkpointed parts; the last part keeps its tensors.

    Args:
        functions: a Sequential module or a sequence of functions of one argument.
        segments: number of parts.
        input: argument of the first function.
    """
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments
    start = 0
    for _ in range(segments - 1):
        part = steps[start : start + size]
        input = checkpoint(_chain(part), input, use_reentrant=use_reentrant, **options)
        start += size
    return _chain(steps[start:])(input)


def _chain(steps: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run
