"""Code in README.md and docs/ runs, and local links lead somewhere.

Each ```` ```python ```` block of a page runs after those before it, in one namespace; each ```` ```pycon ```` block is
a doctest. A line ``<!-- not run: reason -->`` above a block exempts it. Pages that install something run
in a process of their own.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])

_BLOCK = re.compile(
    r"^(?P<exempt><!-- not run: [^\n]+ -->\n)?```(?P<language>python|pycon)\n(?P<code>.*?)^```$", re.M | re.S
)
_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")

ALONE = {"backend-tutorial.md": "cc"}
"""Pages with a process of their own, and the program that each needs."""

page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)


def run_block(language: str, code: str, line: int, path: Path, names: dict[str, Any]) -> None:
    """Run one block, shifted so that a traceback names the page's own line."""
    if language == "python":
        exec(compile("\n" * line + code, str(path), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, path.name, str(path), line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.name not in ALONE], ids=lambda path: path.name
)
def test_code_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_code_runs_in_a_fresh_process(name: str, tmp_path: Path) -> None:
    if shutil.which(ALONE[name]) is None:
        pytest.skip(f"there is no {ALONE[name]} here")
    code = f"from tests.examples import test_documentation as pages; pages.run_page(pages.ROOT / 'docs' / {name!r})"
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_page(path: Path) -> None:
    """Run the blocks of a page, in order."""
    text = path.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "page"}
    for match in _BLOCK.finditer(text):
        if not match["exempt"]:
            line = text.count("\n", 0, match.start("code"))
            run_block(match["language"], match["code"], line, path, names)


@page
def test_local_links_lead_somewhere(path: Path) -> None:
    prose = _FENCED.sub("", path.read_text(encoding="utf-8"))
    missing = [link for link in _LINK.findall(prose) if not (path.parent / link).exists()]
    assert missing == []
