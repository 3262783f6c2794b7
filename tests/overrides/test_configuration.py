"""Policies from the environment, the file, plugins and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import raxis
import raxis.nn.functional as F
from raxis import hooks, overrides
from raxis.backends.settings import Settings
from raxis.overrides import registry
from raxis.overrides.__main__ import main


def name_of_softmax() -> str:
    return F.softmax(raxis.ones(2, requires_grad=True), 0).grad_fn.name()


def test_the_environment_wins_over_the_file(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = outside / "overrides.json"
    file.write_text('{"softmax": "composed", "attention": "blocked"}')
    overrides.refresh()
    assert overrides.policies() == {"softmax": "composed", "scaled_dot_product_attention": "blocked"}
    assert name_of_softmax() == "DivBackward0"
    monkeypatch.setenv("RAXIS_OVERRIDES", " softmax = default ,")
    overrides.refresh()
    assert overrides.policies()["softmax"] == "default"
    assert name_of_softmax() == "SoftmaxBackward0"
    with overrides.use(softmax="composed"):
        assert name_of_softmax() == "DivBackward0"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("softmax", "RAXIS_OVERRIDES: 'softmax' is not understood"),
        ("softmax=", "is not understood"),
        ("softmax=composed,softmax=default", "two policies"),
        ("softmx=composed", "RAXIS_OVERRIDES: there is no functional 'softmx'.*'softmax'"),
        ("softmax=compose", "RAXIS_OVERRIDES: .*no implementation 'compose'.*'composed'"),
    ],
)
def test_what_the_environment_may_not_say(text: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAXIS_OVERRIDES", text)
    with pytest.raises(ValueError, match=sentence):
        overrides.refresh()
    assert overrides.policies() == {}


@pytest.mark.parametrize("text", ["[", "[]", '{"softmax": 3}', '{"softmx": "composed"}'])
def test_what_the_file_may_not_say(text: str, outside: Path) -> None:
    (outside / "overrides.json").write_text(text)
    with pytest.raises(ValueError, match=r"overrides\.json"):
        overrides.refresh()


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_process_reads_them_at_its_first_op() -> None:
    code = "import raxis; print(raxis.ones(2, requires_grad=True).softmax(0).grad_fn.name())"
    assert run(code, RAXIS_OVERRIDES="softmax=composed").stdout == "DivBackward0\n"
    assert run(code).stdout == "SoftmaxBackward0\n"
    failed = run(code, RAXIS_OVERRIDES="softmax=componsed")
    assert "Did you mean 'composed'" in failed.stderr.splitlines()[-1]
    assert run("import raxis", RAXIS_OVERRIDES="nonsense").returncode == 0


def test_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    def contributed(hook: str) -> list[hooks.Contribution]:
        assert hook == "raxis_functional_overrides"
        item = overrides.Implementation(lambda input: input * 7, lambda input: input.ndim == 1)
        return [
            hooks.Contribution("mine 1.2", {"softsign": {"seven": item, "eight": lambda input: input * 8}})
        ]

    monkeypatch.setattr(hooks, "collect", contributed)
    monkeypatch.setattr(registry, "_table", {})
    monkeypatch.setattr(registry, "_filled", type(registry._filled)())
    assert overrides.implementations("softsign") == ["default", "eight", "seven"]
    with overrides.use(softsign="seven"):
        assert F.softsign(raxis.ones(1)).tolist() == [7.0]
        with pytest.raises(RuntimeError, match=r"'seven'.*does not support"):
            F.softsign(raxis.ones(1, 1))
    found = registry.lookup("softsign", "eight")
    assert found is not None
    assert found.origin == "mine 1.2"


def test_the_command(outside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = outside / "overrides.json"
    assert main(["set", "softmax=composed", "attention=measured"]) == 0
    assert json.loads(file.read_text()) == {"scaled_dot_product_attention": "measured", "softmax": "composed"}
    capsys.readouterr()
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert [line.split()[:2] for line in listed.splitlines() if line.startswith("softmax")] == [
        ["softmax", "composed"]
    ]
    assert main(["show", "attention"]) == 0
    shown = capsys.readouterr().out
    assert "policy measured" in shown
    assert "blocked" in shown
    assert main(["clear", "attention"]) == 0
    assert json.loads(file.read_text()) == {"softmax": "composed"}
    assert main(["clear"]) == 0
    assert json.loads(file.read_text()) == {}
    capsys.readouterr()
    assert main(["set", "softmax=componsed"]) == 2
    assert "Did you mean 'composed'" in capsys.readouterr().err
    assert json.loads(file.read_text()) == {}


def test_the_command_shows_and_forgets_choices(capsys: pytest.CaptureFixture[str]) -> None:
    with overrides.use(softmax="measured"):
        F.softmax(raxis.ones(2, 3), 1)
    main(["show", "softmax"])
    assert "measured for (float32[2, 3], 1" in capsys.readouterr().out
    main(["clear", "--choices"])
    main(["show", "softmax"])
    assert "measured for" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({}, Path.home() / ".config" / "raxis" / "overrides.json"),
        ({"XDG_CONFIG_HOME": "/configs"}, Path("/configs/raxis/overrides.json")),
        ({"XDG_CONFIG_HOME": "relative"}, Path.home() / ".config" / "raxis" / "overrides.json"),
        ({"XDG_CONFIG_HOME": "/configs", "RAXIS_OVERRIDES_FILE": "~/own.json"}, Path.home() / "own.json"),
    ],
)
def test_where_the_file_is(environ: dict[str, str], path: Path) -> None:
    assert Settings(environ).overrides_file == path
