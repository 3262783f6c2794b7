"""Dialects of the C family: the few words in which CUDA C++, OpenCL C and plain C differ."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar


class Dialect(abc.ABC):
    """How one language of the C family says what kernels need; a language is a subclass with these attributes.

    Attributes:
        name: of the language, for messages.
        prelude: begins every source: the types ``i8`` to ``i64``, ``u8`` to ``u64``, ``f32`` and ``f64``.
        function: qualifiers of a function that kernels call.
        kernel: qualifiers and result type of a kernel.
        memory: qualifier of pointers into the device's memory.
        shared: qualifier of memory that a work-group shares; "" where there is none, and rows have one work-item each.
        barrier: waits for the whole work-group.
        group_size: work-items in a group; a power of 4 where there is shared memory.
        long_suffix: makes a literal 64 bits wide.
        helpers: functions that only this language can write, or has a better way for, by name: ``bits_f32``,
            ``real_f32``, ``bits_f64``, ``real_f64``, and any of `raxis.codegen.helpers`.
    """

    name: str
    prelude: str
    function: str
    kernel: str
    memory: str = ""
    shared: str = ""
    barrier: str = ""
    group_size: int = 1
    long_suffix: str = "L"
    helpers: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def math(self, name: str, real: str) -> str:
        """The name of a mathematical function for ``f32`` or ``f64``."""
        return name

    def numbers_type(self, count: int) -> str:
        """Declares the type ``numbers`` that holds the run-time numbers of a call."""
        return f"typedef struct {{ i64 v[{count}]; }} numbers;"

    @property
    def numbers_parameter(self) -> str:
        """The kernel's parameter that holds them."""
        return "const numbers n"

    def number(self, place: int) -> str:
        """A run-time number."""
        return f"n.v[{place}]"

    def parameters(self, buffers: Sequence[str]) -> str:
        """The kernel's parameters; `buffers` are the element types of buffer slots."""
        pointers = [f"{self.memory} {type} *b{slot}".strip() for slot, type in enumerate(buffers)]
        return ", ".join([*pointers, self.numbers_parameter])

    @abc.abstractmethod
    def points(self, count: str, body: Sequence[str]) -> list[str]:
        """Runs `body` for every ``point`` below `count`."""

    def groups(self, body: Sequence[str]) -> list[str]:
        """Runs `body` once per work-group, whose number is ``point``; ``lane`` is the work-item's in the group."""
        raise NotImplementedError(f"{self.name} has no work-groups.")

    @abc.abstractmethod
    def claim(self, flag: str, value: str) -> str:
        """An expression: whether the i32 at `flag` was 0 and now is `value`, which happens once."""

    @abc.abstractmethod
    def exchange(self, type: str, place: str, expected: str, value: str) -> str:
        """An expression: what was at `place` (u32 or u64) before `value` was put there if that was `expected`."""
