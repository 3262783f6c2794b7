"""What `raxis.backends` and ``python -m raxis.env`` say with several third-party devices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import raxis
from raxis.backends import State
from tests.devices.plugins import install
from tests.devices.processes import run

REPORT = (
    "import runpy, sys; sys.argv = ['env', {options}]; runpy.run_module('raxis.env', run_name='__main__')"
)


def test_devices_and_their_numbers() -> None:
    assert [raxis.backends.device_count(name) for name in ("cpu", "meta", "north", "south")] == [1, 1, 2, 1]
    assert raxis.backends.is_available("north:1")
    assert not raxis.backends.is_available("south:1")
    assert (
        raxis.backends.unavailable_reason("south:1")
        == "Device 'south:1' does not exist: there is one device, south:0."
    )
    assert raxis.backends.get("north") is raxis.backends.get("north:1")
    assert raxis.backends.get("north") is not raxis.backends.get("south")
    rows = {row.device: row for row in raxis.backends.list()}
    assert (rows["north"].distribution, rows["north"].version) == ("raxis-north", "1.0")
    assert rows["north"].state is rows["south"].state is State.READY


def test_report_shows_and_checks_each_device(installed: list[str]) -> None:
    data = json.loads(run(REPORT.format(options="'--json', '--check'"), *installed))
    checks = {row["device"]: row["check"]["result"] for row in data["devices"] if row["check"] is not None}
    assert [checks[name] for name in ("cpu", "meta", "north", "south")] == ["passed"] * 4
    assert data["notes"] == []


def test_one_broken_device_leaves_its_neighbours_alone(installed: list[str], tmp_path: Path) -> None:
    install(tmp_path, "east", "raise OSError('libeast.so: no such file')")
    code = """
import raxis
x = raxis.arange(3.0, device="north") + 1
try:
    x.to("east")
except RuntimeError as error:
    print(error)
print(x.to("south").sum().item(), raxis.backends.is_available("east"))
"""
    error, rest = run(code, tmp_path, *installed).splitlines()
    assert "its plugin raxis-east 1.0 is failed: importing raxis_east raised OSError: libeast.so" in error
    assert rest == "6.0 False"


@pytest.mark.parametrize("blocked", ["north", "raxis-north"])
def test_blocking_one_device_leaves_the_other(installed: list[str], blocked: str) -> None:
    code = """
import raxis
print(raxis.ones(2, device="south").sum().item(), raxis.backends.unavailable_reason("north"))
"""
    text = run(code, *installed, RAXIS_PLUGINS_BLOCK=blocked)
    assert text.startswith("2.0 Device 'north' cannot be used: its plugin raxis-north 1.0 is blocked")
