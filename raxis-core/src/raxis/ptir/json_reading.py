"""Strict reading of JSON documents: every access checks what is there, and errors name the place."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from raxis.ptir.version import ParseError


@dataclass(frozen=True)
class Node:
    """A part of a document and its place there.

    Example:
        >>> Node({"a": [1, 2]}, "the document")["a"].items()[1].where
        'the document, a[1]'
    """

    value: Any
    where: str

    def error(self, problem: str) -> ParseError:
        """The error that names this place."""
        return ParseError(f"{self.where}: {problem}.")

    def _is(self, kind: type, name: str) -> Any:
        if type(self.value) is not kind:
            raise self.error(f"expected {name}, but got {json.dumps(self.value)[:80]}")
        return self.value

    def object(self) -> dict[str, Any]:
        """The members."""
        members: dict[str, Any] = self._is(dict, "an object")
        return members

    def has_members(self, required: Collection[str], optional: Collection[str] = ()) -> None:
        """Check the names of the members."""
        names = self.object().keys()
        missing, unknown = sorted(set(required) - names), sorted(names - {*required, *optional})
        if missing or unknown:
            raise self.error(
                f"expected the members {', '.join(sorted(required))}; missing: {', '.join(missing) or 'none'}; "
                f"unknown: {', '.join(unknown) or 'none'}"
            )

    def __contains__(self, name: str) -> bool:
        return name in self.object()

    def __getitem__(self, name: str) -> Node:
        return Node(self.object()[name], f"{self.where}, {name}")

    def items(self) -> list[Node]:
        """The items of a list."""
        items = self._is(list, "a list")
        return [Node(item, f"{self.where}[{position}]") for position, item in enumerate(items)]

    def string(self) -> str:
        """The string."""
        return str(self._is(str, "a string"))

    def integer(self) -> int:
        """The integer."""
        return int(self._is(int, "an integer"))

    def boolean(self) -> bool:
        """The boolean."""
        return bool(self._is(bool, "true or false"))
