"""Passes of backends and plugins run at their stages; wrong ones are refused by name."""

from __future__ import annotations

import pytest

from raxis.backends.reference import ReferenceBackend
from raxis.hooks import Contribution
from raxis.ptir import Builder
from raxis.ptir.passes import Pass, Report, optimise, passes_for, pipeline


def named(name: str) -> Pass:
    return Pass(name, "does nothing", lambda program, _: program)


def backend_with(passes: object) -> ReferenceBackend:
    backend = ReferenceBackend()
    backend.passes = passes  # type: ignore[assignment]
    return backend


def no_plugins(hook: str, **arguments: object) -> list[Contribution]:
    assert (hook, arguments) == ("raxis_passes", {"device": "foo"})
    return []


def test_stages_come_before_after_and_last() -> None:
    backend = backend_with(
        {"legalise": (named("first"),), "fuse": (named("join"),), "cleanup": (named("tidy"),)}
    )
    plugin = [Contribution("plugin", {"fuse": [named("more")]})]
    passes = passes_for("foo", backend, lambda hook, **_: plugin)
    report = Report()
    optimise(Builder("empty").build([]), passes=pipeline(passes), report=report)
    names = [run.name for run in report.runs]
    assert names[0] == "first"
    assert names[-3:] == ["join", "more", "tidy"]


def test_installed_plugins_are_asked_by_default() -> None:
    assert passes_for("cpu", ReferenceBackend()) == {"legalise": (), "fuse": (), "cleanup": ()}


@pytest.mark.parametrize(
    ("passes", "message"),
    [
        (
            {"fuze": []},
            "the backend of device 'foo' has passes at stage 'fuze'; the stages are legalise, fuse, cleanup",
        ),
        ({"fuse": [len]}, "the backend of device 'foo' has <built-in function len> at stage 'fuse'"),
        ([], r"the backend of device 'foo' must give passes as a mapping from stage to passes, not \[\]"),
    ],
)
def test_wrong_passes_are_refused(passes: object, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        passes_for("foo", backend_with(passes), no_plugins)
