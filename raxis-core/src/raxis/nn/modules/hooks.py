"""Functions that run before and after a module's forward and backward computation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.nn.modules.backward_hooks import BackwardTap
from raxis.nn.modules.base import ModuleFields
from raxis.utils.hooks import RemovableHandle, attach

if TYPE_CHECKING:
    from raxis.nn.modules.module import Module


class ForwardPreHook(NamedTuple):
    """A function run before `forward`."""

    function: Callable[..., Any]
    with_kwargs: bool

    def apply(
        self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments for `forward`, replaced by what the hook returned, if anything."""
        if self.with_kwargs:
            return self._apply_with_kwargs(module, args, kwargs)
        replacement = self.function(module, args)
        if replacement is None:
            return args, kwargs
        return replacement if isinstance(replacement, tuple) else (replacement,), kwargs

    def _apply_with_kwargs(
        self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        replacement = self.function(module, args, kwargs)
        if replacement is None:
            return args, kwargs
        if isinstance(replacement, tuple) and len(replacement) == 2:
            return replacement
        raise RuntimeError(
            "A forward pre-hook with keyword arguments must return None or a pair (args, kwargs), "
            f"but it returned {replacement!r}."
        )


class ForwardHook(NamedTuple):
    """A function run after `forward`."""

    function: Callable[..., Any]
    with_kwargs: bool
    always_call: bool

    def apply(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        """The result of the call, replaced by what the hook returned, if anything."""
        if self.with_kwargs:
            replacement = self.function(module, args, kwargs, result)
        else:
            replacement = self.function(module, args, result)
        return result if replacement is None else replacement


def call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `module.forward` with all hooks that are registered on the module."""
    unfinished = {key: hook for key, hook in module._forward_hooks.items() if hook.always_call}
    result = None
    try:
        for pre_hook in tuple(module._forward_pre_hooks.values()):
            args, kwargs = pre_hook.apply(module, args, kwargs)
        tap = BackwardTap(module)
        args = tap.watch_inputs(args)
        result = module.forward(*args, **kwargs)
        for key, hook in tuple(module._forward_hooks.items()):
            unfinished.pop(key, None)
            result = hook.apply(module, args, kwargs, result)
        return tap.watch_outputs(result)
    except Exception:
        for hook in unfinished.values():
            _apply_after_failure(hook, module, args, kwargs, result)
        raise


def _apply_after_failure(
    hook: ForwardHook, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> None:
    """Run a hook that must always run, without hiding the error that stopped the call."""
    try:
        hook.apply(module, args, kwargs, result)
    except Exception as error:
        warnings.warn(
            f"A forward hook with always_call=True raised while handling an error: {error}", stacklevel=2
        )


class HookRegistration(ModuleFields):
    """The `register_*hook` methods of a module. Each returns a handle whose `remove()` undoes it."""

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Run ``hook(module, args)`` (or ``hook(module, args, kwargs)``) before every ``forward``.

        It may return replacement arguments, with `with_kwargs` as a pair ``(args, kwargs)``.
        """
        return attach(self._forward_pre_hooks, ForwardPreHook(hook, with_kwargs), prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Run ``hook(module, args, output)`` (or ``hook(module, args, kwargs, output)``) after every ``forward``.

        It may return a replacement for the output. With `always_call` it also runs when the call raised.
        """
        return attach(self._forward_hooks, ForwardHook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Run ``hook(module, grad_output)`` before the gradients of this module are computed.

        It may return a replacement for `grad_output`.
        """
        return attach(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Run ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        It may return a replacement for `grad_input`. Both are tuples, one entry a positional argument or output,
        None where that is not a tensor with a gradient.
        """
        return attach(self._backward_hooks, hook, prepend)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(module, prefix, keep_vars)`` before ``state_dict`` reads this module."""
        return attach(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(module, state_dict, prefix, local_metadata)`` after this module was added to `state_dict`.

        The hook changes `state_dict` in place.
        """
        return attach(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run a hook before this module's entries are read by ``load_state_dict``.

        It is called as ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)`` and may change `state_dict` in place (a shallow copy of the caller's).
        """
        return attach(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Run ``hook(module, incompatible_keys)`` after this module was loaded.

        The hook may edit the lists `missing_keys` and `unexpected_keys` in place; a strict load judges them after.
        """
        return attach(self._load_state_dict_post_hooks, hook)
