"""The base class of every optimizer."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import raxis
from raxis.autograd.leaf import clear_grad
from raxis.interception import active, anyone
from raxis.optim.groups import as_groups, checked_group
from raxis.optim.state import packed, unpacked
from raxis.tensor import Tensor
from raxis.utils.hooks import RemovableHandle, attach

if TYPE_CHECKING:
    from raxis.optim.groups import Group, Parameters
    from raxis.optim.state import State

Hook = Callable[..., Any]
_HOOK_TABLES = (
    "_step_pre_hooks",
    "_step_post_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_post_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` with the hooks of the optimizer around it; a `super().step()` inside does not run them again."""

    @functools.wraps(step)
    def wrapper(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if type(self).step is not wrapper:
            return step(self, *args, **kwargs)
        if anyone.records and active.recording is not None:
            active.recording.note_optimizer(self)
        for pre_hook in tuple(self._step_pre_hooks.values()):
            args, kwargs = _checked_arguments(pre_hook(self, args, kwargs), args, kwargs)
        result = step(self, *args, **kwargs)
        self.was_stepped = True
        for post_hook in tuple(self._step_post_hooks.values()):
            post_hook(self, args, kwargs)
        return result

    return wrapper


def _checked_arguments(
    returned: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if returned is None:
        return args, kwargs
    if isinstance(returned, tuple) and len(returned) == 2:
        return returned
    raise RuntimeError(
        f"A step pre-hook must return None or a tuple of (new_args, new_kwargs), but got {returned}."
    )


class Optimizer:
    """Holds groups of parameters and a state for each parameter, and updates parameters from their gradients.

    A subclass defines `update`, the step of one parameter, or overrides `step`.

    Args:
        params: parameters, pairs of name and parameter, or dictionaries: groups with a list ``params`` and options
            that differ from `defaults`.
        defaults: options of groups that do not give them.

    Raises:
        TypeError: `params` is a tensor or contains something else than tensors.
        ValueError: `params` is empty, contains a tensor that is not a leaf, or contains one in two groups.

    Example:
        >>> import raxis
        >>> class Descend(raxis.optim.Optimizer):
        ...     def update(self, param, grad, group):
        ...         param.add_(grad, alpha=-group["lr"])
        >>> weight = raxis.nn.Parameter(raxis.tensor(3.0))
        >>> optimizer = Descend([weight], {"lr": 0.5})
        >>> (weight * 2.0).backward()
        >>> optimizer.step()
        >>> weight.item()
        2.0
    """

    param_groups: list[Group]
    state: State
    was_stepped: bool
    """Whether `step` was called; schedules warn when they are stepped before the optimizer."""

    _step_pre_hooks: OrderedDict[int, Hook]
    _step_post_hooks: OrderedDict[int, Hook]
    _state_dict_pre_hooks: OrderedDict[int, Hook]
    _state_dict_post_hooks: OrderedDict[int, Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_post_hooks: OrderedDict[int, Hook]

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.param_groups = []
        self.state = defaultdict(dict)
        self._reset_hooks()
        for group in as_groups(params):
            self.add_param_group(group)

    def _reset_hooks(self) -> None:
        self.was_stepped = False
        for table in _HOOK_TABLES:
            setattr(self, table, OrderedDict())

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset_hooks()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for index, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {index}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with options of their own, for instance when frozen layers become trainable.

        Raises:
            TypeError: `param_group` is not a dictionary, or its parameters are not tensors.
            ValueError: a parameter is not a leaf or belongs to a group already, or a required option is missing.
        """
        self.param_groups.append(checked_group(param_group, self.defaults, self.param_groups))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or fill them with zeros when `set_to_none` is false."""
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param, set_to_none)

    @_with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        Args:
            closure: computes the loss anew, gradients included.

        Returns:
            what `closure` returned, None without one.
        """
        loss = self._evaluated(closure)
        with raxis.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    grad = param.grad
                    if grad is not None:
                        self.update(param, grad, group)
        return loss

    def _evaluated(self, closure: Callable[[], Any] | None) -> Any:
        if closure is None:
            return None
        with raxis.enable_grad():
            return closure()

    def update(self, param: Tensor, grad: Tensor, group: Group) -> None:
        """Change `param` in place from its gradient; ``self.state[param]`` keeps what the next step needs."""
        raise NotImplementedError(f"{type(self).__name__} defines neither update() nor step().")

    # -- saving and loading ---------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """State and groups, parameters replaced by their position, in the layout that PyTorch uses.

        The tensors in it are the optimizer's own, not copies.
        """
        for pre_hook in self._state_dict_pre_hooks.values():
            pre_hook(self)
        state_dict = packed(self.state, self.param_groups)
        for post_hook in self._state_dict_post_hooks.values():
            state_dict = _first_given(post_hook(self, state_dict), state_dict)
        return state_dict

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over state and options; parameters are matched by position.

        State is copied to the device of its parameter and, where floating, cast to its dtype.

        Raises:
            ValueError: the numbers of groups or of their parameters differ; the optimizer is unchanged.
        """
        state_dict = dict(state_dict)
        for pre_hook in self._load_state_dict_pre_hooks.values():
            state_dict = _first_given(pre_hook(self, state_dict), state_dict)
        state, groups = unpacked(state_dict, self.param_groups)
        self.state = state
        self.param_groups = [{**self.defaults, **group} for group in groups]
        for post_hook in self._load_state_dict_post_hooks.values():
            post_hook(self)

    # -- hooks ----------------------------------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Run ``hook(optimizer, args, kwargs)`` before every step; it may return a new pair (args, kwargs)."""
        return attach(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Run ``hook(optimizer, args, kwargs)`` after every step."""
        return attach(self._step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer)`` before ``state_dict`` reads the state."""
        return attach(self._state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer, state_dict)`` on the result of ``state_dict``; it may return a replacement."""
        return attach(self._state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer, state_dict)`` before loading a shallow copy; it may return a replacement."""
        return attach(self._load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Run ``hook(optimizer)`` after loading."""
        return attach(self._load_state_dict_post_hooks, hook, prepend)


def _first_given(replacement: Any, original: Any) -> Any:
    return original if replacement is None else replacement
