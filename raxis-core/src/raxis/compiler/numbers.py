"""Numbers that a recorded program takes as inputs, because they differ from call to call."""

from __future__ import annotations

import math
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
    """A float that a recording made into an input; arithmetic on it is done anew at each call."""

    source: Source
    __hash__ = float.__hash__

    def __float__(self) -> float:
        _tie(self.source.key)
        return float.__float__(self)


class InputInt(int):
    """An int that a recording made into an input; arithmetic on it is done anew at each call."""

    source: Source
    __hash__ = int.__hash__

    def __int__(self) -> int:
        _tie(self.source.key)
        return int.__int__(self)

    def __index__(self) -> int:
        _tie(self.source.key)
        return int.__index__(self)

    def __float__(self) -> float:
        _tie(self.source.key)
        return int.__float__(self)


def plain(value: Any) -> Any:
    """A number without its source; its own conversions would count as looking at the value."""
    if isinstance(value, InputFloat):
        return float.__float__(value)
    return int.__int__(value) if isinstance(value, InputInt) else value


def with_source(value: Any, source: Source) -> Any:
    """`value`, known to come from `source`."""
    value = plain(value)
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

    def __init__(self, value: Any, key: Hashable, read: Callable[[Invocation], Any]) -> None:
        self.value = value
        self.key = key
        self.read = read

    def as_input(self) -> Any:
        """The number as operand of an op."""
        return with_source(self.value, Source(self.key, self.read))

    def tied(self) -> Any:
        """The value, which from now on is part of the signature."""
        _tie(self.key)
        return self.value

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked by those who wonder what this is
            raise AttributeError(name)
        return getattr(self.tied(), name)

    def __hash__(self) -> int:
        return hash(self.tied())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.tied(), digits)

    def __trunc__(self) -> int:
        return math.trunc(self.tied())

    def __floor__(self) -> int:
        return math.floor(self.tied())

    def __ceil__(self) -> int:
        return math.ceil(self.tied())

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

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


def _tie(key: Hashable) -> None:
    """Note in the recording that a number was looked at."""
    if active.recording is None:
        return
    if _is_of_arguments(key):
        active.recording.tied = True
    else:
        active.recording.unrepeatable = "a number that changes from call to call was looked at"


def _is_of_arguments(key: Hashable) -> bool:
    """Whether a number was computed from arguments of the call and constants only."""
    if not isinstance(key, tuple):
        return True
    if key[0] == "argument":
        return True
    return isinstance(key[0], str) and all(map(_is_of_arguments, key[1:]))


class _Known(NamedTuple):
    """A number as operand of arithmetic: its value now, what identifies it, and how it is read at a call."""

    value: Any
    key: Hashable
    read: Callable[[Invocation], Any]


def _known(number: Any) -> _Known:
    kind = type(number)
    if kind is ArgumentNumber:
        return _Known(number.value, number.key, number.read)
    if kind is InputFloat or kind is InputInt:
        source: Source = number.source
        plain = float.__float__(number) if kind is InputFloat else int.__int__(number)
        if not source.added:
            return _Known(plain, source.key, source.read)
        return _Known(
            plain, ("added", source.key, source.added), lambda call: source.read(call) + source.added
        )
    return _Known(number, (kind.__name__, repr(number)), lambda _: number)


def _derived(owner: type, name: str, function: Callable[..., Any]) -> None:
    def forward(self: Any, *others: Any) -> Any:
        if not all(type(other) in _NUMBERS for other in others):
            return NotImplemented
        operands = [_known(number) for number in (self, *others)]
        value = function(*[operand.value for operand in operands])
        key = (name, *[operand.key for operand in operands])

        def read(call: Invocation) -> Any:
            return function(*[operand.read(call) for operand in operands])

        return (
            ArgumentNumber(value, key, read)
            if owner is ArgumentNumber
            else with_source(value, Source(key, read))
        )

    setattr(owner, name, forward)


def _compared(owner: type, name: str, function: Callable[..., Any]) -> None:
    def compare(self: Any, other: Any) -> Any:
        for number in (self, other):
            if type(number) in _CHANGING:
                _tie(_known(number).key)
        return function(*[_known(number).value for number in (self, other)])

    setattr(owner, name, compare)


def _own(number: Any) -> Any:
    return number


_CHANGING = (ArgumentNumber, InputFloat, InputInt)
_NUMBERS = frozenset({bool, int, float, *_CHANGING})


for _owner in _CHANGING:
    for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        _function = getattr(operator, _name)
        _derived(_owner, f"__{_name}__", _function)
        _derived(_owner, f"__r{_name}__", lambda own, other, function=_function: function(other, own))
    for _name in ("neg", "pos", "abs"):
        _derived(_owner, f"__{_name}__", getattr(operator, _name))
    _derived(_owner, "conjugate", _own)
    for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
        _compared(_owner, f"__{_name}__", getattr(operator, _name))
