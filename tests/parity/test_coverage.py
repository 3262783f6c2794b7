"""Which of the ops that matter most (`core_ops.txt`) raxis has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.catalogue import entries_of, function_of

CORE = [
    line.strip()
    for line in (Path(__file__).parent / "core_ops.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
]


def test_the_list_has_every_name_once() -> None:
    assert len(CORE) == len(set(CORE))
    assert len(CORE) > 200


@pytest.mark.parametrize("name", CORE)
def test_core_op_exists(name: str) -> None:
    missing = [key for key, entry in entries_of(name).items() if function_of(entry) is None]
    assert not missing, missing
