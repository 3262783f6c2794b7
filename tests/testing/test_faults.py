"""The kit notices every planted fault, and finds none in the same device without faults."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import raxis
from raxis.testing import running
from raxis.testing.case import Subject, Verdict
from tests.testing import faults

SANE = "Sane"
_SANE_MODULE = faults.GOOD.replace("{name!r}", repr("sane"))


@pytest.fixture(autouse=True)
def unharmed() -> Iterator[None]:
    """Undo what broken plugins do to the process."""
    with warnings.catch_warnings():
        yield
    raxis.set_default_device(None)
    if hasattr(raxis.Tensor, "foo"):
        del raxis.Tensor.foo


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A distribution for every fault."""
    folder = tmp_path_factory.mktemp("plugins")
    for name in (SANE, *faults.NAMES):
        device = faults.device_of(name)
        module = f"raxis_faulty_{device}"
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[raxis.backends]\n{device} = {module}\n")
        (folder / f"{module}.py").write_text(_SANE_MODULE if name == SANE else faults.source(name))
    sys.path.insert(0, str(folder))
    sys.path.insert(1, str(Path(__file__).parents[2]))
    raxis.backends.refresh()
    yield
    sys.path.remove(str(folder))
    sys.path.remove(str(Path(__file__).parents[2]))
    raxis.backends.refresh()


def test_there_are_faults_of_at_least_forty_kinds() -> None:
    assert len(faults.NAMES) >= 40


RAISING = {
    "AllocatesTooLittle",
    "ChangesDefaultDevice",
    "ClaimsWhatDoesNotRun",
    "Crash",
    "Exits",
    "FutureApi",
    "LoadsNoBackend",
    "ProbeSaysFalse",
    "RefusesWithTheWrongError",
}
"""Faults that show as an error; the kit itself finds all others."""


@pytest.mark.rotating
@pytest.mark.parametrize("name", faults.NAMES)
def test_fault_is_caught(name: str) -> None:
    subject = Subject(faults.device_of(name))
    cases = running.collect(pattern=faults.pattern_of(name))
    assert cases
    outcomes = (running.run_case(case, subject) for case in cases)
    caught = next((outcome for outcome in outcomes if outcome.verdict is Verdict.FAILED), None)
    assert caught is not None
    assert caught.detail.startswith("Nonconformity: ") or name in RAISING, caught.detail


@pytest.mark.parametrize("level", list(running.LEVELS))
@pytest.mark.slow
def test_sane_device_passes(level: str) -> None:
    subject = Subject(faults.device_of(SANE))
    outcomes = [running.run_case(case, subject) for case in running.collect([level])]
    assert [(o.case.id, o.detail) for o in outcomes if o.verdict is Verdict.FAILED] == []


@pytest.mark.parametrize("pattern", sorted({faults.pattern_of(name) for name in faults.NAMES}))
def test_cases_that_catch_faults_pass_on_the_sane_device(pattern: str) -> None:
    """So that a fault is not caught by a case that always fails."""
    subject = Subject(faults.device_of(SANE))
    outcomes = [running.run_case(case, subject) for case in running.collect(pattern=pattern)]
    assert [(o.case.id, o.detail) for o in outcomes if o.verdict is Verdict.FAILED] == []
