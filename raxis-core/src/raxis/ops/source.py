"""Generated Python source."""

from __future__ import annotations

import linecache
from types import CodeType, FunctionType
from typing import Any

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


def deferred_function(source: str, name: str, filename: str, namespace: dict[str, Any]) -> FunctionType:
    """A function that is compiled at its first call.

    Importing Raxis makes hundreds of functions of which a program uses a few; compiling them all would
    take longer than importing NumPy. The function object stays the same: its code is replaced.
    """

    def complete() -> FunctionType:
        compiled: FunctionType = compile_function(source, name, filename, namespace)
        function.__code__ = compiled.__code__
        function.__defaults__ = compiled.__defaults__
        function.__kwdefaults__ = compiled.__kwdefaults__
        return function

    namespace["_complete"] = complete
    function = FunctionType(_first_call.__code__, namespace, name)
    function.__qualname__ = name
    return function


def _first_call(*args: Any, **kwargs: Any) -> Any:
    return _complete()(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821  in the function's namespace
