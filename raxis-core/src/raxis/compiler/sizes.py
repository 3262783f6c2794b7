"""The number of rows as user code sees it while a function is rehearsed: a number that must not be looked at."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from raxis.frames import is_internal
from raxis.size import Size

_ANSWERING = ("raxis.tensor", "raxis.untyped_storage", "raxis.ops.definitions.description")
"""The modules that answer questions about sizes."""
_SHAPING = ("raxis.layout", "raxis.ops.definitions.views", "raxis.ops.definitions.strided_views")
"""The modules that find out how a tensor is given another shape."""


class RowCount:
    """A size that is a multiple of the number of rows.

    It can be an argument where sizes are expected, be compared with its like, and be multiplied by numbers. Anything
    else would make the function depend on its value, and is refused.
    """

    __slots__ = ("_refuse", "value")

    def __init__(self, value: int, refuse: Callable[[str], NoReturn]) -> None:
        self.value = value
        self._refuse = refuse

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return int

    def __mul__(self, other: object) -> RowCount:
        if type(other) is not int:
            self._refuse(f"the number of rows is multiplied by a {type(other).__name__}")
        return RowCount(self.value * other, self._refuse)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if type(other) is not RowCount and not _is_shaping(sys._getframe(1)):
            self._refuse("the number of rows is compared")
        return bool(self.value == plain_size(other))

    def __ne__(self, other: object) -> bool:
        if type(other) is not RowCount and not _is_shaping(sys._getframe(1)):
            self._refuse("the number of rows is compared")
        return bool(self.value != plain_size(other))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked by those who wonder what this is
            raise AttributeError(name)
        return self._refuse(f"{name} of the number of rows is asked for")

    def __hash__(self) -> int:
        if not is_internal(sys._getframe(1)):
            self._refuse("the number of rows is a key")
        return hash(self.value)


def plain_size(size: Any) -> Any:
    """A size as a number, sizes as a tuple of numbers, anything else as it is."""
    if type(size) is WatchedSize:
        return tuple(map(plain_size, size))
    return size.value if type(size) is RowCount else size


def _is_shaping(frame: FrameType) -> bool:
    """Whether a frame finds out how a tensor is given another shape: the rehearsal sees what it finds."""
    return frame.f_globals.get("__name__") in _SHAPING


def _looked_at(name: str) -> Callable[..., Any]:
    def look(self: RowCount, *others: object) -> Any:
        if not _is_shaping(sys._getframe(1)):
            self._refuse(f"the number of rows is used as a number ({name.strip('_')})")
        return getattr(self.value, name)(*map(plain_size, others))

    return look


_NOT_OF_NUMBERS = ("__getattribute__", "__getnewargs__", "__new__", "__sizeof__")

for _name in vars(int):
    if _name.startswith("__") and _name not in vars(RowCount) and _name not in _NOT_OF_NUMBERS:
        setattr(RowCount, _name, _looked_at(_name))

numbers.Number.register(RowCount)


class WatchedSize(Size):
    """A size some of whose elements are a `RowCount`."""

    __slots__ = ()

    @classmethod
    def of(cls, sizes: tuple[Any, ...]) -> WatchedSize:
        """The sizes as they are."""
        return tuple.__new__(cls, sizes)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        found = tuple.__getitem__(self, index)
        return WatchedSize.of(found) if isinstance(index, slice) else found

    def __add__(self, other: tuple[int, ...]) -> WatchedSize:  # type: ignore[override]
        return WatchedSize.of(tuple.__add__(self, other))


def asked_by_user(frame: FrameType) -> bool:
    """Whether the user's code, not Raxis' own, asks the tensor's method that runs in this frame."""
    asking: FrameType | None = frame
    while asking is not None and _answers(asking):
        asking = asking.f_back
    return asking is not None and not is_internal(asking)


def _answers(frame: FrameType) -> bool:
    """Whether a frame is that of a tensor's method, or of generated code in front of it."""
    return frame.f_globals.get("__name__") in _ANSWERING or frame.f_code.co_filename.startswith("<raxis")
