"""Ten distributions that are broken in ten ways: nothing of them is noticed until their device is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import raxis
from tests.devices.plugins import install_broken
from tests.devices.processes import run

WORK = """
import warnings
warnings.simplefilter("error")
import raxis
from raxis import nn
raxis.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = raxis.optim.Adam(model.parameters(), lr=0.01)
losses = []
for _ in range(5):
    optimizer.zero_grad()
    loss = model(raxis.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
step = raxis.compile(lambda x: (x.sin() * 2).sum())
print(losses, step(raxis.arange(5.0)).item(), raxis.get_default_device(), raxis.backends.get("cpu").properties(0).name)
"""

NAMED = """
import json, raxis
reasons = {}
for device in DEVICES:
    for _ in range(2):  # a failure is kept: nothing is imported again
        try:
            raxis.ones(1, device=device)
        except raxis.backends.BackendError as error:
            reasons.setdefault(device, []).append(str(error))
reasons["cpu"] = raxis.ones(3).sum().item()
reasons["rows"] = [[row.device, row.distribution, row.state.value] for row in raxis.backends.list()]
print(json.dumps(reasons))
"""


@pytest.fixture
def broken(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    folder = tmp_path / "site"
    folder.mkdir()
    reasons = install_broken(folder)
    assert len(list(folder.glob("*.dist-info"))) == 10
    return folder, reasons


def test_import_imports_the_same_modules(broken: tuple[Path, dict[str, str]]) -> None:
    code = "import raxis, sys; print(sorted(sys.modules))"
    assert run(code, broken[0]) == run(code)


def test_cpu_computes_the_same_bits(broken: tuple[Path, dict[str, str]]) -> None:
    assert run(WORK, broken[0]) == run(WORK)


def test_named_devices_raise_their_own_reason(broken: tuple[Path, dict[str, str]]) -> None:
    folder, reasons = broken
    reasons = {device: reason for device, reason in reasons.items() if device != "slow"}
    found = json.loads(run(f"DEVICES = {list(reasons)}\n{NAMED}", folder))
    for device, reason in reasons.items():
        first, second = found[device]
        assert first == second
        assert first.startswith(f"Device {device!r} cannot be used: its plugin raxis-{device} 1.0 is ")
        assert reason in first
        assert first.endswith("After a repair call raxis.backends.refresh() or start a new process.")
    assert found["cpu"] == 3.0
    states = {distribution: state for _, distribution, state in found["rows"]}
    assert states["raxis-slow"] == "found"
    assert states["raxis-future"] == "incompatible"
    assert states["raxis-wrong-twin"] == "shadowed"
    failed = {name for name, state in states.items() if state == "failed"}
    assert failed == {
        f"raxis-{name}" for name in ("raises", "syntax", "exits", "lacks", "invents", "wrong", "absent")
    }


def test_a_plugin_that_is_interrupted_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from raxis.backends.registry import Registry
    from raxis.backends.settings import Settings
    from tests.devices.plugins import GOOD, install

    install(tmp_path, "stops", f"{GOOD}\ndef probe(): raise KeyboardInterrupt")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = Registry(Settings({}), [str(tmp_path)])
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            registry.resolve(raxis.device("stops"))
    assert [row.state.value for row in registry.rows() if row.device == "stops"] == ["found"]
