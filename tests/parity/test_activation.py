"""Activation functions against torch's operator database."""

from __future__ import annotations

import pytest
import torch

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


TOLERANCES = {torch.float64: (1e-7, 1e-7)}
"""torch divides by six in float32 in the gradient of hardsigmoid."""


@pytest.mark.parametrize("case", opinfo.cases(*NAMES, tolerances=TOLERANCES), ids=str)
def test_activation(case: opinfo.Case) -> None:
    case.run()
