"""Saving a module's parameters and buffers to a flat dictionary and loading them back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import raxis
from raxis.nn.modules.base import ModuleFields
from raxis.nn.parameter import Parameter, is_lazy
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.nn.modules.module import Module

EXTRA_STATE = "_extra_state"
_PLAN = "load_plan"


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not (self.missing_keys or self.unexpected_keys):
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


@dataclass
class LoadPlan:
    """Findings of one `load_state_dict` call: nothing is written before the whole tree has been checked."""

    strict: bool
    assign: bool
    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    writes: list[Callable[[], Any]] = field(default_factory=list)

    def require_loadable(self, root: Module, judge_keys: bool) -> None:
        """Raise for the errors found and, with `judge_keys`, for keys that do not match."""
        problems = self._key_problems() if judge_keys else []
        problems += self.errors
        if problems:
            listing = "\n\t".join(problems)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(root).__name__}:\n\t{listing}")

    def _key_problems(self) -> list[str]:
        found = (("Missing", self.missing), ("Unexpected", self.unexpected))
        return [_key_problem(kind, keys) for kind, keys in found if self.strict and keys]


def _key_problem(kind: str, keys: list[str]) -> str:
    listing = ", ".join(f'"{key}"' for key in keys)
    return f"{kind} key(s) in state_dict: {listing}. "


class StateDictMixin(ModuleFields):
    """`state_dict`, `load_state_dict` and what subclasses may override of them."""

    def get_extra_state(self) -> Any:
        """Override to save more than tensors: any picklable value, kept under the key ``_extra_state``."""
        raise RuntimeError(
            f"{type(self).__name__} has no extra state: override get_extra_state() to define it."
        )

    def set_extra_state(self, state: Any) -> None:
        """Override to restore what ``get_extra_state`` returned."""
        raise RuntimeError(
            f"{type(self).__name__} cannot take extra state of type {type(state).__name__}: "
            "override set_extra_state() to define it."
        )

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers of the tree by dotted name.

        Args:
            destination: mapping to add to; a new ordered dictionary when omitted.
            prefix: put before every key.
            keep_vars: return the parameters themselves instead of detached tensors that share their memory.

        Example:
            >>> from raxis import nn
            >>> list(nn.Sequential(nn.Linear(2, 3), nn.ReLU()).state_dict())
            ['0.weight', '0.bias']
        """
        if destination is None:
            destination = _with_metadata(OrderedDict(), OrderedDict())
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for pre_hook in self._state_dict_pre_hooks.values():
            pre_hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            hook(self, destination, prefix, local_metadata)
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add this module's own entries, without its children's."""
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _overrides(self, "get_extra_state"):
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        for name, parameter in self._parameters.items():
            if parameter is not None:
                yield name, parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                yield name, buffer

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copy parameters and buffers from `state_dict` into this module and those below it.

        Args:
            state_dict: tensors by dotted name, as ``state_dict()`` returns them.
            strict: whether keys that are missing or not expected are errors.
            assign: make the given tensors this module's own instead of copying their values; their dtype and
                device are kept, ``requires_grad`` is that of the module's parameters.

        Returns:
            the keys that were missing and those that were not expected.

        Raises:
            TypeError: `state_dict` is not a mapping.
            RuntimeError: a shape differs, or with `strict` the keys do. The message lists all of them, and the
                module is unchanged.

        Example:
            >>> from raxis import nn
            >>> source, target = nn.Linear(2, 3), nn.Linear(2, 3)
            >>> target.load_state_dict(source.state_dict())
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        this = cast("Module", self)
        plan = LoadPlan(strict, assign)
        _plan_tree(this, _shallow_copy(state_dict), plan)
        # A post-hook may excuse keys, so where there is one they are judged after it ran.
        plan.require_loadable(this, judge_keys=not _has_post_hooks(this))
        with raxis.no_grad():
            for write in plan.writes:
                write()
        incompatible = IncompatibleKeys(plan.missing, plan.unexpected)
        _run_post_hooks(this, incompatible)
        plan.require_loadable(this, judge_keys=True)
        return incompatible

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Check this module's own entries of `state_dict` and plan how to take them over.

        Subclasses may override it to convert older checkpoints before calling it; the lists are extended in place.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        plan: LoadPlan = local_metadata[_PLAN]
        for name, current in self._own_state():
            key = prefix + name
            if key in state_dict:
                self._plan_entry(plan, name, current, key, state_dict[key], error_msgs)
            else:
                missing_keys.append(key)
        self._plan_extra_state(plan, state_dict, prefix + EXTRA_STATE, missing_keys, unexpected_keys)
        unexpected_keys.extend(key for key in state_dict if self._is_unexpected(key, prefix))

    def _plan_entry(
        self, plan: LoadPlan, name: str, current: Tensor, key: str, given: Any, error_msgs: list[str]
    ) -> None:
        if not isinstance(given, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected a raxis.Tensor from the checkpoint '
                f"but received {type(given)}"
            )
        elif is_lazy(current) and not plan.assign:
            if not is_lazy(given):
                plan.writes.append(lambda: _filled(current, given))
        elif not is_lazy(current) and given.shape != current.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                f"the shape in current model is {current.shape}."
            )
        elif plan.assign:
            plan.writes.append(lambda: setattr(self, name, _in_role_of(current, given)))
        else:
            plan.writes.append(lambda: current.copy_(given))

    def _plan_extra_state(
        self, plan: LoadPlan, state_dict: Any, key: str, missing_keys: list[str], unexpected_keys: list[str]
    ) -> None:
        wanted = _overrides(self, "set_extra_state")
        if wanted and key in state_dict:
            extra = state_dict[key]
            plan.writes.append(lambda: self.set_extra_state(extra))
        elif wanted:
            missing_keys.append(key)
        elif key in state_dict:
            unexpected_keys.append(key)

    def _is_unexpected(self, key: str, prefix: str) -> bool:
        if not key.startswith(prefix) or key == prefix + EXTRA_STATE:
            return False
        name, *rest = key[len(prefix) :].split(".", 1)
        if rest:
            return name not in self._modules
        return all(name != own for own, _ in self._own_state())


def _filled(current: Any, given: Tensor) -> None:
    """Give an uninitialized parameter or buffer the shape and the values of `given`."""
    current.materialize(given.shape)
    current.copy_(given)


def _overrides(module: StateDictMixin, method: str) -> bool:
    return getattr(type(module), method) is not getattr(StateDictMixin, method)


def _in_role_of(current: Tensor, given: Tensor) -> Tensor:
    """`given` as a parameter if `current` is one, with the same `requires_grad`."""
    if not isinstance(current, Parameter):
        return given
    if isinstance(given, Parameter):
        given.requires_grad_(current.requires_grad)
        return given
    return Parameter(given, current.requires_grad)


def _with_metadata(entries: Any, metadata: Any) -> Any:
    """`entries` with the versions of module classes as an attribute: PyTorch's layout, in files too."""
    entries._metadata = metadata
    return entries


def _shallow_copy(state_dict: Mapping[str, Any]) -> Any:
    """A copy that hooks may change, with the metadata of the original."""
    return _with_metadata(OrderedDict(state_dict), getattr(state_dict, "_metadata", {}))


def _plan_tree(module: Module, state_dict: Any, plan: LoadPlan, prefix: str = "") -> None:
    local_metadata = {**state_dict._metadata.get(prefix[:-1], {}), _PLAN: plan}
    module._load_from_state_dict(
        state_dict, prefix, local_metadata, plan.strict, plan.missing, plan.unexpected, plan.errors
    )
    for name, child in module._modules.items():
        if child is not None:
            _plan_tree(child, state_dict, plan, f"{prefix}{name}.")


def _has_post_hooks(module: Module) -> bool:
    return any(part._load_state_dict_post_hooks for part in module.modules())


def _run_post_hooks(module: Module, incompatible: IncompatibleKeys) -> None:
    """Children first, so that a parent's hook sees its whole subtree loaded."""
    for child in module.children():
        _run_post_hooks(child, incompatible)
    for hook in module._load_state_dict_post_hooks.values():
        hook(module, incompatible)
