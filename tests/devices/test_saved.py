"""Files and pickles of tensors on third-party devices: shared storages, `map_location`, and devices that are absent."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import raxis
from raxis import nn
from tests.devices.processes import run

NUMBERS = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def saved() -> io.BytesIO:
    x, y = raxis.tensor(NUMBERS, device="north:1"), raxis.tensor(NUMBERS, device="south")
    file = io.BytesIO()
    raxis.save({"x": x, "row": x[1], "y": y}, file)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("location", "x", "y"),
    [
        (None, "north:1", "south:0"),
        ("cpu", "cpu", "cpu"),
        ("north", "north:0", "north:0"),
        (raxis.device("south"), "south:0", "south:0"),
        ({"north:1": "south:0"}, "south:0", "south:0"),
        ({"north:1": "cpu", "south:0": "north:1"}, "cpu", "north:1"),
        ({"elsewhere": "cpu"}, "north:1", "south:0"),
        (lambda storage, location: storage if location.startswith("north") else None, "cpu", "south:0"),
    ],
)
def test_map_location(location: Any, x: str, y: str) -> None:
    loaded = raxis.load(saved(), map_location=location)
    assert (str(loaded["x"].device), str(loaded["y"].device)) == (x, y)
    assert loaded["x"].tolist() == loaded["y"].tolist() == NUMBERS
    loaded["x"].zero_()
    assert loaded["row"].tolist() == [0.0] * 3
    assert loaded["y"].tolist() == NUMBERS


def test_map_location_to_meta_keeps_shapes() -> None:
    loaded = raxis.load(saved(), map_location="meta")
    assert (loaded["x"].device.type, loaded["x"].shape) == ("meta", (2, 3))


def test_pickles_return_to_their_device() -> None:
    x = raxis.tensor(NUMBERS, device="north:1")
    one, row = pickle.loads(pickle.dumps((x, x[1])))
    assert str(one.device) == "north:1"
    one.zero_()
    assert row.tolist() == [0.0] * 3
    module = pickle.loads(pickle.dumps(nn.Linear(2, 2).to("south")))
    assert str(module.weight.device) == "south:0"


LOAD = """
import raxis
try:
    loaded = raxis.load({path!r}, map_location={location!r})
    print(loaded["weight"].device, loaded["weight"].tolist())
except RuntimeError as error:
    print(type(error).__name__, error, type(error.__cause__).__name__)
"""


def load_elsewhere(path: Path, location: str | Mapping[str, str] | None) -> str:
    return run(LOAD.format(path=str(path), location=location))


def test_checkpoints_of_an_absent_device(tmp_path: Path) -> None:
    """The values need the file only: everything but the default location loads where the plugin is missing."""
    path = tmp_path / "model.pt"
    raxis.save({"weight": raxis.tensor(NUMBERS, device="north:1")}, path)
    assert load_elsewhere(path, "cpu") == f"cpu {NUMBERS}"
    assert load_elsewhere(path, {"north:1": "cpu"}) == f"cpu {NUMBERS}"
    for location in (None, {"south:0": "cpu"}):
        text = load_elsewhere(path, location)
        assert text.startswith(
            "RuntimeError the checkpoint has tensors on device 'north:1', which cannot be used here"
        )
        assert "`pip install raxis-north`" in text
        assert "map_location='cpu'" in text
        assert text.endswith("BackendError")
    assert load_elsewhere(path, "north").startswith(
        "BackendError Unknown device 'north'. Devices here: cpu, meta"
    )


def test_pickles_of_an_absent_device(tmp_path: Path) -> None:
    path = tmp_path / "tensor.pickle"
    path.write_bytes(pickle.dumps(raxis.tensor(NUMBERS, device="south")))
    code = f"""
import pickle
try:
    pickle.load(open({str(path)!r}, "rb"))
except RuntimeError as error:
    print(error)
"""
    text = run(code)
    assert text.startswith(
        "the pickle has a tensor on device 'south:0', which cannot be used here: Unknown device"
    )
    assert "raxis.load(file, map_location='cpu')" in text


def test_whole_modules_of_an_absent_device(tmp_path: Path) -> None:
    path = tmp_path / "module.pt"
    module = nn.Linear(2, 1).to("south")
    raxis.save(module, path)
    code = f"""
import raxis
module = raxis.load({str(path)!r}, map_location="cpu", weights_only=False)
print(module.weight.device, module.weight.tolist())
"""
    assert run(code) == f"cpu {module.weight.tolist()}"
