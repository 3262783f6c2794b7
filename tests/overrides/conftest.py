"""Every test has its own cache folder, configuration file and environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from raxis import overrides
from raxis.overrides import measuring


@pytest.fixture(autouse=True)
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the test; nothing measured or configured before is seen."""
    monkeypatch.setenv("RAXIS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("RAXIS_OVERRIDES_FILE", str(tmp_path / "overrides.json"))
    monkeypatch.delenv("RAXIS_OVERRIDES", raising=False)
    overrides.refresh()
    measuring.forget()
    yield tmp_path
    monkeypatch.delenv("RAXIS_OVERRIDES", raising=False)
    monkeypatch.setenv("RAXIS_OVERRIDES_FILE", str(tmp_path / "none.json"))
    overrides.refresh()
    measuring.forget()
