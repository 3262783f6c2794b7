"""raxis-cpu without the libraries it needs: a state, the command that mends it, and the reference backend instead."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from raxis_cpu.requirements import MINIMUM, missing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PROGRAM = """
import json, sys, warnings
{setup}
import raxis
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    total = (raxis.ones(3, requires_grad=True) * 2).sum()
    total.backward()
    raxis.ones(2) + 1
rows = [row for row in raxis.backends.list() if row.distribution == "raxis-cpu"]
print(json.dumps([total.item(), rows[0].state.value, rows[0].reason,
                  [str(warning.message) for warning in caught], raxis.cpu.get_device_name()]))
"""


def state_without(setup: str, *path: str) -> tuple[str, str]:
    """State and reason of raxis-cpu in a process prepared by `setup`, where `path` comes first."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(setup=setup)],
        check=False, capture_output=True, text=True, timeout=60,
        env={**os.environ, "RAXIS_CPU": "plugin", "PYTHONPATH": os.pathsep.join([*path, *sys.path])},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    total, state, reason, warnings, name = json.loads(done.stdout)
    assert (total, name) == (6.0, "NumPy reference")
    assert len(warnings) == 1
    assert reason in warnings[0]
    return state, reason


def test_nothing_is_missing_here() -> None:
    assert missing() is None


def test_oldest_versions_are_those_of_the_package() -> None:
    settings = tomllib.loads(Path("raxis-cpu/pyproject.toml").read_text())
    dependencies = dict(part.split(">=") for part in settings["project"]["dependencies"] if ">=" in part)
    assert dependencies == MINIMUM


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "__version__ = '0.43.0'",
            "raxis-cpu needs llvmlite 0.50 or newer, but 0.43.0 is installed: `pip install 'llvmlite>=0.50'`.",
        ),
        (
            "raise OSError('libLLVM.so: cannot open shared object file')",
            "raxis-cpu needs llvmlite, which cannot be loaded (OSError: libLLVM.so: cannot open shared object file): "
            "`pip install 'llvmlite>=0.50' --force-reinstall`.",
        ),
    ],
)
def test_llvmlite_that_refuses(tmp_path: Path, source: str, words: str) -> None:
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text(source)
    state, reason = state_without("", str(tmp_path))
    assert state == "failed"
    assert words in reason


def test_llvmlite_that_is_missing() -> None:
    state, reason = state_without("sys.modules['llvmlite'] = None")
    assert state == "unavailable"
    assert reason == "raxis-cpu needs llvmlite, not installed here: `pip install 'llvmlite>=0.50'`."


def test_numpy_that_is_too_old() -> None:
    state, reason = state_without("import numpy; numpy.__version__ = '1.26.4'")
    assert state == "failed"
    assert (
        "raxis-cpu needs numpy 2.0 or newer, but 1.26.4 is installed: `pip install 'numpy>=2.0'`." in reason
    )


def test_numpy_whose_arrays_are_unknown() -> None:
    state, reason = state_without("import raxis_cpu.llvm.native as native; native.ARRAY_DATA += 8")
    assert state == "failed"
    assert "raxis-cpu does not know the arrays of NumPy" in reason
    assert "`pip install raxis-cpu --upgrade`" in reason
