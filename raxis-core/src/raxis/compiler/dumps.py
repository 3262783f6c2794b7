"""Programs that are being compiled, written to files: when a step fails, and on request (RAXIS_DUMP=all)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from raxis.backends.settings import Settings
from raxis.ptir.passes import Report
from raxis.ptir.program import Program

if TYPE_CHECKING:
    from raxis.backends.api import Description


class Dump:
    """The files of one compilation.

    Args:
        program: as recorded.
        report: of the passes over it.
    """

    def __init__(self, program: Program, report: Report) -> None:
        self._report = report
        settings = Settings()
        self._policy = settings.dump
        self._base = settings.dump_folder
        self._name = re.sub(r"\W", "_", program.name) or "program"
        self._folder: Path | None = None
        self._latest = program
        if self.has_everything:
            self.note("00-recorded", program)

    @property
    def has_everything(self) -> bool:
        """Whether each step is written."""
        return self._policy == "all"

    def note(self, step: str, program: Program) -> None:
        """The program after a step."""
        self._latest = program
        if self.has_everything:
            self._write(f"{step}.ptir", program.text())

    def describe(self, description: Description) -> None:
        """What the backend made of the program."""
        self._write("kernels.txt", description.text)
        for name, source in description.sources.items():
            self._write(name, source)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """An error inside says which step failed and where the program lies that it was given."""
        try:
            yield
        except Exception as error:
            if self._policy != "off":
                error.args = (f"{error}\n{self._failure(name)}", *error.args[1:])
            raise

    def _failure(self, step: str) -> str:
        running = "" if self._report.running is None else f" ({self._report.running})"
        said = f"This happened when compiling {self._name!r}, in its {step}{running}"
        try:
            path = self._write("failed.ptir", self._latest.text())
        except OSError as error:
            return f"{said}; the program could not be written ({error})."
        return f"{said}. The program so far: {path}"

    def _write(self, name: str, text: str) -> Path:
        if self._folder is None:
            if self._base is not None:
                self._base.mkdir(parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(prefix=f"raxis-{self._name}-", dir=self._base))
        path = self._folder / name
        path.write_text(text, encoding="utf-8")
        return path
