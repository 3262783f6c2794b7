"""Environment variables: read when used, parsed strictly, near matches offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from raxis.backends import settings
from raxis.backends.settings import Settings


def test_defaults() -> None:
    empty = Settings({})
    assert (empty.device_name, empty.fallback, empty.cpu, empty.blas) == ("cpu", "error", "plugin", "numpy")
    assert empty.selection() == (None, frozenset())


@pytest.mark.parametrize("variable", settings.VARIABLES)
def test_empty_means_unset(variable: str) -> None:
    blank = Settings({variable: " "})
    assert (blank.device_name, blank.fallback, blank.cpu) == ("cpu", "error", "plugin")
    assert blank.selection() == (None, frozenset())


def test_values_are_read_at_use() -> None:
    environ: dict[str, str] = {}
    live = Settings(environ)
    environ["RAXIS_DEVICE"] = "foo:1"
    assert live.device_name == "foo:1"
    environ["RAXIS_DEVICE"] = "bar"
    assert live.device_name == "bar"


@pytest.mark.parametrize("text", ["error", "warn", "cpu"])
def test_fallback_policy_is_read_from_the_process(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RAXIS_FALLBACK", text)
    assert settings.fallback_policy() == text


def test_default_device_name_is_read_from_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAXIS_DEVICE", "cuda:1")
    assert settings.default_device_name() == "cuda:1"
    monkeypatch.delenv("RAXIS_DEVICE")
    assert settings.default_device_name() == "cpu"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, Path.home() / ".cache" / "raxis"),
        ({"XDG_CACHE_HOME": "/caches"}, Path("/caches/raxis")),
        ({"XDG_CACHE_HOME": "relative"}, Path.home() / ".cache" / "raxis"),
        ({"XDG_CACHE_HOME": "/caches", "RAXIS_CACHE_DIR": "/own"}, Path("/own")),
        ({"RAXIS_CACHE_DIR": "~/own"}, Path.home() / "own"),
        ({"RAXIS_CACHE_DIR": "own"}, Path.cwd() / "own"),
        ({"RAXIS_CACHE_DIR": "/own", "RAXIS_CACHE": "on"}, Path("/own")),
        ({"RAXIS_CACHE_DIR": "/own", "RAXIS_CACHE": "off"}, None),
        ({"RAXIS_CACHE_DIR": "~nobody-of-this-name/own"}, None),
    ],
)
def test_cache_folder(environ: dict[str, str], expected: Path | None) -> None:
    assert Settings(environ).cache_folder == expected


@pytest.mark.parametrize(
    ("variable", "text", "attribute", "parts"),
    [
        (
            "RAXIS_FALLBACK",
            "warning",
            "fallback",
            ["'warning'", "'error', 'warn', 'cpu'", "Did you mean 'warn'?"],
        ),
        ("RAXIS_FALLBACK", "1", "fallback", ["'1'", "'error', 'warn', 'cpu'"]),
        ("RAXIS_FALLBACK", "CPU", "fallback", ["'CPU'", "'cpu'"]),
        ("RAXIS_CACHE", "no", "cache_folder", ["'no'", "'on', 'off'"]),
        ("RAXIS_CPU", "referense", "cpu", ["Did you mean 'reference'?"]),
        ("RAXIS_DEVICE", "cpu:x", "device_name", ["'cpu:x' does not name a device"]),
        ("RAXIS_DEVICE", "CUDA", "device_name", ["'CUDA' does not name a device", "lower case"]),
    ],
)
def test_malformed_values_are_errors(variable: str, text: str, attribute: str, parts: list[str]) -> None:
    with pytest.raises(ValueError, match=variable) as caught:
        getattr(Settings({variable: text}), attribute)
    for part in parts:
        assert part in str(caught.value)


def test_selection_compares_names_in_normal_form() -> None:
    selection = Settings({"RAXIS_PLUGINS": "Raxis_Foo, bar", "RAXIS_PLUGINS_BLOCK": "bar"}).selection()
    assert selection.refusal("foo", "raxis-foo") is None
    assert selection.refusal("foo", "raxis.foo") is None
    assert selection.refusal("qux", "x") == "RAXIS_PLUGINS=bar,raxis-foo does not name it."
    assert selection.refusal("fo", "raxis-fo") == (
        "RAXIS_PLUGINS=bar,raxis-foo does not name it. Did you mean 'raxis-fo'?"
    )
    assert selection.refusal("bar", "raxis-bar") == "RAXIS_PLUGINS_BLOCK names 'bar'."


def test_installed_name_is_not_taken_for_a_misspelt_keyword() -> None:
    live = Settings({"RAXIS_PLUGINS": "nona"})
    assert live.selection(["nona"]).allowed == {"nona"}
    with pytest.raises(ValueError, match="Did you mean 'none'"):
        live.selection()


def test_unknown_variables_are_listed_with_the_nearest_known_one() -> None:
    environ = {"RAXIS_PLUGIN_BLOCK": "foo", "RAXIS_DEVICE": "cpu", "HOME": "/"}
    assert Settings(environ).unknown_variables() == [
        "RAXIS_PLUGIN_BLOCK is set, but Raxis reads no variable of that name. "
        "Did you mean 'RAXIS_PLUGINS_BLOCK' or 'RAXIS_PLUGINS'?"
    ]
