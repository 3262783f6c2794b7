"""Numbers that a recorded program takes as inputs, because they differ from call to call."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from raxis.interception import active


class Invocation(NamedTuple):
    """One call of a compiled function.

    Attributes:
        leaves: the leaves of its arguments.
        draws: key and offset that each random generator gave for it.
    """

    leaves: Sequence[Any]
    draws: Mapping[Any, tuple[int, int]]


class Source(NamedTuple):
    """Where a number comes from at each call.

    Attributes:
        key: what identifies it; numbers of one key are one input.
        read: gives the number.
        added: a constant that the program adds to it.
    """

    key: Hashable
    read: Callable[[Invocation], Any]
    added: int = 0


class InputFloat(float):
    """A float that a recording made into an input."""

    source: Source


class InputInt(int):
    """An int that a recording made into an input."""

    source: Source


def with_source(value: Any, source: Source) -> Any:
    """`value`, known to come from `source`."""
    number = (InputFloat if isinstance(value, float) else InputInt)(value)
    number.source = source
    return number


def fresh_number(key: Hashable, read: Callable[[], Any]) -> Any:
    """A number of the host that is read anew at each call of a compiled function.

    Outside of a recording it is just ``read()``.
    """
    value = read()
    return value if active.recording is None else ArgumentNumber(value, key, lambda _: read())


class ArgumentNumber:
    """A Python number that may differ at each call of a compiled function.

    Arithmetic on it is done anew at each call. Whatever needs its value now (a comparison, a size, ``math.sqrt``)
    ties the recording to the value.
    """

    __slots__ = ("key", "read", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, key: Hashable, read: Callable[[Invocation], Any]) -> None:
        self.value = value
        self.key = key
        self.read = read

    def as_input(self) -> Any:
        """The number as operand of an op."""
        return with_source(self.value, Source(self.key, self.read))

    def tied(self) -> Any:
        """The value, which from now on is part of the signature."""
        if active.recording is not None:
            active.recording.tied = True
        return self.value

    def __float__(self) -> float:
        return float(self.tied())

    def __int__(self) -> int:
        return int(self.tied())

    def __index__(self) -> int:
        return operator.index(self.tied())

    def __bool__(self) -> bool:
        return bool(self.tied())

    def __repr__(self) -> str:
        return repr(self.tied())

    def __format__(self, spec: str) -> str:
        return format(self.tied(), spec)


numbers.Number.register(ArgumentNumber)


def _derived(name: str, function: Callable[..., Any]) -> None:
    def forward(self: ArgumentNumber, *others: Any) -> Any:
        if not all(isinstance(other, (int, float, ArgumentNumber)) for other in others):
            return NotImplemented
        reads = [other.read if isinstance(other, ArgumentNumber) else None for other in others]
        values = [other.value if isinstance(other, ArgumentNumber) else other for other in others]
        keys = [other.key if isinstance(other, ArgumentNumber) else other for other in others]

        def read(call: Invocation) -> Any:
            given = [value if own is None else own(call) for own, value in zip(reads, values, strict=True)]
            return function(self.read(call), *given)

        return ArgumentNumber(function(self.value, *values), (name, self.key, *keys), read)

    setattr(ArgumentNumber, name, forward)


def _compared(name: str, function: Callable[..., Any]) -> None:
    def compare(self: ArgumentNumber, other: Any) -> Any:
        return function(self.tied(), other.tied() if isinstance(other, ArgumentNumber) else other)

    setattr(ArgumentNumber, name, compare)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _function = getattr(operator, _name)
    _derived(f"__{_name}__", _function)
    _derived(f"__r{_name}__", lambda own, other, function=_function: function(other, own))
for _name in ("neg", "pos", "abs"):
    _derived(f"__{_name}__", getattr(operator, _name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _compared(f"__{_name}__", getattr(operator, _name))
