"""Names for orders of dimensions in memory."""

from __future__ import annotations


class memory_format:
    """An order of dimensions in memory; `preserve_format` keeps the operand's."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"raxis.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout:
    """How elements are stored; there is only `strided`."""

    def __repr__(self) -> str:
        return "raxis.strided"

    def __reduce__(self) -> str:
        return "strided"


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
strided = layout()
