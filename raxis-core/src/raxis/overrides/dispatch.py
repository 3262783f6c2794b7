"""Lets the functions of a functional ask for the policy, and no others.

While no scope names a functional, its functions are those of the op table, with no code in front. While one does,
their code is replaced (a function object stays the same, so whoever imported it takes part).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from raxis.layout import Layout
from raxis.ops.entry import FUNCTIONS
from raxis.ops.functional import NAMESPACE
from raxis.ops.source import completed
from raxis.ops.table import OPS, Kind
from raxis.ops.trace import is_tracing
from raxis.overrides import scopes
from raxis.overrides.registry import DEFAULT, MEASURED, Implementation, find, implementations
from raxis.tensor import Tensor

_own: dict[int, CodeType] = {}
"""The code of attached functions before, by identity; under the lock of `raxis.overrides.scopes`."""


def attach(functional: str) -> None:
    """Let the functional's functions ask."""
    for function in functions_of(functional):
        completed(function)
        own = _copy(function)
        _own[id(function)] = own.__code__
        function.__globals__["_dispatch"] = partial(dispatch, functional, own)
        function.__dict__.setdefault("__wrapped__", own)  # inspect.signature asks it
        function.__code__ = _asking.__code__


def detach(functional: str) -> None:
    """Let the functional's functions be the op table's again."""
    for function in functions_of(functional):
        function.__code__ = code = _own.pop(id(function))
        wrapped = function.__dict__.get("__wrapped__")
        if getattr(wrapped, "__code__", None) is code:
            del function.__dict__["__wrapped__"]


def functions_of(functional: str) -> Iterator[FunctionType]:
    """The functions that compute a functional: the one that the others of its name call, or all if they are equals."""
    import raxis.nn.functional  # noqa: F401  fills the table

    layer, op = OPS[f"nn.functional.{functional}"], OPS.get(functional)
    if op is not None and op.kind is not Kind.COMPOSED and layer.kind is Kind.COMPOSED:
        yield FUNCTIONS[op.namespace][functional]  # type: ignore[misc]
        return
    yield FUNCTIONS[NAMESPACE][functional]  # type: ignore[misc]
    if op is not None and op is not layer and op.signature == layer.signature:
        yield FUNCTIONS[op.namespace][functional]  # type: ignore[misc]


def _asking(*args: Any, **kwargs: Any) -> Any:
    return _dispatch(args, kwargs)  # type: ignore[name-defined]  # noqa: F821  in the function's namespace


def _copy(function: FunctionType) -> FunctionType:
    own = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    own.__kwdefaults__ = function.__kwdefaults__
    return own


def dispatch(functional: str, own: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the functional as the policy says.

    Raises:
        RuntimeError: if the implementation named does not support these arguments.
    """
    policy = scopes.policy_of(functional)
    if policy is None or policy == DEFAULT or is_tracing():
        return own(*args, **kwargs)
    given = {name: value for name, value in kwargs.items() if name != "out"}
    if policy == MEASURED:
        from raxis.overrides.measuring import fastest

        policy = fastest(functional, own, args, given)
    chosen = find(functional, policy)
    if chosen is None:
        return own(*args, **kwargs)
    if not chosen.admits(args, given):
        raise RuntimeError(_refusal(functional, policy, args, given))
    return _run(functional, chosen, args, given, kwargs.get("out"))


def _run(
    functional: str, chosen: Implementation, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any
) -> Any:
    with scopes.running(functional):
        result = chosen.function(*args, **kwargs)
    if out is None:
        return result
    from raxis.ops.destination import store_op_results

    op = OPS[f"nn.functional.{functional}"]
    named = dict(zip((parameter.name for parameter in op.parameters), args, strict=False))
    return store_op_results(op, {**named, **kwargs}, result, out)


def _refusal(functional: str, policy: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    others = [name for name in implementations(functional) if name != policy]
    named = [f"{name}={described(value)}" for name, value in kwargs.items()]
    return (
        f"{functional}: the implementation {policy!r}, which the overrides ask for, does not support the arguments "
        f"({', '.join([*map(described, args), *named])}). Choose {' or '.join(others)}, or the policy measured."
    )


def described(value: Any) -> str:
    """An argument as text: dtype, shape and, if it is not contiguous, strides of a tensor."""
    if isinstance(value, Tensor):
        return _described(value._layout)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(described, value))}]"
    return repr(value)


def _described(layout: Layout) -> str:
    strides = "" if layout.is_contiguous else f" strides {list(layout.strides)}"
    return f"{layout.dtype.name}{list(layout.shape)}{strides}"
