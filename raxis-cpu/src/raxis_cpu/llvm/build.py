"""From a `LoopKernel` to a built-in function."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from raxis.schedule.loops import LoopKernel
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import Code, Target, compile, host
from raxis_cpu.llvm.entry import Argument, Entry
from raxis_cpu.llvm.layout import Layout
from raxis_cpu.llvm.plan import Plan, Specimen, specimen_of
from raxis_cpu.llvm.renderer import Renderer

_METH_FASTCALL = 0x80


class _MethodDefinition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _new_function(definition: _MethodDefinition, self_: bytes, owner: object) -> Callable[..., None]:
    """A built-in; it keeps `owner` alive as the module that it is said to come from."""
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    found: Callable[..., None] = new(ctypes.addressof(definition), self_, owner)
    return found


class Built:
    """The code of a specimen: `bind` gives the built-in of any kernel that has it."""

    def __init__(self, specimen: Specimen, arguments: Sequence[Argument], target: Target) -> None:
        ir, self._layout = render(specimen, arguments, target)
        self._code = Code(compile(ir, target))
        name, address = specimen.kernel.name.encode(), self._code.address("entry")
        # Built-ins refer to the definition, which refers to the code; neither may go before them.
        self._definition = _MethodDefinition(name, address, _METH_FASTCALL, None)

    def bind(self, kernel: LoopKernel) -> Callable[..., None]:
        """The built-in of a kernel of this specimen."""
        numbers = self._layout.parameters(kernel, runtime.ADDRESS)
        return _new_function(self._definition, struct.pack(f"<{len(numbers)}q", *numbers), self)


def render(specimen: Specimen, arguments: Sequence[Argument], target: Target) -> tuple[str, Layout]:
    """The module's text, and where its code finds its numbers."""
    plan = Plan(specimen)
    layout = Layout(plan, plan.width(target.vector_bytes))
    renderers = [Renderer(plan, layout, target, checks=False)]
    if plan.checked:
        bare = Plan(specimen, keeps=False)
        renderers.append(Renderer(bare, Layout(bare, layout.lanes), target, checks=True))
    entry = Entry(layout, arguments, checks=bool(plan.checked))
    functions = [*(renderer.render() for renderer in renderers), entry.render()]
    helpers: dict[str, Any] = dict(entry.helpers)
    for renderer in renderers:
        helpers |= renderer.function.helpers
    return "\n".join([*(helper() for helper in helpers.values()), *functions, "!0 = !{}"]), layout


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
