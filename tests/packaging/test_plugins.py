"""Installed distributions and `import raxis`: what is imported when, and which versions go together."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from raxis.backends.registry import FIRST_PARTY, Registry
from raxis.version import __version__

ROOT = Path(__file__).parents[2]


def run(code: str, *places: Path, **environ: str) -> str:
    """Standard output of `code` in a new process with `places` first on its path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAXIS_")}
    path = os.pathsep.join([*map(str, places), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "PYTHONPATH": path, **environ},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def install(folder: Path, distribution: str, device: str, version: str = "1.0", source: str = "") -> None:
    """A fake plugin distribution whose module is called like it."""
    module = distribution.replace("-", "_")
    info = folder / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {distribution}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[raxis.backends]\n{device} = {module}\n")
    (folder / f"{module}.py").write_text(source)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """raxis-core and raxis-cpu as pip installs them."""
    folder = tmp_path_factory.mktemp("installed")
    sources = []
    for name in ("raxis-core", "raxis-cpu"):
        sources.append(tmp_path_factory.mktemp("source") / name)
        shutil.copytree(ROOT / name, sources[-1], ignore=shutil.ignore_patterns("__pycache__"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
    ]
    subprocess.run([*command, "--target", str(folder), *map(str, sources)], check=True, capture_output=True)
    return folder


def test_version_is_that_of_the_distributions() -> None:
    for path in [ROOT / "pyproject.toml", *ROOT.glob("raxis-*/pyproject.toml")]:
        assert re.findall(r'^version = "(.+)"$', path.read_text(), re.MULTILINE) == [__version__]


def test_first_party_plugins_are_those_of_the_extras() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    assert set(FIRST_PARTY) == {name for name in re.findall(r'"(raxis-\w+)==', text) if name != "raxis-core"}


def test_import_raxis_imports_no_plugin_and_no_heavy_module(tmp_path: Path) -> None:
    install(tmp_path, "raxis-foo", "foo", source="raise SystemExit('imported')")
    install(tmp_path, "raxis-bar", "my-bar", source="raise SystemExit('imported')")
    heavy = [
        "raxis_foo",
        "raxis_bar",
        "raxis_cpu",
        "importlib.metadata",
        "numba",
        "llvmlite",
        "cupy",
        "torch",
        "scipy",
    ]
    code = f"import raxis, sys; print([name for name in {heavy} if name in sys.modules])"
    assert run(code, tmp_path) == "[]"


def test_first_use_of_cpu_imports_no_other_plugin(tmp_path: Path) -> None:
    install(tmp_path, "raxis-foo", "foo", source="raise SystemExit('imported')")
    code = (
        "import raxis, raxis.backends, sys; raxis.backends.get('cpu');"
        "print('raxis_foo' in sys.modules, *{row.state.value for row in raxis.backends.list() if row.device == 'foo'})"
    )
    assert run(code, tmp_path) == "False found"


def test_broken_plugins_do_not_disturb_tensors(tmp_path: Path) -> None:
    install(tmp_path, "raxis-foo", "foo", source="import nonesuch")
    install(tmp_path, "raxis-cuda12", "cuda", version="0.0.1")
    code = (
        "import raxis; print(raxis.ones(2, 3).sum().item())\n"
        "for name in ('foo', 'cuda'):\n"
        "    try: raxis.ones(2, device=name)\n"
        "    except RuntimeError as error: print(error)"
    )
    total, foo, cuda = run(code, tmp_path).splitlines()
    assert total == "6.0"
    assert "plugin raxis-foo 1.0 is failed: importing raxis_foo raised ModuleNotFoundError" in foo
    assert f"`pip install raxis-core=={__version__} raxis-cuda12=={__version__}`" in cuda


def test_device_variable_chooses_the_default_device(tmp_path: Path) -> None:
    install(
        tmp_path, "raxis-foo", "foo", source="API = (1, 0)\ndef probe(): return 'no foo'\ndef load(): ..."
    )
    assert run("import raxis; print(raxis.ones(2).device)", RAXIS_DEVICE="meta") == "meta"
    code = "import raxis\ntry: raxis.ones(2)\nexcept RuntimeError as error: print(error)"
    assert "plugin raxis-foo 1.0 is unavailable: no foo" in run(code, tmp_path, RAXIS_DEVICE="foo")


def test_tensor_of_an_unusable_device_is_not_created_while_the_plugin_loads(tmp_path: Path) -> None:
    source = "API = (1, 0)\ndef probe(): return None\n"
    source += "def load():\n    import raxis\n    return raxis.zeros(2, device='foo')\n"
    install(tmp_path, "raxis-foo", "foo", source=source)
    code = "import raxis\ntry: raxis.ones(2, device='foo')\nexcept RuntimeError as error: print(error)"
    assert "used device 'foo' while it was being loaded" in run(code, tmp_path)


def test_scan_is_cheap_with_sixty_distributions(tmp_path: Path) -> None:
    for number in range(60):
        info = tmp_path / f"dist{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: dist{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[console_scripts]\nx = y:z\n")
    install(tmp_path, "raxis-foo", "foo")
    seconds = []
    for _ in range(10):
        started = time.perf_counter()
        Registry(path=[str(tmp_path)]).discover()
        seconds.append(time.perf_counter() - started)
    assert min(seconds) < 0.02  # about 1 ms on an idle machine


SERVING = """
from raxis.backends.registry import Registry
from raxis.device import Device
registry = Registry(path=[{path!r}])
print(type(registry.resolve(Device("cpu"))[0]).__name__)
print(*(f"{{row.distribution}}={{row.state}}" for row in registry.rows() if row.device == "cpu"))
"""


@pytest.mark.slow
def test_installed_cpu_plugin_serves_cpu(installed: Path) -> None:
    name, states = run(SERVING.format(path=str(installed)), installed).splitlines()
    assert (name, states) == ("CpuBackend", "raxis-core=shadowed raxis-cpu=ready")


@pytest.mark.slow
def test_core_alone_serves_cpu(installed: Path, tmp_path: Path) -> None:
    for path in installed.glob("raxis*"):
        if "cpu" not in path.name:
            shutil.copytree(path, tmp_path / path.name)
    name, states = run(SERVING.format(path=str(tmp_path)), tmp_path).splitlines()
    assert (name, states) == ("ReferenceBackend", "raxis-core=ready")


@pytest.mark.slow
def test_cpu_plugin_of_another_version_leaves_cpu_to_core(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(installed, tmp_path, dirs_exist_ok=True)
    [metadata] = tmp_path.glob("raxis_cpu-*.dist-info/METADATA")
    metadata.write_text(metadata.read_text().replace(f"Version: {__version__}", "Version: 0.0.1", 1))
    code = "import warnings\nwarnings.simplefilter('ignore')" + SERVING.format(path=str(tmp_path))
    name, states = run(code, tmp_path).splitlines()
    assert (name, states) == ("ReferenceBackend", "raxis-core=ready raxis-cpu=incompatible")
