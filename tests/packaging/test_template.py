"""Two commands make a plugin that is installed and passes the conformance kit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import time
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECONDS = 180


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with raxis-core; libraries that are not raxis's come from the one that runs the tests."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder)
    executable = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    purelib = run(executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(purelib) / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    source = tmp_path_factory.mktemp("source") / "raxis-core"
    shutil.copytree(ROOT / "raxis-core", source, ignore=shutil.ignore_patterns("__pycache__"))
    install(executable, source)
    return executable


def run(executable: Path, *arguments: str, folder: Path | None = None) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("RAXIS_", "PYTHON"))}
    done = subprocess.run(
        [str(executable), *arguments], capture_output=True, text=True, check=False, env=environ, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def install(executable: Path, source: Path) -> None:
    options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed")
    run(executable, "-m", "pip", "install", *options, str(source))


@pytest.mark.slow
def test_new_plugin_passes_the_kit(python: Path, tmp_path: Path) -> None:
    start = time.monotonic()
    run(python, "-m", "raxis.testing.new", "foo", folder=tmp_path)
    plugin = tmp_path / "raxis-foo"
    install(python, plugin)
    shown = run(python, "-m", "raxis.testing", "--device", "foo", "--report", "coverage.md", folder=plugin)
    elapsed = time.monotonic() - start
    assert "failed" not in shown
    assert "| `add` | ✓ | ✓ |" in (plugin / "coverage.md").read_text(encoding="utf-8")
    assert elapsed < SECONDS, f"it took {elapsed:.0f} s"
    collected = run(python, "-m", "pytest", "-q", "-k", "storage or packaging or match", folder=plugin)
    assert "failed" not in collected
