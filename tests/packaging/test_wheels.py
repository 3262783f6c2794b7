"""The built wheels and sdists: metadata, type information, licence, entry points, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {"raxis": ROOT, "raxis_core": ROOT / "raxis-core", "raxis_cpu": ROOT / "raxis-cpu"}
PACKAGES = {"raxis_core": "raxis", "raxis_cpu": "raxis_cpu"}
EACH_DISTRIBUTION = pytest.mark.parametrize("name", SOURCES)
EACH_PACKAGE = pytest.mark.parametrize(("name", "package"), PACKAGES.items())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of every distribution and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    for source in SOURCES.values():
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def wheel(built: Path, name: str) -> Iterator[zipfile.ZipFile]:
    [path] = built.glob(f"{name}-*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def metadata(wheel: zipfile.ZipFile) -> Message:
    [path] = [path for path in wheel.namelist() if path.endswith(".dist-info/METADATA")]
    return BytesParser().parsebytes(wheel.read(path))


def files_below(folder: Path) -> set[str]:
    """Every source file of a package, relative to the folder that holds it."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder.parent).as_posix() for path in paths}


@EACH_DISTRIBUTION
def test_wheel_metadata(name: str, wheel: zipfile.ZipFile) -> None:
    fields = metadata(wheel)
    assert fields["Name"].replace("-", "_") == name
    assert fields["Requires-Python"] == ">=3.10"
    assert fields["License-Expression"] == "MIT"
    assert fields["Description-Content-Type"] == "text/markdown"
    assert fields.get_payload()


@EACH_DISTRIBUTION
def test_wheel_pins_first_party_distributions_to_its_own_version(name: str, wheel: zipfile.ZipFile) -> None:
    fields = metadata(wheel)
    lines = [line.split(";")[0].strip() for line in fields.get_all("Requires-Dist", [])]
    pins = [line for line in lines if line.startswith("raxis")]
    assert all(pin.endswith(f"=={fields['Version']}") for pin in pins)
    assert bool(pins) == (name != "raxis_core")


@EACH_DISTRIBUTION
def test_wheel_is_pure_python_and_carries_the_licence(name: str, wheel: zipfile.ZipFile) -> None:
    assert str(wheel.filename).endswith("-py3-none-any.whl")
    [licence] = [path for path in wheel.namelist() if path.endswith("/licenses/LICENSE")]
    assert wheel.read(licence) == (ROOT / "LICENSE").read_bytes()


@EACH_PACKAGE
def test_wheel_holds_the_package_with_its_type_information_and_no_more(
    name: str, package: str, wheel: zipfile.ZipFile
) -> None:
    held = {path for path in wheel.namelist() if ".dist-info/" not in path}
    assert held == files_below(SOURCES[name] / "src" / package)
    assert f"{package}/py.typed" in held


@pytest.mark.parametrize("name", ["raxis_core"])
def test_core_wheel_holds_the_stubs(name: str, wheel: zipfile.ZipFile) -> None:
    assert any(path.endswith(".pyi") for path in wheel.namelist())


@pytest.mark.parametrize("name", ["raxis"])
def test_umbrella_wheel_holds_no_code(name: str, wheel: zipfile.ZipFile) -> None:
    assert all(".dist-info/" in path for path in wheel.namelist())


@pytest.mark.parametrize("name", ["raxis_cpu"])
def test_cpu_wheel_registers_its_device(name: str, wheel: zipfile.ZipFile) -> None:
    [path] = [path for path in wheel.namelist() if path.endswith("entry_points.txt")]
    assert wheel.read(path).decode().split("\n")[:2] == ["[raxis.backends]", "cpu = raxis_cpu"]


@EACH_DISTRIBUTION
def test_sdist_holds_what_a_build_needs_and_no_more(name: str, built: Path) -> None:
    [path] = built.glob(f"{name}-*.tar.gz")
    with tarfile.open(path) as archive:
        held = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile()}
    expected = {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}
    if name in PACKAGES:
        package = SOURCES[name] / "src" / PACKAGES[name]
        expected |= {f"src/{path}" for path in files_below(package)}
    assert held <= expected
    assert expected - held <= {".gitignore"}
