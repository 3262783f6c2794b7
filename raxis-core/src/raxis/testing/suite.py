"""The kit as a pytest class."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from raxis.testing import exclusions, running
from raxis.testing.case import Case, Subject, Verdict
from raxis.testing.exclusions import Exclusion


class BackendSuite:
    """Every case of the kit as a test; a plugin's test file needs one class.

    Cases that the plugin's ``pyproject.toml`` excludes are expected failures, cases that the device declines or that
    say nothing about it are skips, and the reason is shown.

    Attributes:
        device: the device, such as ``foo``; None takes pytest's option ``--raxis-device``.
        levels: the parts of the kit to run; by default all.
        cases: a shell pattern over ids of cases.

    Example:
        >>> class TestFoo(BackendSuite):
        ...     device = "foo"
    """

    device: ClassVar[str | None] = None
    levels: ClassVar[Sequence[str]] = tuple(running.LEVELS)
    cases: ClassVar[str] = "*"

    @classmethod
    def pytest_generate_tests(cls, metafunc: Any) -> None:
        """Make one test of every case."""
        subject = Subject(_device(cls, metafunc.config))
        rules = _rules(cls, metafunc.config)
        cases = running.collect(cls.levels, cls.cases)
        if "conformance_case" in metafunc.fixturenames:
            matched = [
                (subject, case, next((rule for rule in rules if rule.matches(case)), None)) for case in cases
            ]
            metafunc.parametrize("conformance_case", matched, ids=[case.id for case in cases])
        if "conformance_rules" in metafunc.fixturenames:
            metafunc.parametrize("conformance_rules", [(cases, rules)], ids=["all"])

    def test_case(self, conformance_case: tuple[Subject, Case, Exclusion | None]) -> None:
        """The device passes the case, declines it, or it is excluded and fails."""
        import pytest

        subject, case, exclusion = conformance_case
        outcome = running.run_case(case, subject, exclusion)
        if outcome.verdict is Verdict.FAILED:
            pytest.fail(outcome.detail, pytrace=False)
        if outcome.verdict is Verdict.EXCLUDED:
            pytest.xfail(outcome.detail)
        if outcome.verdict in (Verdict.DECLINED, Verdict.SKIPPED):
            pytest.skip(f"{outcome.verdict.value}: {outcome.detail}")

    def test_exclusions_match(self, conformance_rules: tuple[list[Case], list[Exclusion]]) -> None:
        """Each exclusion matches a case."""
        cases, rules = conformance_rules
        idle = [rule.case for rule in rules if not any(map(rule.matches, cases))]
        assert self.cases != "*" or not idle, f"exclusions that match no case: {idle}; remove them."


def _device(suite: type[BackendSuite], config: Any) -> str:
    name = suite.device or config.getoption("--raxis-device", None)
    if name is None:
        raise ValueError(
            f"{suite.__name__} names no device: set its attribute `device`, or run pytest with "
            "`-p raxis.testing.plugin --raxis-device=NAME`."
        )
    return str(name)


def _rules(suite: type[BackendSuite], config: Any) -> list[Exclusion]:
    """The exclusions of the project that the suite's file belongs to; for the kit's own file, pytest's root folder."""
    here = Path(inspect.getfile(suite)).resolve()
    own = here.is_relative_to(Path(__file__).parent)
    return exclusions.read(exclusions.nearest_pyproject(Path(config.rootpath) if own else here.parent))
