"""Compiled functions: record a run, link it to one program, repeat the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from raxis.compiler.breaks import CompileError
from raxis.compiler.compiled import Compiled, Miss, Options

if TYPE_CHECKING:
    from raxis.backends.api import Backend
    from raxis.ptir.program import Program

__all__ = ["CompileError", "Compiled", "Miss", "capture", "compile"]


def compile(
    function: Any = None,
    *,
    static_argnums: int | Sequence[int] = (),
    on_break: str = "error",
    backend: str | Backend | None = None,
    dynamic: bool | None = None,
    fullgraph: bool | None = None,
    mode: str | None = None,  # noqa: ARG001  PyTorch's argument
    options: dict[str, Any] | None = None,  # noqa: ARG001  PyTorch's argument
    disable: bool = False,
) -> Any:
    """A function or module that runs as one program: recorded at the first call of a kind, then repeated.

    Everything that ops do is recorded: modules, the backward pass, optimizer steps, random numbers, writes in place.
    What Python does besides is not: a changed global, an appended list. Tensors, modules and optimizers from outside
    of the function are watched; if they get other memory or another mode, the next call is recorded anew.

    Args:
        function: a function or a module; None makes a decorator.
        static_argnums: positions of arguments whose values are part of what is compiled.
        on_break: where the function needs values (``.item()``, ``if tensor:``, `nonzero`): "error" raises there,
            "eager" runs the rest of this call op by op.
        backend: "reference" interprets the programs with NumPy, for comparison; or a `raxis.backends.api.Backend`
            whose buffers are the device's. None: the device's own backend.
        dynamic: whether Python numbers among the arguments are inputs from the first call on (without it they are
            from their second value on), and whether calls that differ in the first size of tensors share programs,
            with sizes rounded up to powers of two. That is done where the function is proved to keep rows apart, for
            which it is run on stand-ins twice; see `Compiled.rows`. Otherwise each new shape is recorded anew.
        fullgraph: PyTorch's word: True is ``on_break="error"``, False is ``on_break="eager"``.
        mode: accepted for compatibility, has no effect.
        options: accepted for compatibility, has no effect.
        disable: return `function` as it is.

    Raises:
        ValueError: `on_break` or `backend` is not one of the above.
        CompileError: at a call, see `on_break`.

    Example:
        >>> import raxis
        >>> @raxis.compile
        ... def distance(x, y):
        ...     return ((x - y) ** 2).sum().sqrt()
        >>> distance(raxis.tensor([3.0, 0.0]), raxis.tensor([0.0, 4.0]))
        tensor(5.)
    """
    if on_break not in ("error", "eager"):
        raise ValueError(f"compile: on_break must be 'error' or 'eager', but got {on_break!r}.")
    if fullgraph is not None:
        on_break = "error" if fullgraph else "eager"
    static = (static_argnums,) if isinstance(static_argnums, int) else static_argnums
    chosen = Options(frozenset(static), on_break, _backend(backend), bool(dynamic))
    if disable:
        return function if function is not None else _unchanged
    return _decorator(chosen) if function is None else _compiled(function, chosen)


def _unchanged(function: Any) -> Any:
    return function


def _decorator(options: Options) -> Callable[[Any], Any]:
    return lambda function: _compiled(function, options)


def _compiled(function: Any, options: Options) -> Any:
    from raxis.compiler.module import CompiledModule
    from raxis.nn import Module

    if isinstance(function, Module):
        return CompiledModule(function, options)
    if not callable(function):
        raise TypeError(f"compile expected a function or a module, but got {type(function).__name__}.")
    return Compiled(function, options)


def _backend(named: str | Backend | None) -> Backend | None:
    from raxis.backends.api import Backend
    from raxis.backends.reference.backend import ReferenceBackend

    if named is None or isinstance(named, Backend):
        return named
    if named == "reference":
        return ReferenceBackend()
    raise ValueError(
        f"compile: backend must be None, 'reference' or a raxis.backends.api.Backend, but got {named!r}."
    )


def capture(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Program:
    """The program of one call of `function`, as recorded and before any pass; the call is made, with all its effects.

    Parameters are the tensors and changing numbers that it read, results the tensors that it returned, left as
    gradients or wrote.

    Raises:
        CompileError: if the function needs values while it runs.
        RuntimeError: if it leaves tensors behind in objects, so that a program alone could not do the same.

    Example:
        >>> import raxis
        >>> from raxis.ptir import capture
        >>> print(capture(lambda x: x + 1, raxis.ones(2)))
        ptir 1.0
        program "<lambda>"(%0: f32[2]) {
          %1 = constant() {dtype=f32, shape=[], value=0x1.0000000000000p+0} : f32[]
          %2 = broadcast(%1) {dims=[], shape=[2]} : f32[2]
          %3 = add(%0, %2) : f32[2]
          return %3
        }
        <BLANKLINE>
    """
    compiled = Compiled(function, Options())
    compiled(*args, **kwargs)
    replays = compiled.replays()
    if not replays:
        raise RuntimeError(f"capture: {compiled.name} is no program, since {compiled.misses()[0].kept}.")
    return replays[0].artifact.linked.program
