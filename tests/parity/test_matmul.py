"""Products of matrices and vectors against torch."""

from __future__ import annotations

import pytest

from tests.parity import opinfo

CASES = opinfo.cases(
    "__rmatmul__", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "cross", "dot", "einsum", "inner", "kron",
    "linalg.cross", "linalg.multi_dot", "matmul", "mm", "mv", "nn.functional.bilinear", "nn.functional.linear",
    "outer", "tensordot", "trace", "vdot",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()
