"""Regions of control primitives, traced from Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raxis.ops.trace import Tracer, current_tracer, tracing
from raxis.ptir.program import Region
from raxis.tensor import Tensor


def region(operands: Sequence[Tensor], body: Callable[..., tuple[Tensor, ...]]) -> Region:
    """`body` traced on stand-ins for `operands`; it may use nothing else that is traced."""
    tracer = Tracer("region", current_tracer().device)
    with tracing(tracer):
        results = body(*[tracer.parameter(operand.dtype, tuple(operand.shape)) for operand in operands])
    return tracer.builder.region([result._value for result in results])  # type: ignore[attr-defined]
