"""Which policies hold where: scopes of the user and of models, and what the process is configured with."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from raxis.interception import anyone
from raxis.ops import tables

Policies = Mapping[str, str]

_user: ContextVar[Policies] = ContextVar("raxis_user_overrides", default={})  # noqa: B039  never changed
_model: ContextVar[Policies] = ContextVar("raxis_model_overrides", default={})  # noqa: B039  never changed
_running: ContextVar[frozenset[str]] = ContextVar("raxis_running_overrides", default=frozenset())

_lock = threading.Lock()


class _Shared:
    """What all threads see; changed under the lock.

    Attributes:
        configured: what the process is configured with.
        uses: how many scopes and configurations name a functional.
        entered: how many scopes are entered.
        revision: rises whenever policies change that are in no scope of the caller.
    """

    def __init__(self) -> None:
        self.configured: Policies = {}
        self.uses: Counter[str] = Counter()
        self.entered = 0
        self.revision = 0


_shared = _Shared()


class use:
    """``with use(softmax="composed"):`` the calls inside follow these policies, whatever models and files say.

    Scopes nest; the innermost that names a functional decides. A scope holds for its context (see `contextvars`):
    other threads do not see it.

    Args:
        policies: policy by functional, for names known at run time only.
        named: likewise, as keywords.

    Raises:
        ValueError: for an unknown functional or implementation, with the nearest known.

    Example:
        >>> import raxis
        >>> x = raxis.tensor([[1.0, 3.0]])
        >>> with use(layer_norm="composed"), use({"softmax": "default"}):
        ...     raxis.nn.functional.layer_norm(x, (2,)).round(decimals=3)
        tensor([[-1.,  1.]])
    """

    def __init__(self, policies: Mapping[str, str] | None = None, **named: str) -> None:
        from raxis.overrides.configuration import begin
        from raxis.overrides.policies import checked

        begin()
        self._policies = checked({**(policies or {}), **named})
        self._scopes: list[Any] = []

    def __enter__(self) -> None:
        scope = holding(_user, self._policies)
        scope.__enter__()
        self._scopes.append(scope)

    def __exit__(self, *exception: Any) -> None:
        self._scopes.pop().__exit__(*exception)


def of_model(policies: Policies) -> Any:
    """The scope of a model's own policies, which have been checked."""
    return holding(_model, policies)


@contextmanager
def holding(variable: ContextVar[Policies], policies: Policies) -> Iterator[None]:
    """A scope; it lets the functions of its functionals ask for policies meanwhile."""
    _attach(policies)
    _count_scopes(1)
    token = variable.set({**variable.get(), **policies})
    try:
        yield
    finally:
        _count_scopes(-1)
        _detach(policies)
        variable.reset(token)


def _count_scopes(step: int) -> None:
    with _lock:
        _shared.entered += step
        anyone.overrides = _shared.entered > 0


def configure(policies: Policies) -> None:
    """Replace what the process is configured with."""
    before, _shared.configured = _shared.configured, dict(policies)
    _attach(policies)
    _detach(before)
    outdate()


def configured() -> Policies:
    """What the process is configured with."""
    return _shared.configured


def outdate() -> None:
    """What compiled functions recorded of models and configuration is void."""
    with _lock:
        _shared.revision += 1
    tables.outdate()


def _attach(policies: Policies) -> None:
    from raxis.overrides.dispatch import attach

    with _lock:
        for functional in policies:
            _shared.uses[functional] += 1
            if _shared.uses[functional] == 1:
                attach(functional)


def _detach(policies: Policies) -> None:
    from raxis.overrides.dispatch import detach

    with _lock:
        for functional in policies:
            _shared.uses[functional] -= 1
            if _shared.uses[functional] == 0:
                detach(functional)


def policy_of(functional: str) -> str | None:
    """The policy that holds here; None if nobody gave one, and while an implementation of the functional runs."""
    if functional in _running.get():
        return None
    for policies in (_user.get(), _model.get(), _shared.configured):
        if functional in policies:
            return policies[functional]
    return None


def policies() -> dict[str, str]:
    """The policies that hold here, by functional.

    Example:
        >>> with use(softmax="composed"):
        ...     policies()["softmax"]
        'composed'
    """
    return {**_shared.configured, **_model.get(), **_user.get()}


@contextmanager
def running(functional: str) -> Iterator[None]:
    """Calls of the functional from its own implementations run the op's own."""
    token = _running.set(_running.get() | {functional})
    try:
        yield
    finally:
        _running.reset(token)


def state() -> Any:
    """What decides how functionals run here, for the keys of compiled programs."""
    if not anyone.overrides:
        return _shared.revision
    return (
        _shared.revision,
        *(tuple(sorted(held.items())) for held in (_user.get(), _model.get())),
        _running.get(),
    )
