"""Convolutions whose kernels are single elements: products of the weight with every image, where these lie."""

from __future__ import annotations

from math import prod

from raxis.backends.api import Executable
from raxis.dtypes import DType
from raxis_cpu.library.block_products import by_blocks
from raxis_cpu.library.problems import Batch, Matrix, Problem
from raxis_cpu.library.sliding_planes import Sizes

_FEWEST = 16
"""With fewer channels or outputs, packing an image would cost more than it saves."""


def pointwise(sizes: Sizes, dtype: DType, *, transposed: bool, has_bias: bool) -> Executable | None:
    """The built-in for dense image, weight, perhaps bias, and result; None for other convolutions.

    Args:
        sizes: of the convolution.
        dtype: float32 or float64.
        transposed: whether weights are [groups * channels, outputs], not [groups * outputs, channels].
        has_bias: whether there is a bias.
    """
    single = prod(sizes.kernel) == prod(sizes.step) == 1 and not any(sizes.before)
    if not single or min(sizes.channels, sizes.outputs) < _FEWEST:
        return None
    places, weights = prod(sizes.image), sizes.channels * sizes.outputs
    strides = (
        (0, weights),
        (sizes.groups * sizes.channels * places, sizes.channels * places),
        (sizes.groups * sizes.outputs * places, sizes.outputs * places),
    )
    batch = Batch((sizes.images, sizes.groups), strides)
    left = Matrix(transposed, sizes.outputs if transposed else sizes.channels)
    planes = Matrix(False, places)
    problem = Problem(batch, sizes.outputs, places, sizes.channels, left, planes, planes)
    starts = batch.starts()
    if has_bias:
        biases = [group * sizes.outputs for _ in range(sizes.images) for group in range(sizes.groups)]
        starts = [
            number for item, bias in enumerate(biases) for number in (*starts[3 * item : 3 * item + 3], bias)
        ]
    return by_blocks(dtype, problem, 1, starts, has_bias=has_bias)
