"""Fourier transforms against torch."""

from __future__ import annotations

import pytest
import torch

from tests.parity import opinfo
from tests.parity.opinfo import Exclusion

pytestmark = pytest.mark.filterwarnings("ignore:An output with one or more elements was resized:UserWarning")

NAMES = [
    f"fft.{base}{suffix}"
    for base in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for suffix in ("", "2", "n")
]

EXCLUSIONS: list[Exclusion] = []

CASES = opinfo.cases(
    *NAMES, "fft.fftshift", "fft.ifftshift",
    exclusions=EXCLUSIONS,
    tolerances={torch.float32: (1e-4, 1e-4), torch.complex64: (1e-4, 1e-4)},
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()
