"""View and indexing ops on traced tensors record programs that compute what the eager ops give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raxis
from raxis import dtypes
from raxis.backends.reference.compiler import compile_program
from raxis.layout import contiguous_strides
from raxis.ops.trace import Tracer, tracing
from raxis.placement import as_device

CALLS: list[Callable[[Any], Any]] = [
    lambda x: x.view(4, -1), lambda x: x.reshape(-1), lambda x: x.expand(2, -1, -1, -1), lambda x: x.permute(2, 0, 1),
    lambda x: x.transpose(0, -1), lambda x: x.unsqueeze(-1), lambda x: x[:1].squeeze(0), lambda x: x.flatten(1),
    lambda x: x[0], lambda x: x[1:, None, ..., ::2], lambda x: x[..., -1], lambda x: x.narrow(1, 1, 2),
    lambda x: x.select(1, -1),
    lambda x: x.diagonal(1, 1, 2), lambda x: x.unfold(2, 2, 1),
    lambda x: x.split([1, 2], 1)[1],
    lambda x: x.unbind(2)[3], lambda x: x.chunk(2, 2)[0], lambda x: x.as_strided((2, 3), (1, 5), 2),
    lambda x: x.detach(),
    lambda x: x.movedim(0, 2), lambda x: x.mT, lambda x: x[0].T, lambda x: x.flip(0, 2), lambda x: x.roll(1, 2),
    lambda x: x.repeat(2, 1, 1), lambda x: x.tril(), lambda x: raxis.cat([x, x], 1), lambda x: raxis.stack([x, x], -1),
    lambda x: raxis.nn.functional.pad(x, (1, 2)), lambda x: x.masked_fill(x[0] == x, 3.0), lambda x: list(x)[1],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_traced_is_eager(number: int) -> None:
    call = CALLS[number]
    values = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    expected = call(raxis.tensor(values))
    tracer = Tracer("views", as_device("cpu"))
    with tracing(tracer):
        result = call(tracer.parameter(dtypes.float32, values.shape))
    assert result.shape == expected.shape
    program = tracer.builder.build([result._value], {})
    made = np.empty(expected.shape, np.float32)
    execute = compile_program(program, [contiguous_strides(values.shape)], [contiguous_strides(made.shape)])
    execute(values.reshape(-1).view(np.uint8), 0, made.reshape(-1).view(np.uint8), 0)
    assert made.tolist() == expected.tolist()
