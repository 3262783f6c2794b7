"""Results that repeat the result of a reduction, alone and beside others."""

from __future__ import annotations

import numpy as np
import pytest

from raxis.dtypes import float32
from raxis.ptir import Builder, TensorType
from raxis.testing import Subject
from raxis.testing.placed import APART, PLAIN, SHIFTED, Arrangement, Placed, execute
from raxis_cpu.backend import CpuBackend

ARRAY = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("beside", [(), ("x",), ("y",)])
@pytest.mark.parametrize("arrangement", [PLAIN, APART, SHIFTED])
def test_reduction_is_written_to_the_whole_row(
    dim: int, beside: tuple[str, ...], arrangement: Arrangement
) -> None:
    builder = Builder("repeated")
    x = builder.parameter(TensorType(float32, (3, 4)))
    (y,) = builder.emit_all("neg", [x], {})
    (total,) = builder.emit_all("reduce_sum", [y], {"dims": (dim,)})
    (wide,) = builder.emit_all("broadcast", [total], {"shape": (3, 4), "dims": (1 - dim,)})
    program = builder.build([wide, *({"x": x, "y": y}[name] for name in beside)])
    subject = Subject("cpu", CpuBackend())
    found = execute(subject, program, [Placed(subject, ARRAY, arrangement)], arrangement)
    expected = np.broadcast_to(-ARRAY.sum(dim, keepdims=True), (3, 4))
    np.testing.assert_array_equal(found[0], expected)
