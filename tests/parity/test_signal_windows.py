"""The windows of raxis.signal.windows against torch and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.signal

import raxis
from tests.parity import opinfo

NAMES = [
    f"signal.windows.{name}"
    for name in (
        "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
        "hann", "kaiser", "nuttall",
    )
]  # fmt: skip


@pytest.mark.parametrize("case", opinfo.cases(*NAMES), ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("length", [1, 2, 9, 1000])
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize(("name", "ours", "scipys"), [
    ("bartlett", {}, ()),
    ("blackman", {}, ()),
    ("cosine", {}, ()),
    ("exponential", {"tau": 3.0}, (None, 3.0)),
    ("gaussian", {"std": 2.5}, (2.5,)),
    ("general_hamming", {"alpha": 0.6}, (0.6,)),
    ("hamming", {}, ()),
    ("hann", {}, ()),
    ("kaiser", {"beta": 5.0}, (5.0,)),
    ("nuttall", {}, ()),
])  # fmt: skip
def test_windows_are_scipys(name: str, ours: Any, scipys: Any, sym: bool, length: int) -> None:
    found = getattr(raxis.signal.windows, name)(length, **ours, sym=sym, dtype=raxis.float64)
    expected = getattr(scipy.signal.windows, name)(length, *scipys, sym=sym)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-14)


def test_an_empty_window() -> None:
    assert raxis.signal.windows.hann(0).shape == (0,)
