"""Programs in files: one form for each suffix.

Suffixes and the first bytes of the binary form (`raxis.ptir.binary_form.MAGIC`) identify the forms:

========== ======================================
``.ptir``  text, `raxis.ptir.text`
``.json``  JSON, `raxis.ptir.json_form`
``.ptirb`` binary, `raxis.ptir.binary_form`
========== ======================================
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from raxis.ptir.binary_form import from_bytes, to_bytes
from raxis.ptir.json_form import from_json, to_json
from raxis.ptir.parser import parse
from raxis.ptir.program import Program
from raxis.ptir.text import to_text
from raxis.ptir.verifier import verify
from raxis.ptir.version import ParseError
from raxis.serialization.archive import replacing


@dataclass(frozen=True)
class Form:
    """One stored form: its name and how to write and read it."""

    name: str
    write: Callable[[Program], bytes]
    read: Callable[[bytes], Program]


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ParseError(f"byte {error.start}: this is not UTF-8 text.") from None


FORMS: Mapping[str, Form] = {
    ".ptir": Form(
        "text", lambda program: to_text(program).encode("utf-8"), lambda data: parse(_decoded(data))
    ),
    ".json": Form(
        "JSON", lambda program: to_json(program).encode("utf-8"), lambda data: from_json(_decoded(data))
    ),
    ".ptirb": Form("binary", to_bytes, from_bytes),
}
"""The forms by suffix."""


def form_of(path: str | os.PathLike[str]) -> Form:
    """The form of a file by the suffix of its name.

    Raises:
        ValueError: for other suffixes.
    """
    suffix = Path(path).suffix
    if suffix not in FORMS:
        known = ", ".join(f"{known} ({form.name})" for known, form in FORMS.items())
        raise ValueError(f"the suffix of {os.fspath(path)!r} says no form of programs; use one of {known}.")
    return FORMS[suffix]


def save(program: Program, path: str | os.PathLike[str]) -> None:
    """Write `program` beside `path`, in the form of its suffix, and put it in place once complete.

    Raises:
        ValueError: if the suffix says no form.
        VerificationError: if the program is not valid, so that it could not be read again.
    """
    form = form_of(path)
    verify(program)
    data = form.write(program)
    with replacing(Path(path)) as stream:
        stream.write(data)


def load(path: str | os.PathLike[str]) -> Program:
    """The program in a file, in the form of its suffix, verified.

    Raises:
        ValueError: if the suffix says no form.
        ParseError: if the contents are no program of that form, or of another major version.
        VerificationError: if they are well-formed, but no valid program.
        OSError: if the file cannot be read.
    """
    form = form_of(path)
    data = Path(path).read_bytes()
    try:
        return form.read(data)
    except ParseError as error:
        raise ParseError(f"{os.fspath(path)}: {error}") from None
