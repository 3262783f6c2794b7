"""A device that keeps the sources of its kernels, and runs nothing."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from raxis.codegen import Dialect, KernelBackend
from raxis.layout import contiguous_strides
from raxis.ptir import Program


def dense(program: Program) -> list[list[tuple[int, ...]]]:
    parts = (program.parameters, program.results)
    return [[contiguous_strides(value.type.shape) for value in part] for part in parts]


class Recorder(KernelBackend):
    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self.dialect = dialect
        self.sources: list[str] = []

    def build(self, name: str, source: str) -> str:
        assert re.search(rf"\b{name}\(", source)
        self.sources.append(source)
        return name

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotImplementedError("a recorder runs nothing.")

    launch = index_of = allocate = copy_from_host = copy_to_host = device_count = properties = _refuse
