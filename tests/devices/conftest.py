"""Two third-party device types beside cpu and meta: ``north`` with two devices, ``south`` with one."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

import raxis
from tests.devices.plugins import install_template


@pytest.fixture(scope="package", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    folder = tmp_path_factory.mktemp("plugins")
    places = [str(install_template(folder, "north", count=2)), str(install_template(folder, "south"))]
    sys.path[:0] = places
    raxis.backends.refresh()
    yield places
    for place in places:
        sys.path.remove(place)
    raxis.backends.refresh()
