"""From a `LoopKernel` to a built-in function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from raxis.schedule.loops import LoopKernel
from raxis_cpu.cache import object_code
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.combiner import Combiner
from raxis_cpu.llvm.compile import Code, Target, emit, host
from raxis_cpu.llvm.entry import Argument, Entry
from raxis_cpu.llvm.layout import Layout
from raxis_cpu.llvm.native import built_in, method_definition
from raxis_cpu.llvm.plan import Plan, Specimen, specimen_of
from raxis_cpu.llvm.renderer import Renderer


class Built:
    """The code of a specimen: `bind` gives the built-in of any kernel that has it."""

    def __init__(self, specimen: Specimen, arguments: Sequence[Argument], target: Target) -> None:
        self._layout = _layout(specimen, target)
        self._code = Code(_object_code(specimen, arguments, target))
        self._definition = method_definition(specimen.kernel.name, self._code.address("entry"))

    def bind(self, kernel: LoopKernel) -> Callable[..., None]:
        """The built-in of a kernel of this specimen."""
        return built_in(self._definition, self._layout.parameters(kernel, runtime.ADDRESS), self)


def _object_code(specimen: Specimen, arguments: Sequence[Argument], target: Target) -> bytes:
    # The cache is asked by what the IR is made of, which takes much less time to write than the IR.
    order = ", ".join(f"{argument.kind} {argument.number}" for argument in arguments)
    shape = ", ".join(f"{name} {value}" for name, value in specimen._asdict().items() if name != "kernel")
    program = f"{specimen.kernel}\n  {shape}\n  arguments {order}"
    return object_code(program, target, lambda: emit(render(specimen, arguments, target), target))


def _layout(specimen: Specimen, target: Target) -> Layout:
    plan = Plan(specimen)
    return Layout(plan, plan.width(target.vector_bytes))


def render(specimen: Specimen, arguments: Sequence[Argument], target: Target) -> str:
    """The module's text."""
    layout = _layout(specimen, target)
    plan = layout.plan
    renderers: list[Renderer | Combiner] = [Renderer(layout, target)]
    if plan.checked:
        bare = Plan(specimen, keeps=False)
        renderers.append(Renderer(Layout(bare, layout.lanes), target, checks=True))
    entry = Entry(layout, arguments, checks=bool(plan.checked))
    if plan.split:
        renderers.append(Combiner(layout, target))
    functions = [*(renderer.render() for renderer in renderers), entry.render()]
    helpers: dict[str, Any] = dict(entry.helpers)
    for renderer in renderers:
        helpers |= renderer.function.helpers
    return "\n".join([*(helper() for helper in helpers.values()), *functions, "!0 = !{}"])


def default_arguments(kernel: LoopKernel) -> tuple[Argument, ...]:
    """Every buffer slot in order, then every scalar."""
    buffers = [Argument("buffer", number) for number in range(len(kernel.buffers))]
    return (*buffers, *(Argument("scalar", number) for number in range(len(kernel.scalars))))


@lru_cache(maxsize=4096)
def _built(specimen: Specimen, arguments: tuple[Argument, ...]) -> Built:
    return Built(specimen, arguments, host())


def build(kernel: LoopKernel, arguments: Sequence[Argument] | None = None) -> Built:
    """The compiled code for a kernel, shared by all kernels of the same structure.

    Args:
        kernel: what to compile; every elementwise node must satisfy `supports`.
        arguments: the order in which the built-in takes buffers and scalars; by default all buffer slots, then
            all scalars.

    Example:
        >>> import numpy as np
        >>> from raxis import float32
        >>> from raxis.schedule.loops import Access, Axis, LoopKernel, Node, Store
        >>> load = Node("load", (), float32, Access(0, (1,)))
        >>> nodes, stores = (load, Node("exp", (0,), float32)), (Store(1, Access(1, (1,))),)
        >>> kernel = LoopKernel("exp", (float32, float32), (Axis(3),), nodes, stores)
        >>> x, y = np.zeros(3, np.float32), np.empty(3, np.float32)
        >>> exp = build(kernel).bind(kernel)
        >>> exp(x.ctypes.data, 0, y.ctypes.data, 0)
        >>> y.tolist()
        [1.0, 1.0, 1.0]
    """
    order = default_arguments(kernel) if arguments is None else tuple(arguments)
    return _built(specimen_of(kernel), order)
