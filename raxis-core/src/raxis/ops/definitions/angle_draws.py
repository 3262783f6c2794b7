"""Draws of angles: Best & Fisher, Efficient simulation of the von Mises distribution (1979)."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.random import check_float
from raxis.ops.definitions.rejection import rejected
from raxis.ops.table import Effect, lowered
from raxis.ops.trace import cast
from raxis.tensor import Tensor

_NEARLY_UNIFORM = 1e-5
"""Below this concentration the envelope's parameter comes from its series, where its formula cancels."""


def _propose(
    first: Tensor, second: Tensor, third: Tensor, concentration: Tensor, envelope: Tensor
) -> tuple[Tensor, Tensor]:
    """An angle of the wrapped Cauchy distribution."""
    z = (math.pi * first).cos()
    cosine = (1 + envelope * z) / (envelope + z)
    c = concentration * (envelope - cosine)
    accepted = (c * (2 - c) - second > 0) | ((c / second).log() + 1 - c >= 0)
    hopeless = ~((concentration > 0) & (concentration < math.inf))
    return (third - 0.5).sign() * cosine.clamp(-1, 1).acos(), accepted | hopeless


@lowered(
    "_standard_von_mises(Tensor input, Generator? generator=None) -> Tensor",
    function=False,
    out=False,
    effect=Effect.RANDOM,
)
def _standard_von_mises(input: Tensor) -> Any:
    """Angles around 0 with `input`'s concentrations."""
    check_float("_standard_von_mises", input.dtype)
    k = cast(input, dtypes.float64)
    tau = 1 + (1 + 4 * k * k).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * k)
    envelope = where(k < _NEARLY_UNIFORM, 1 / k + k, (1 + rho * rho) / (2 * rho))
    return cast(rejected(_propose, 3, [k, envelope]), input.dtype)
