"""The machine code of one kind of products, and the built-ins of its shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.native import built_in, method_definition


class CompiledProducts:
    """The code of one kind of products."""

    def __init__(self, ir: str) -> None:
        self._code = Code(compile(f'target triple = "{host().triple}"\n{ir}', host()))
        self._definition = method_definition("dot_general", self._code.address("entry"))

    def bind(self, numbers: Sequence[int]) -> Callable[..., None]:
        """The built-in of one shape."""
        return built_in(self._definition, numbers, self)
