"""Observing the gradients that enter and leave a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import raxis
from raxis.autograd import Function
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.nn.modules.module import Module

Gradients = tuple[Any, ...]


class _Observe(Function):
    """Identity whose backward hands the gradients of all its tensors to a callable at once."""

    @staticmethod
    def forward(
        ctx: Any, receive: Callable[[Gradients], Gradients], zeros_for_none: bool, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.receive = receive
        ctx.set_materialize_grads(zeros_for_none)
        ctx.mark_non_differentiable(*(tensor for tensor in tensors if not tensor.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Gradients:
        return (None, None, *ctx.receive(gradients))


def _replace_tensors(
    values: tuple[Any, ...], receive: Callable[[Gradients], Gradients], zeros_for_none: bool
) -> tuple[tuple[Any, ...], bool]:
    """`values` with its tensors sent through `_Observe`, and whether any of them carries a gradient."""
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]
    tensors = [values[place] for place in places]
    if not (raxis.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
        return values, False

    def receive_by_place(gradients: Gradients) -> Gradients:
        received = receive(_scatter(gradients, places, len(values)))
        return tuple(
            received[place] if tensor.requires_grad else None
            for place, tensor in zip(places, tensors, strict=True)
        )

    replaced = list(values)
    for place, tensor in zip(places, _Observe.apply(receive_by_place, zeros_for_none, *tensors), strict=True):
        replaced[place] = tensor if values[place].requires_grad else values[place]
    return tuple(replaced), True


def _scatter(gradients: Gradients, places: list[int], size: int) -> Gradients:
    spread: list[Any] = [None] * size
    for place, gradient in zip(places, gradients, strict=True):
        spread[place] = gradient
    return tuple(spread)


class BackwardTap:
    """Runs one call's backward hooks: on the outputs' gradients first, then on the inputs'."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._hooks = tuple(module._backward_hooks.values())
        self._pre_hooks = tuple(module._backward_pre_hooks.values())
        self._input_count = 0
        self._inputs_watched = False
        self._grad_output: Gradients = ()

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Positional arguments to pass to `forward` in place of `args`."""
        self._input_count = len(args)
        if not self._hooks:
            return args
        args, self._inputs_watched = _replace_tensors(args, self._receive_grad_input, zeros_for_none=True)
        return args

    def watch_outputs(self, result: Any) -> Any:
        """The value to return from the call in place of `result`; only tensors and tuples of them are watched."""
        if not (self._hooks or self._pre_hooks):
            return result
        if isinstance(result, Tensor):
            return _replace_tensors((result,), self._receive_grad_output, zeros_for_none=False)[0][0]
        if type(result) is tuple:
            return _replace_tensors(result, self._receive_grad_output, zeros_for_none=False)[0]
        return result

    def _receive_grad_output(self, gradients: Gradients) -> Gradients:
        for hook in self._pre_hooks:
            gradients = _replacement(hook(self._module, gradients), gradients, "grad_output")
        self._grad_output = gradients
        if not self._inputs_watched:
            self._receive_grad_input((None,) * self._input_count)
        return gradients

    def _receive_grad_input(self, gradients: Gradients) -> Gradients:
        for hook in self._hooks:
            gradients = _replacement(
                hook(self._module, gradients, self._grad_output), gradients, "grad_input"
            )
        return gradients


def _replacement(returned: Any, gradients: Gradients, role: str) -> Gradients:
    if returned is None:
        return gradients
    replacement = returned if isinstance(returned, tuple) else (returned,)
    if len(replacement) != len(gradients):
        raise RuntimeError(
            f"A backward hook returned {len(replacement)} gradients for {role}, but the module has "
            f"{len(gradients)}; return None or one entry for each."
        )
    return replacement
