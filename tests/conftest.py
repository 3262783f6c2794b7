"""Options and fixtures of the whole suite: one thread a process, and random numbers that can be repeated."""

from __future__ import annotations

import argparse
import os
import zlib

# Read by NumPy's and PyTorch's thread pools when they load, so it stands before every import that loads them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The specification: quick to compile. The native pass of `make test` sets RAXIS_CPU=plugin.
os.environ.setdefault("RAXIS_CPU", "reference")

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile(
    "raxis",
    deadline=None,
    print_blob=True,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("raxis")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--raxis-seed", type=int, default=0, help="mixed into the seed of every randomised test")
    parser.addoption(
        "--part",
        type=_part,
        default=(0, 1),
        metavar="K/N",
        help="of the tests that rotate, run the K-th of N parts, counted from 0",
    )


def _part(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and int(part) < int(parts)):
        raise argparse.ArgumentTypeError(f"expected K/N with 0 <= K < N, but got {text!r}")
    return int(part), int(parts)


def pytest_report_header(config: pytest.Config) -> list[str]:
    part, parts = config.getoption("--part")
    return [
        f"randomised tests: --raxis-seed={config.getoption('--raxis-seed')}",
        f"backend of cpu: {os.environ['RAXIS_CPU']}; tests that rotate: --part={part}/{parts}",
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, parts = config.getoption("--part")
    left_out = [item for item in items if _rotates(item) and zlib.crc32(item.nodeid.encode()) % parts != part]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        dropped = set(left_out)
        items[:] = [item for item in items if item not in dropped]


def _rotates(item: pytest.Item) -> bool:
    """Whether a test waits for its part's turn: what is marked, and on raxis-cpu the parity tests too."""
    parity = item.nodeid.startswith("tests/parity/")
    return item.get_closest_marker("rotating") is not None or (parity and os.environ["RAXIS_CPU"] == "plugin")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed made of the test's name and `--raxis-seed`; a failing test's report shows it."""
    base = request.config.getoption("--raxis-seed")
    value = zlib.crc32(f"{base}:{request.node.nodeid}".encode())
    request.node.add_report_section("setup", "seed", f"seed {value} (--raxis-seed={base})")
    return value


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """A NumPy generator seeded by `seed`."""
    return np.random.default_rng(seed)
