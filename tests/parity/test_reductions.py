"""Reductions against torch."""

from __future__ import annotations

import pytest

from tests.parity import opinfo
from tests.parity.opinfo import Exclusion

EXCLUSIONS: list[Exclusion] = []

CASES = opinfo.cases(
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "corrcoef", "count_nonzero", "cov", "dist",
    "linalg.matrix_norm", "linalg.norm", "linalg.vector_norm", "logsumexp", "max", "mean", "median", "min", "mode",
    "nanmean", "nanmedian", "nanquantile", "nansum", "norm", "prod", "quantile", "renorm", "std", "std_mean", "sum",
    "sum_to_size", "var", "var_mean",
    exclusions=EXCLUSIONS,
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()
