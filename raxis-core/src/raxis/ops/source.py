"""Generated Python source."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raxis.ops.table import Op

_code: dict[str, CodeType] = {}
"""Compiled source; plans of one shape of call share it."""


def compile_function(source: str, name: str, filename: str, namespace: dict[str, Any]) -> Any:
    """Compile generated source and return the function `name`; tracebacks can show its lines."""
    code = _code.get(source)
    if code is None:
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        code = _code.setdefault(source, compile(source, filename, "exec"))
    exec(code, namespace)
    return namespace[name]


def compiled_run(op: Op, lines: Sequence[str], names: dict[str, Any]) -> Callable[..., Any]:
    """The function of all parameters of `op` that a plan's calls run."""
    name = f"{op.name}_run"
    parameters = ", ".join(parameter.name for parameter in op.parameters)
    source = f"def {name}({parameters}):\n" + "".join(f"    {line}\n" for line in lines)
    made: Callable[..., Any] = compile_function(source, name, f"<raxis run {op.name}>", names)
    return made


def deferred_function(name: str, make: Callable[[], tuple[str, dict[str, Any]]]) -> FunctionType:
    """A function whose source and names `make` returns at its first call.

    Importing Raxis makes hundreds of functions of which a program uses a few; writing and compiling them
    all would take longer than importing NumPy. The function object stays the same: its code is replaced.
    """
    namespace: dict[str, Any] = {}
    function = FunctionType(_first_call.__code__, namespace, name)
    namespace["_complete"] = complete = _Completion(function, make)
    function.__qualname__ = name
    function.__dict__["__wrapped__"] = complete  # inspect.signature asks it
    return function


def completed(function: FunctionType) -> FunctionType:
    """A function made by `deferred_function`, with its code."""
    if function.__code__ is _first_call.__code__:
        function.__globals__["_complete"]()
    return function


def _first_call(*args: Any, **kwargs: Any) -> Any:
    return _complete()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821  in the function's namespace


class _Completion:
    """Gives a deferred function its code."""

    __slots__ = ("function", "make")

    def __init__(self, function: FunctionType, make: Callable[[], tuple[str, dict[str, Any]]]) -> None:
        self.function = function
        self.make = make

    def __call__(self) -> FunctionType:
        from raxis.overrides.configuration import begin

        begin()
        function = self.function
        name = function.__name__
        source, names = self.make()
        namespace = function.__globals__
        namespace.update(names)
        compiled: FunctionType = compile_function(source, name, f"<raxis op {name}>", namespace)
        if function.__dict__.get("__wrapped__") is self:
            del function.__dict__["__wrapped__"]
        function.__defaults__ = compiled.__defaults__
        function.__kwdefaults__ = compiled.__kwdefaults__
        if function.__code__ is _first_call.__code__:  # else another thread was faster
            function.__code__ = compiled.__code__
        return function

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(self())
