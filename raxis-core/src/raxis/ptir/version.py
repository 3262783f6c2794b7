"""The version of programs, which every stored form states, and the gate at which it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

VERSION = (1, 0)
"""Major and minor version of the forms of programs and of the table of primitives.

A major version changes what stored programs mean; a minor one only adds to what they can say.
"""


class ParseError(ValueError):
    """What should be a program is not; the sentence names the place."""


def check_version(major: int, minor: int) -> None:
    """Let programs of this major version pass.

    Raises:
        ParseError: for another major version.
    """
    if major != VERSION[0]:
        raise ParseError(
            f"this program is of PTIR version {major}.{minor}, but this version of Raxis reads "
            f"version {VERSION[0]}; use the version of Raxis that wrote it, or write it again."
        )


@contextmanager
def refusing_deep_nesting() -> Iterator[None]:
    """Readers recurse into regions and tuples; here, too many of them inside each other are a ParseError."""
    try:
        yield
    except RecursionError:
        raise ParseError(
            "this program nests regions or tuples deeper than this process can follow; "
            "raise sys.setrecursionlimit to read it."
        ) from None
