"""Straight-line Python source in the making: calls of kernels on named arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from raxis.backends.reference.quiet import new_context, pool

_IN_CONTEXT = """\
    try: context = pop()
    except IndexError: context = new_context()
    try: {}
    finally: push(context)
"""


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

    def function(
        self, name: str, parameters: Sequence[str], results: Sequence[str] | None
    ) -> Callable[..., Any]:
        """The compiled function: it returns the tuple of `results`, or None and with warnings off."""
        warning = [call for call in self.calls if call.warns]
        single = warning[0] if results is None and len(warning) == 1 else None
        body = "".join(call.render(call is single) for call in self.calls) or "    pass\n"
        if results is not None:
            body += f"    return ({''.join(f'{result}, ' for result in results)})\n"
        text = f"def kernel({', '.join(parameters)}):\n{body}"
        if results is None and len(warning) > 1:
            text = text.replace("def kernel", "def loud", 1)
            text += "def kernel(*arguments):\n" + _IN_CONTEXT.format("context.run(loud, *arguments)")
        self.namespace.update(pop=pool.pop, push=pool.append, new_context=new_context)
        exec(compile(text, f"<reference kernel {name}>", "exec"), self.namespace)
        function: Callable[..., Any] = self.namespace["kernel"]
        return function
