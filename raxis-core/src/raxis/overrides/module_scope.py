"""Policies of a model: they hold while it runs, unless the user says otherwise."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from raxis.overrides import scopes
from raxis.overrides.configuration import begin
from raxis.overrides.policies import checked

if TYPE_CHECKING:
    from raxis.nn import Module

_lock = threading.Lock()


class _Scoped:
    """The ``forward`` of a module with policies; a copy of the module gets a copy of it."""

    def __init__(self, module: Module, policies: Mapping[str, str]) -> None:
        self.module = module
        self.policies = policies

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with scopes.of_model(self.policies):
            return type(self.module).forward(self.module, *args, **kwargs)


def scope(module: Module, policies: Mapping[str, str]) -> None:
    """Let a module, and those it calls, run by `policies`, as a model's configuration does.

    They replace earlier ones of the module; an empty mapping takes them away. Scopes of `use` win over them, whichever
    is entered first, and they win over the environment and the configuration file.

    Raises:
        ValueError: for an unknown functional or implementation.

    Example:
        >>> import raxis
        >>> model = raxis.nn.Softmax(dim=0)
        >>> scope(model, {"softmax": "composed"})
        >>> model(raxis.zeros(2))
        tensor([0.5000, 0.5000])
    """
    begin()
    found = checked(policies)
    with _lock:
        if found:
            object.__setattr__(module, "forward", _Scoped(module, found))
        elif isinstance(module.__dict__.get("forward"), _Scoped):
            object.__delattr__(module, "forward")
    scopes.outdate()
