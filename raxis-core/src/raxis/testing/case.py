"""What the conformance kit is made of: cases, the device they are about, and what became of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from raxis.backends.api import Backend
from raxis.device import Device
from raxis.dtypes import DType
from raxis.placement import place_of
from raxis.storage import Place


class Declined(Exception):  # noqa: N818 - an answer, not an error
    """Raised by a case that the device refuses in the way it is supposed to; the text is its reason."""


class Skipped(Exception):  # noqa: N818 - an answer, not an error
    """Raised by a case that says nothing about this device; the text is why."""


class Nonconformity(AssertionError):  # noqa: N818 - what the kit finds, not what went wrong in it
    """The device does not keep the protocol; the text says what was given, found and expected."""


def require(condition: object, message: str) -> None:
    """Raise `Nonconformity` with `message` unless `condition` holds."""
    if not condition:
        raise Nonconformity(message)


class Verdict(str, Enum):
    """What became of a case."""

    PASSED = "passed"
    DECLINED = "declined"
    SKIPPED = "skipped"
    EXCLUDED = "excluded"
    FAILED = "failed"


class Subject:
    """The device under test, loaded when it is first needed.

    Args:
        name: how the device is named, such as ``foo`` or ``foo:1``.
        backend: what serves it, while it is no installed plugin yet; enough for the levels storage, programs and
            primitives.

    Attributes:
        name: as given.
        notes: figures for the report, such as times, by table and row.

    Example:
        >>> Subject("cpu").index
        0
    """

    def __init__(self, name: str, backend: Backend | None = None) -> None:
        self.name = name
        self._backend = backend
        self.notes: dict[str, dict[str, float]] = {}

    @property
    def type(self) -> str:
        """The device's type: what plugins are found by."""
        return Device(self.name).type

    @cached_property
    def place(self) -> Place:
        """Where tensors of the device live."""
        device = Device(self.name)
        return place_of(device) if self._backend is None else Place(device, self._backend, device.index or 0)

    @property
    def backend(self) -> Backend:
        """The backend that serves the device."""
        return self.place.backend

    @property
    def index(self) -> int:
        """Which device of its type it is."""
        return self.place.index

    def claim(self, primitive: str, dtype: DType) -> str | None:
        """None if the backend claims to run a primitive with a dtype, else the reason why it does not.

        Raises:
            Nonconformity: if ``supports`` answers with anything but True or a sentence.
        """
        answer: Any = self.backend.supports(primitive, dtype)
        if answer is True:
            return None
        require(
            isinstance(answer, str) and is_sentence(answer),
            f"supports({primitive!r}, {dtype}) must be True or one sentence why not, but is {answer!r}.",
        )
        return str(answer)


def is_sentence(text: str) -> bool:
    """Whether a reason can be shown to users: some words and a full stop."""
    return len(text.split()) >= 3 and text.rstrip().endswith((".", "!"))


@dataclass(frozen=True)
class Case:
    """One thing that a device must do right.

    Attributes:
        level: the part of the kit it belongs to.
        name: of what it is about; unique within the level.
        check: raises if the device does it wrong.
    """

    level: str
    name: str
    check: Callable[[Subject], None]

    @property
    def id(self) -> str:
        """How reports, exclusions and pytest name it."""
        return f"{self.level}/{self.name}"

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True)
class Outcome:
    """A case, what became of it, and why."""

    case: Case
    verdict: Verdict
    detail: str = ""
    seconds: float = 0.0


def named(level: str, checks: Mapping[str, Callable[[Subject], None]]) -> Iterator[Case]:
    """Cases of a level from functions by name."""
    for name, check in checks.items():
        yield Case(level, name, check)
