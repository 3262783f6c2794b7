"""The example plugin raxis-opencl: small, complete; installed with PoCL, it passes the conformance kit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from raxis.testing.running import LEVELS

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "raxis-opencl"
LINES = 600


def test_plugin_is_small() -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in PLUGIN.rglob("*.py")) <= LINES


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with raxis-core and the plugin from this tree, and with pyopencl and PoCL from the package index.

    Other libraries come from the environment that runs the tests. Where there is no package index, tests are skipped,
    except in CI.
    """
    folder = tmp_path_factory.mktemp("opencl")
    venv.create(folder, with_pip=True)
    executable = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    purelib = run(executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(purelib) / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    fetch = [executable, "-m", "pip", "install", "--quiet", "pyopencl>=2024.1", "pocl-binary-distribution"]
    done = subprocess.run(fetch, capture_output=True, text=True, check=False)
    if done.returncode and "CI" not in os.environ:
        pytest.skip(f"pyopencl and PoCL cannot be installed: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    for name, source in (("core", ROOT / "raxis-core"), ("plugin", PLUGIN)):
        copy = tmp_path_factory.mktemp(name) / source.name
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        options = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed")
        run(executable, "-m", "pip", "install", *options, str(copy))
    return executable


def run(executable: Path, *arguments: str, folder: Path | None = None) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("RAXIS_", "PYTHON"))}
    done = subprocess.run(
        [str(executable), *arguments], capture_output=True, text=True, check=False, env=environ, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("level", list(LEVELS))
def test_conformance(python: Path, tmp_path: Path, level: str) -> None:
    report = tmp_path / "coverage.json"
    arguments = ("--device", "opencl", "--level", level, "--report", str(report))
    run(python, "-m", "raxis.testing", *arguments, folder=PLUGIN)
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    assert totals["failed"] == 0
    assert totals["passed"] >= 0.95 * sum(count for name, count in totals.items() if name != "skipped")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mlp", "gpt"])
def test_training_agrees_with_cpu(python: Path, model: str) -> None:
    run(python, "-m", "tests.codegen.training_agreement", model, folder=ROOT)


_LARGER_THAN_A_TILE = """
import numpy as np
import raxis
from raxis.nn import functional as F

raxis.manual_seed(0)


def compare(function, *operands, tolerance):
    results = []
    for device in ("cpu", "opencl"):
        moved = [x.to(device).detach().requires_grad_() for x in operands]
        y = function(*moved)
        (y * y).sum().backward()
        results.append([x.cpu().double().numpy() for x in (y.detach(), *(x.grad for x in moved))])
    for one, other in zip(*results, strict=True):
        assert abs(one - other).max() <= tolerance * abs(one).max(), (function, abs(one - other).max())


for dtype, tolerance in ((raxis.float32, 1e-5), (raxis.float64, 1e-12), (raxis.bfloat16, 2e-2)):
    a, b = raxis.randn(3, 70, 45).to(dtype), raxis.randn(3, 45, 33).to(dtype)
    compare(lambda a, b: a @ b, a, b, tolerance=tolerance)
    compare(lambda a, c: a.mT @ c.mT, a, raxis.randn(3, 33, 70).to(dtype), tolerance=tolerance)
    x = raxis.randn(5, 8, 11, 9).to(dtype)
    for groups, options in ((1, {"padding": 1}), (1, {"stride": (1, 2), "dilation": 2}), (2, {"padding": 1})):
        w = raxis.randn(16, 8 // groups, 3, 3).to(dtype)
        compare(lambda x, w: F.conv2d(x, w, groups=groups, **options), x, w, tolerance=tolerance)
    compare(lambda x: x.softmax(-1).sum(0), raxis.randn(7, 3000).to(dtype), tolerance=tolerance)

index = (raxis.arange(5000) * 7) % 13
ones = raxis.ones(5000, dtype=raxis.int64)
counts = [
    raxis.zeros(13, dtype=raxis.int64).to(device).scatter_add_(0, index.to(device), ones.to(device)).tolist()
    for device in ("cpu", "opencl")
]
assert counts[0] == counts[1]
"""


@pytest.mark.slow
def test_work_larger_than_a_tile(python: Path) -> None:
    run(python, "-c", _LARGER_THAN_A_TILE)
