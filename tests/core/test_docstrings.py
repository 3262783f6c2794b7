"""Examples in docstrings give what they say, and everything public has a docstring."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import raxis
from raxis.ops.entry import FUNCTIONS
from raxis.ops.reference_table import is_public
from raxis.ops.table import OPS

MODULES = ["raxis", *(module.name for module in pkgutil.walk_packages(raxis.__path__, "raxis."))]


def run(tests: list[doctest.DocTest]) -> None:
    """Run doctests; the failure shows doctest's own report."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    for test in tests:
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_modules(name: str) -> None:
    ops = {f"{name}.{function}" for function in FUNCTIONS.get(name, ())}  # tested below
    found = doctest.DocTestFinder().find(importlib.import_module(name), name)
    run([test for test in found if test.name not in ops])


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if ">>>" in op.doc])
def test_examples_of_ops(name: str) -> None:
    run([doctest.DocTestParser().get_doctest(OPS[name].doc, {}, name, None, None)])


@pytest.mark.parametrize("name", [name for name, op in OPS.items() if is_public(op)])
def test_ops_are_described(name: str) -> None:
    lines = OPS[name].doc.splitlines()
    assert lines, f"op {name} has no docstring"
    assert lines[0].endswith((".", "!", "?", ":")), f"the first line of {name} is no sentence: {lines[0]!r}"


@pytest.mark.parametrize("name", [name for name in MODULES if not name.rsplit(".", 1)[-1].startswith("_")])
def test_public_definitions_are_described(name: str) -> None:
    module = importlib.import_module(name)
    undescribed = [
        key
        for key, value in vars(module).items()
        if not key.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == name
        and not (value.__doc__ or "").strip()
    ]
    assert module.__doc__, f"{name} has no docstring"
    assert undescribed == []
