"""The reference page of the backend protocol, read from the source of the modules that define it.

`raxis.ops.reference_table` writes it to ``docs/`` and checks it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import ModuleType
from typing import Any

from raxis.backends import api, messages, states

_HEADER = """\
# The backend protocol

Version {version} of `raxis.backends.api`: what a device plugin implements. [Write a backend](write-a-backend.md) leads
through it, `raxis.testing` checks it, [the tutorial](backend-tutorial.md) makes a backend fast.

## Plugins
"""

_MESSAGES = """\
## Messages

All sentences about devices and plugins, with examples of what they are made of. Where a device is named, they are the
text of a `raxis.backends.BackendError` (a RuntimeError); the reasons of states are also in `raxis.backends.list()` and
`python -m raxis.env`.

| when | message |
|---|---|
"""

EXAMPLES: Mapping[str, tuple[Any, ...]] = {
    "bad_choice": ("RAXIS_FALLBACK", "eror", ("error", "warn", "cpu")),
    "bad_list": ("RAXIS_PLUGINS_BLOCK", "foo,?", "?"),
    "mixed_plugins": ("all,foo",),
    "unknown_variable": ("RAXIS_DEVISE", ("RAXIS_DEVICE",)),
    "blocked_by_list": ("foo",),
    "reference_chosen": (),
    "not_allowed": (("fo",), ("foo", "raxis-foo")),
    "invalid_name": ("Foo",),
    "reserved_name": ("cuda", ("raxis-cuda12", "raxis-cuda13")),
    "invalid_value": ("raxis_foo:load",),
    "shadowed": ("a-foo",),
    "cuda_conflict": ("1.0",),
    "version_mismatch": ("raxis-cpu", "1.0", "1.1"),
    "malformed_api": ("1.0",),
    "api_mismatch": ("raxis-foo", (2, 0), (1, 0), "1.0"),
    "missing_member": ("raxis_foo", "probe()"),
    "bad_probe": (False,),
    "bad_load": (None,),
    "bad_count": (-1,),
    "no_devices": (),
    "raised": ("load()", OSError("libfoo.so: cannot open shared object file")),
    "unusable": ("foo", "raxis-foo 1.0", "unavailable", "libfoo is not installed; see https://foo.example."),
    "unknown_device": ("fooo", ("cpu", "foo", "meta")),
    "index_out_of_range": ("foo", 2, 2),
    "reentrant": ("foo", "raxis-foo 1.0"),
    "changed": ("foo", "a-foo 1.0", "b-foo 1.0"),
    "reference_serves": ("importing raxis_cpu raised ImportError: no llvmlite.",),
    "extension_failed": ("raxis-more 1.0", "importing raxis_more raised ImportError: no more."),
    "unknown_hook": ("raxis_op", ("raxis_ops", "raxis_passes")),
}
"""Arguments that make an example of every message."""

_WORD = re.compile(r"``([^`]+)``")
_DEFINED = re.compile(r"^``([^`]+)``\n((?: {4}.+\n?)+)", re.M)
_SECTION = re.compile(r"^(Args|Raises|Attributes|Returns):\n((?: {4}.*\n?)+)", re.M)
_ITEM = re.compile(r"^(\w+): ", re.M)


def page() -> str:
    """The page: versions, plugins, classes, states, messages."""
    parts = [_HEADER.format(version=".".join(map(str, api.API))), *_plugins(), *_definitions(), *_states()]
    text = "\n".join(parts) + "\n" + _MESSAGES + "".join(_messages())
    return re.sub(r"\n{3,}", "\n\n", text)


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _prose(text: str) -> str:
    """A docstring as Markdown."""
    text = _DEFINED.sub(
        lambda found: f"- `{found[1]}`: {' '.join(found[2].split())}\n", inspect.cleandoc(text)
    )
    return _WORD.sub(r"`\1`", _SECTION.sub(_section, text))


def _section(found: re.Match[str]) -> str:
    """``Args:`` and the like as a list; an item may go on in lines that are further in."""
    lines = inspect.cleandoc(found[2]).splitlines()
    joined = re.sub(r"\n +", " ", "\n".join(lines))
    return f"{found[1]}:\n\n" + _ITEM.sub(r"- `\1`: ", joined) + "\n"


def _plugins() -> Iterator[str]:
    tree = _tree(api)
    yield _prose((ast.get_docstring(tree) or "").partition("\n\n")[2]) + "\n"
    yield "## Compatibility\n"
    yield _prose(dict(_described(tree.body))["API"]) + "\n"


def _described(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Names that are assigned and then described by a string."""
    for statement, following in pairwise(body):
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            if isinstance(statement, ast.AnnAssign):
                yield ast.unparse(statement.target), str(following.value.value)
            elif isinstance(statement, ast.Assign):
                yield ast.unparse(statement.targets[0]), str(following.value.value)


def _definitions() -> Iterator[str]:
    """Classes of the protocol with their members, then its types."""
    tree = _tree(api)
    classes = [statement for statement in tree.body if isinstance(statement, ast.ClassDef)]
    for definition in sorted(classes, key=lambda item: item.name != api.Backend.__name__):
        yield f"## {definition.name}\n\n{_prose(ast.get_docstring(definition) or '')}\n"
        yield from _members(definition)
    for name, text in _described(tree.body):
        if name != "API":
            yield f"## {name}\n\n{_prose(text)}\n"


def _members(definition: ast.ClassDef) -> Iterator[str]:
    if definition.name != api.Backend.__name__:
        lines = [_signature(item) for item in definition.body if isinstance(item, _Member)]
        yield "\n".join(["```", *lines, "```\n"])
        return
    for item in definition.body:
        if isinstance(item, ast.FunctionDef):
            required = any("abstractmethod" in ast.unparse(decorator) for decorator in item.decorator_list)
            mark = "required" if required else "optional"
            text = _prose(ast.get_docstring(item) or "")
            yield f"### {item.name}\n\n`{_signature(item)}`: **{mark}**\n\n{text}\n"
    for name, text in _described(definition.body):
        yield f"### {name}\n\nAttribute: **optional**\n\n{_prose(text)}\n"


_Member = (ast.FunctionDef, ast.AnnAssign)


def _signature(item: ast.stmt) -> str:
    """A method without its body, or a field."""
    if not isinstance(item, ast.FunctionDef):
        return ast.unparse(item)
    returns = "" if item.returns is None else f" -> {ast.unparse(item.returns)}"
    return f"{item.name}({ast.unparse(item.args)}){returns}"


def _states() -> Iterator[str]:
    classes = [item for item in _tree(states).body if isinstance(item, ast.ClassDef)]
    definition = next(item for item in classes if item.name == states.State.__name__)
    yield "## States\n\n" + _prose(ast.get_docstring(definition) or "") + "\n"
    yield "| state | meaning, and what to do |\n|---|---|"
    for name, text in _described(definition.body):
        yield f"| {states.State[name]} | {_cell(text)} |"
    yield ""


def _messages() -> Iterator[str]:
    for name, function in _functions().items():
        yield f"| {_cell(function.__doc__ or '')} | {_cell(function(*EXAMPLES[name]))} |\n"


def _functions() -> dict[str, Callable[..., str]]:
    """The messages, in the order of their module."""
    return {
        name: function
        for name, function in vars(messages).items()
        if inspect.isfunction(function) and not name.startswith("_") and name != messages.nearest.__name__
    }


def _cell(text: str) -> str:
    return " ".join(_WORD.sub(r"`\1`", text).split()).replace("|", "\\|")
