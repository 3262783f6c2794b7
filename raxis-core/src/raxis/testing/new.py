"""A new plugin from the template: ``python -m raxis.testing.new foo`` writes the folder ``raxis-foo``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

_TEMPLATE = Path(__file__).parent / "template"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED = ("cpu", "cuda", "meta", "template")


def create(device: str, folder: Path) -> Path:
    """Write a plugin for a device type into `folder`, and return the plugin's folder.

    Args:
        device: the device type: lower-case letters, digits and underscores.
        folder: where the folder ``raxis-<device>`` is made.

    Raises:
        ValueError: for a name that no plugin may have.
        FileExistsError: if the plugin's folder exists.
    """
    if not _NAME.fullmatch(device) or device in _RESERVED:
        raise ValueError(
            f"a device type consists of lower-case letters, digits and underscores and is none of "
            f"{', '.join(_RESERVED)}, but got {device!r}."
        )
    target = folder / f"raxis-{device.replace('_', '-')}"
    target.mkdir(parents=True)
    for source in _sources():
        place = target / _renamed(source.relative_to(_TEMPLATE).as_posix(), device)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_renamed(source.read_text(encoding="utf-8"), device), encoding="utf-8")
    return target


def _sources() -> list[Path]:
    """The template's files, without what tools leave beside them."""
    files = sorted(path for path in _TEMPLATE.rglob("*") if path.is_file())
    return [path for path in files if not any(map(_is_left_over, path.relative_to(_TEMPLATE).parts))]


def _is_left_over(part: str) -> bool:
    return part == "__pycache__" or (part.startswith(".") and part != ".github")


def _renamed(text: str, device: str) -> str:
    name = "".join(part.capitalize() for part in device.split("_"))
    text = text.replace("raxis-template", f"raxis-{device.replace('_', '-')}")
    return text.replace("template", device).replace("Template", name)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m raxis.testing.new", description=__doc__)
    parser.add_argument("device", help="the device type, such as foo")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="where the new folder is made; default: here"
    )
    chosen = parser.parse_args(arguments)
    try:
        made = create(chosen.device, chosen.folder)
    except (ValueError, FileExistsError) as error:
        parser.error(str(error))
    print(f"{made} is a complete plugin. Next:\n  pip install -e '{made}[test]'\n  pytest {made}")


if __name__ == "__main__":
    main()
