"""The starting values that linear and convolution layers share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from raxis.nn import init

if TYPE_CHECKING:
    from raxis.tensor import Tensor


def reset_affine(weight: Tensor, bias: Tensor | None) -> None:
    """Draw weight and bias uniformly from ±1/√fan_in."""
    init.kaiming_uniform_(weight, a=math.sqrt(5.0))
    if bias is not None:
        fan_in, _ = init.fans(weight)
        bound = 1.0 / math.sqrt(fan_in) if fan_in else 0.0
        init.uniform_(bias, -bound, bound)
