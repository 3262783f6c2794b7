"""Installed plugins for tests and benchmarks: metadata folders and modules, as pip leaves them."""

from __future__ import annotations

from pathlib import Path

from raxis.testing.new import create


def install(folder: Path, device: str, source: str | None, distribution: str = "", value: str = "") -> None:
    """A distribution in `folder` that provides `device` by a module with this source (None: no such module)."""
    distribution = distribution or f"raxis-{device.lower()}"
    module = distribution.replace("-", "_")
    announce(folder, distribution, f"[raxis.backends]\n{device} = {value or module}\n")
    if source is not None:
        (folder / f"{module}.py").write_text(source, encoding="utf-8")


def announce(folder: Path, distribution: str, entry_points: str) -> None:
    """The metadata of a distribution."""
    info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


def install_template(folder: Path, device: str, count: int = 1) -> Path:
    """The template as the plugin of a device type with `count` devices; the folder to put on the path."""
    source = create(device, folder) / "src"
    backend = source / f"raxis_{device}" / "backend.py"
    text = backend.read_text(encoding="utf-8")
    head = "def device_count(self) -> int:\n        return "
    assert f"{head}1\n" in text
    backend.write_text(text.replace(f"{head}1\n", f"{head}{count}\n"), encoding="utf-8")
    announce(source, f"raxis-{device}", f"[raxis.backends]\n{device} = raxis_{device}\n")
    return source


GOOD = "API = (1, 0)\ndef probe(): return None\ndef load(): ..."


def install_broken(folder: Path) -> dict[str, str]:
    """Ten distributions whose plugins are broken in ten ways; a part of the reason, by device."""
    sources = {
        "raises": ("raise ValueError('no luck')", "importing raxis_raises raised ValueError: no luck"),
        "syntax": ("def broken(:\n", "raised SyntaxError"),
        "exits": ("import sys\nsys.exit(3)", "raised SystemExit: 3"),
        "lacks": (
            "import nonesuch_library",
            "raised ModuleNotFoundError: No module named 'nonesuch_library'",
        ),
        "future": (GOOD.replace("(1, 0)", "(99, 0)"), "it was written for backend API 99.0"),
        "invents": (
            "class Strange(BaseException): ...\nraise Strange('neither this nor that')",
            "raised Strange: neither this nor that",
        ),
        "slow": ("import time\ntime.sleep(60)\n", ""),
        "wrong": (GOOD, "load() returned NoneType"),
    }
    for device, (source, _) in sources.items():
        install(folder, device, source)
    install(folder, "absent", None, value="raxis_absent_module")
    install(folder, "wrong", GOOD, distribution="raxis-wrong-twin")
    reasons = {device: reason for device, (_, reason) in sources.items()}
    return {**reasons, "absent": "raised ModuleNotFoundError: No module named 'raxis_absent_module'"}
