"""The type stubs and the reference pages in docs/ are what the tables say."""

from __future__ import annotations

from pathlib import Path

import pytest

from raxis.ops import reference_table, stubs
from raxis.ops.table import OPS, Kind, Op
from raxis.ptir.primitives import PRIMITIVES

ROOT = Path(__file__).resolve().parents[2]


def test_stubs_are_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert stubs.main(["--check"]) == 0, capsys.readouterr().err


def test_reference_table_is_current(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert reference_table.main(["--check"]) == 0, capsys.readouterr().err


def test_check_fails_for_a_stale_page_and_write_repairs_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_:
        reference_table.main(["--write"])
    assert exit_.value.code == 2
    assert "run this in the root of the repository" in capsys.readouterr().err

    page = tmp_path / "docs" / "ops.md"
    page.parent.mkdir()
    assert reference_table.main(["--check"]) == 1
    assert "docs/ops.md is stale" in capsys.readouterr().err.replace("\\", "/")
    assert reference_table.main(["--write"]) == 0
    assert reference_table.main(["--check"]) == 0
    page.write_text(page.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert reference_table.main(["--check"]) == 1


def test_every_public_op_has_one_row() -> None:
    rows = [line for line in reference_table.ops_page().splitlines() if line.startswith("| `")]
    assert len(rows) == sum(reference_table.is_public(op) for op in OPS.values())
    assert all(line.replace("\\|", "").count("|") == 7 for line in rows)


def test_every_primitive_has_one_row() -> None:
    rows = [line for line in reference_table.primitives_page().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(PRIMITIVES)
    assert all(line.replace("\\|", "").count("|") == 5 for line in rows)


def test_row_of_add() -> None:
    row = next(line for line in reference_table.ops_page().splitlines() if line.startswith("| `add("))
    assert row.startswith(
        "| `add(input, other, *, alpha=1)` | `f` `.m` `m_` `out=` `__add__` | arithmetic | pure | formula |"
    )


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("view(Tensor input, int... shape) -> Tensor", "view(input, *shape)"),
        ("f(Tensor x, *args, bool flag=False, **options) -> Tensor", "f(x, *args, flag=False, **options)"),
        ("g(Tensor x, *, str mode='linear', int? dim=None) -> Tensor", "g(x, *, mode='linear', dim=None)"),
        ("h(int... size, *, dtype? dtype=None) -> Tensor", "h(*size, dtype=None)"),
    ],
)
def test_signatures_are_python(text: str, call: str) -> None:
    op = Op(text, Kind.COMPOSED, lambda: None)
    assert reference_table.signature(op) == call
