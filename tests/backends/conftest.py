"""Fake distributions: real metadata folders and modules in a temporary directory on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from raxis.backends.registry import Registry
from raxis.backends.settings import Settings

# Appends a letter to a file each time the module is imported, so that tests count imports.
RECORD = """
import pathlib
with pathlib.Path(__file__).with_suffix(".imports").open("a") as log: log.write("x")
"""

GOOD = """
API = (1, 0)
def probe():
    return None
def load():
    from raxis.backends.api import Backend, DeviceProperties
    class Fake(Backend):
        def device_count(self): return 2
        def properties(self, index): return DeviceProperties(f"fake {index}")
        def allocate(self, nbytes, index): return bytearray(nbytes)
        def copy_from_host(self, source, buffer, byte_offset): raise NotImplementedError
        def copy_to_host(self, buffer, byte_offset, target): raise NotImplementedError
        def compile(self, program, inputs, outputs, *, in_place=0, disjoint=False): raise NotImplementedError
    return Fake()
"""

_numbers = count()


class Fakes:
    """Installs fake distributions below `folder`, which is on ``sys.path``, and makes registries that see them."""

    good = GOOD
    """Source of a plugin module that keeps the protocol, but cannot compute."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ: dict[str, str] = {}

    def install(
        self,
        distribution: str,
        device: str = "foo",
        source: str | None = GOOD,
        *,
        version: str = "1.0",
        value: str | None = None,
        folder: Path | None = None,
        group: str = "raxis.backends",
    ) -> str:
        """Write metadata and (unless `source` is None) the module; the module's name is returned."""
        module = value or f"fake_plugin_{next(_numbers)}"
        folder = folder or self.folder
        info = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.4\nName: {distribution}\nVersion: {version}\n\ntext\n"
        )
        (info / "entry_points.txt").write_text(
            f"[console_scripts]\nx = y:z\n\n[{group}]\n{device} = {module}\n"
        )
        if source is not None:
            (folder / f"{module}.py").write_text(RECORD + source)
        return module

    def imports(self, module: str) -> int:
        """How often the module was imported."""
        log = self.folder / f"{module}.imports"
        return len(log.read_text()) if log.exists() else 0

    def registry(self, path: list[Path] | None = None, core_version: str = "9.9") -> Registry:
        """A registry of the fake distributions under `self.environ`, which may be changed later."""
        places = [self.folder] if path is None else path
        return Registry(Settings(self.environ), [str(place) for place in places], core_version)


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fakes]:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield Fakes(folder)
    for name in set(sys.modules) - before:
        if name.startswith("fake_plugin"):
            del sys.modules[name]
