"""Activation functions against torch's operator database."""

from __future__ import annotations

import pytest

from tests.parity import opinfo

NAMES = tuple(
    f"nn.functional.{name}"
    for name in (
        "celu",
        "elu",
        "gelu",
        "glu",
        "hardshrink",
        "hardsigmoid",
        "hardswish",
        "hardtanh",
        "leaky_relu",
        "logsigmoid",
        "mish",
        "prelu",
        "relu",
        "relu6",
        "selu",
        "silu",
        "softplus",
        "softshrink",
        "softsign",
        "tanhshrink",
        "threshold",
    )
)


@pytest.mark.parametrize("case", opinfo.cases(*NAMES), ids=str)
def test_activation(case: opinfo.Case) -> None:
    case.run()
