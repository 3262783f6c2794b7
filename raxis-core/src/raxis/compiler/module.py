"""Compiled modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raxis.compiler.compiled import Compiled, Miss, Options
from raxis.nn import Module

if TYPE_CHECKING:
    from raxis.compiler.explain import Explanation
    from raxis.ptir.bisecting import Finding
    from raxis.ptir.bisecting_passes import PassFinding
    from raxis.ptir.passes import Machine


class CompiledModule(Module):
    """A module whose calls run as programs; parameters, buffers and attributes are those of the original.

    Attributes:
        compiled: the compiled call.
    """

    def __init__(self, module: Module, options: Options) -> None:
        super().__init__()
        self._orig_mod = module
        compiled = Compiled(module.__call__, options)
        compiled.name = type(module).__name__
        object.__setattr__(self, "compiled", compiled)
        self.training = module.training

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.compiled(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The original's computation, not compiled."""
        return self._orig_mod(*args, **kwargs)

    def misses(self) -> list[Miss]:
        """The calls that could not repeat an earlier one; see `Compiled.misses`."""
        return self.compiled.misses()

    def rows(self) -> tuple[str, ...]:
        """Whether calls with other numbers of rows share programs; see `Compiled.rows`."""
        return self.compiled.rows()

    def explain(self, *, kernels: bool = False, machine: Machine | None = None) -> Explanation:
        """What was made of the module's calls; see `Compiled.explain`."""
        return self.compiled.explain(kernels=kernels, machine=machine)

    def bisect(self, *args: Any, **kwargs: Any) -> Finding | PassFinding | None:
        """The first pass or instruction that gives other values than the reference; see `Compiled.bisect`."""
        return self.compiled.bisect(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            original = self.__dict__.get("_modules", {}).get("_orig_mod")
            if original is None:
                raise
            return getattr(original, name)
