"""Drawing by rejection: candidates are drawn for all elements until each has been accepted once.

Everything is computed in float64: a decision that hangs on the last bit of a float32 would differ between backends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from raxis import dtypes
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.control import region
from raxis.ops.definitions.random import unit_interval_of
from raxis.ops.trace import constant, current_tracer, emit
from raxis.tensor import Tensor

Proposal = Callable[..., tuple[Tensor, Tensor]]
"""From uniform numbers and parameters: candidates, and which of them are accepted."""


def rejected(
    propose: Proposal, uniforms: int, parameters: Sequence[Tensor], wanted: Tensor | None = None
) -> Tensor:
    """Traced float64 candidates of `propose`, each the first that was accepted.

    The loop draws from a stream of its own, whose key is a random number: how long it runs changes nothing that is
    drawn later. `propose` must accept where no candidate can ever fit, such as at NaN.

    Args:
        propose: gets `uniforms` tensors of numbers of [0, 1) and the parameters.
        uniforms: how many random numbers a candidate needs.
        parameters: float64, of one shape.
        wanted: where to draw, bools; default: everywhere. Elsewhere the result is 0.
    """
    shape = tuple(parameters[0].shape)
    key = current_tracer().random_bits(dtypes.int64, ())
    carried = (
        key,
        constant(0, dtypes.int64),
        constant(True, dtypes.bool_, shape) if wanted is None else wanted,
        constant(0.0, dtypes.float64, shape),
        *parameters,
    )
    blocks = max(-(-math.prod(shape) // 2), 1)

    def again(key: Tensor, offset: Tensor, open: Tensor, value: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        drawn = [_uniform(key, offset + turn * blocks, shape) for turn in range(uniforms)]
        candidate, accepted = propose(*drawn, *rest)
        chosen = where(open, candidate, value)
        return key, offset + uniforms * blocks, open & ~accepted, chosen, *rest

    final: Any = emit("while", *carried, regions=(region(carried, _some_open), region(carried, again)))
    return final[3]


def _some_open(key: Tensor, offset: Tensor, open: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
    return (emit("reduce_or", open, dims=tuple(range(open.ndim))),)


def _uniform(key: Tensor, offset: Tensor, shape: tuple[int, ...]) -> Tensor:
    words = emit("random_bits", key, offset, dtype=dtypes.int64, shape=shape)
    return unit_interval_of(words, dtypes.float64)
