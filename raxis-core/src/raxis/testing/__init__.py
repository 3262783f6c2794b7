"""The conformance kit: what a device plugin is tested with.

Three ways to run it::

    class TestFoo(raxis.testing.BackendSuite):                     # in a test file of the plugin
        device = "foo"

    pytest -p raxis.testing.plugin --raxis-device=foo              # without a file

    python -m raxis.testing --device foo --report foo.md           # without pytest

Cases are made from the table of primitives; the answers are those of the reference backend, in float64 where the
device may round. What ``supports`` denies is tested too: it must be a sentence, and compiling must raise
NotImplementedError. See docs/write-a-backend.md.
"""

from __future__ import annotations

from raxis.testing.case import Case, Declined, Nonconformity, Outcome, Skipped, Subject, Verdict
from raxis.testing.exclusions import Exclusion
from raxis.testing.running import LEVELS, collect, run, run_case
from raxis.testing.suite import BackendSuite

__all__ = [
    "LEVELS",
    "BackendSuite",
    "Case",
    "Declined",
    "Exclusion",
    "Nonconformity",
    "Outcome",
    "Skipped",
    "Subject",
    "Verdict",
    "collect",
    "run",
    "run_case",
]
