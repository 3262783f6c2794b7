"""Every pass on the programs in fixtures/: before, a line of equal signs, after.

The first line says which passes run, and after a semicolon ``fast_math`` or the frozen parameters. To write the second
half anew after a change, run this module with the names of files.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from raxis.ptir import Program, parse
from raxis.ptir.passes import PASSES, optimise

FOLDER = Path(__file__).parent / "fixtures"
BY_NAME = {each.name: each for each in PASSES}


class Fixture(NamedTuple):
    """One file."""

    header: str
    before: str
    after: str

    @property
    def optimised(self) -> Program:
        """The first program after the passes named in the header."""
        names, _, options = self.header.removeprefix("# passes: ").partition("; ")
        passes = [BY_NAME[name] for name in names.split(", ")]
        return optimise(parse(self.before), passes=passes, verify=True, **_options(options))


def _options(text: str) -> dict[str, Any]:
    if text.startswith("frozen="):
        return {"frozen": [int(place) for place in text.removeprefix("frozen=").split(",")]}
    return {"fast_math": text == "fast_math"}


def read(path: Path) -> Fixture:
    header, _, programs = path.read_text(encoding="utf-8").partition("\n")
    before, _, after = programs.partition("====\n")
    return Fixture(header, before, after)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ptir")), ids=lambda path: path.stem)
def test_fixture(path: Path) -> None:
    fixture = read(path)
    assert fixture.optimised.text() == parse(fixture.after).text()


def test_every_pass_has_a_fixture() -> None:
    assert {path.stem.partition("-")[0] for path in FOLDER.glob("*.ptir")} == BY_NAME.keys()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fixture = read(Path(name))
        text = f"{fixture.header}\n{fixture.before}====\n{fixture.optimised.text()}"
        Path(name).write_text(text, encoding="utf-8")
