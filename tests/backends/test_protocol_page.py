"""The generated page of the protocol leaves nothing out."""

from __future__ import annotations

import inspect

from raxis.backends import api, messages, protocol_page
from raxis.backends.states import State

PAGE = protocol_page.page()


def test_every_member_of_a_backend_has_a_section() -> None:
    members = [name for name in dir(api.Backend) if not name.startswith("_")]
    assert {"compile", "passes", "host_view"} <= set(members)
    for name in members:
        assert f"\n### {name}\n" in PAGE
    for name in api.Backend.__abstractmethods__:
        section = PAGE.split(f"\n### {name}\n")[1].split("\n### ")[0]
        assert "**required**" in section
    assert PAGE.count("**required**") == len(api.Backend.__abstractmethods__)


def test_every_state_is_explained() -> None:
    for state in State:
        assert f"| {state.value} | " in PAGE


def test_every_message_has_an_example() -> None:
    own = {
        name
        for name, function in vars(messages).items()
        if inspect.isfunction(function) and function.__module__ == messages.__name__
    }
    assert {name for name in own if not name.startswith("_")} - {"nearest"} == set(protocol_page.EXAMPLES)
    assert "| Device 'foo:2' does not exist: there are 2 devices, foo:0 to foo:1. |" in PAGE


def test_markdown_of_docstrings() -> None:
    assert "- `API`: the `(major, minor)` this plugin was written for,\n" in PAGE
    assert "- `disjoint`: no two parameters share memory.\n" in PAGE
    assert "``" not in PAGE.replace("```", "")
    assert f"Version {api.API[0]}.{api.API[1]} of" in PAGE
