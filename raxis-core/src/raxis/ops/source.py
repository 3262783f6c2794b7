"""Generated Python source."""

from __future__ import annotations

import linecache
from types import CodeType
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
