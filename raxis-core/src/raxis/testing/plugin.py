"""The pytest plugin: ``pytest -p raxis.testing.plugin --raxis-device=foo``.

Without files to collect, the kit itself runs. It is no entry point, since that would import raxis in every run of
pytest wherever raxis is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_KIT = Path(__file__).with_name("conformance.py")


def pytest_addoption(parser: Any) -> None:
    """Add the options."""
    parser.addoption("--raxis-device", help="run raxis's conformance kit for this device")


def pytest_configure(config: Any) -> None:
    """Collect the kit if nothing else was named."""
    asked = config.getoption("--raxis-device") is not None
    if asked and not config.option.file_or_dir:
        config.args[:] = [str(_KIT)]
