"""Straight-line Python source in the making: calls of kernels on named arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any

from raxis.backends.reference.quiet import new_context, pool
from raxis.errors import OutOfMemoryError

_IN_CONTEXT = """\
    try: context = pop()
    except IndexError: context = new_context()
    try: {}
    finally: push(context)
"""


_REPORTING_MEMORY = """\
    try:
{}    except MemoryError as error: raise out_of_memory(name, error) from None
"""


def _reporting_memory(body: str) -> str:
    return _REPORTING_MEMORY.format(indent(body, "    "))


def _out_of_memory(name: str, error: MemoryError) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"Out of memory on device 'cpu': {name} needs memory for intermediate values. {error}. Free tensors that "
        "are no longer needed, or use smaller batches."
    )


@dataclass
class Call:
    """``targets = function(arguments)``.

    Attributes:
        warns: whether NumPy may report a floating-point condition there.
        unpacks: whether the function returns a tuple of all targets.
        takes_out: whether the function has an argument `out`, an array for its result.
    """

    targets: tuple[str, ...]
    function: str
    arguments: list[str]
    warns: bool = False
    unpacks: bool = False
    takes_out: bool = False

    def render(self, in_context: bool) -> str:
        """The statement, running in a context without warnings if asked."""
        left = ", ".join(self.targets) + ("," if self.unpacks else "") + " = " if self.targets else ""
        if in_context:
            return _IN_CONTEXT.format(f"{left}context.run({', '.join([self.function, *self.arguments])})")
        return f"    {left}{self.function}({', '.join(self.arguments)})\n"


@dataclass
class Source:
    """The calls of one function and the objects they refer to by name."""

    calls: list[Call] = field(default_factory=list)
    namespace: dict[str, Any] = field(default_factory=dict)

    def bind(self, prefix: str, thing: object) -> str:
        """A new name for an object."""
        name = f"{prefix}_{len(self.namespace)}"
        self.namespace[name] = thing
        return name

    def local(self) -> str:
        """A new name for a local variable."""
        return self.bind("v", None)

    def region_function(self, parameters: Sequence[str], results: Sequence[str]) -> Callable[..., Any]:
        """The function from arrays to the tuple of `results`."""
        returned = "".join(f"{result}, " for result in results)
        body = self._body() + f"    return ({returned})\n"
        return self._compiled(f"def kernel({', '.join(parameters)}):\n{body}", "region")

    def executable(self, name: str, parameters: Sequence[str]) -> Callable[..., None]:
        """The function that returns None and runs with warnings off: whole, if more than one call may warn."""
        warning = [call for call in self.calls if call.warns]
        signature = ", ".join(parameters)
        if len(warning) <= 1:
            body = _reporting_memory(self._body(*warning))
            return self._compiled(f"def kernel({signature}):\n{body}", name)
        outer = _reporting_memory(_IN_CONTEXT.format("context.run(inner, *arguments)"))
        inner = f"def inner({signature}):\n{self._body()}"
        return self._compiled(f"{inner}def kernel(*arguments):\n{outer}", name)

    def _body(self, in_context: Call | None = None) -> str:
        return "".join(call.render(call is in_context) for call in self.calls) or "    pass\n"

    def _compiled(self, text: str, name: str) -> Callable[..., Any]:
        self.namespace.update(
            pop=pool.pop, push=pool.append, new_context=new_context, name=name, out_of_memory=_out_of_memory
        )
        exec(compile(text, f"<reference kernel {name!a}>", "exec"), self.namespace)
        return self.namespace["kernel"]
