"""Convolution as one matrix product of the unfolded image."""

from __future__ import annotations

from collections.abc import Sequence

from raxis.dtypes import Category
from raxis.overrides.library.composed import wide
from raxis.tensor import Tensor

Numbers = int | Sequence[int]


def is_plain(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> bool:  # fmt: skip
    """Whether a batch of real images is convolved in one group, with padding given as numbers."""
    numbers = not isinstance(padding, str)
    batch = input.ndim == weight.ndim == 4 and input.numel() > 0 and input.shape[1] == weight.shape[1]
    return numbers and batch and groups == 1 and input.dtype.category is Category.FLOAT


def by_matrix_product(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Every place's patch becomes a column (im2col); the kernels are the rows of the other factor."""
    from raxis.nn.functional import unfold

    kernel = weight.shape[2:]
    steps, pads, spreads = (_both(value) for value in (stride, padding, dilation))
    columns = unfold(wide(input), tuple(kernel), dilation=spreads, padding=pads, stride=steps)
    result = wide(weight).reshape(weight.shape[0], -1).matmul(columns)
    if bias is not None:
        result = result + wide(bias).unsqueeze(-1)
    places = [
        (size + 2 * pad - spread * (extent - 1) - 1) // step + 1
        for size, pad, spread, extent, step in zip(input.shape[2:], pads, spreads, kernel, steps, strict=True)
    ]
    return result.reshape(input.shape[0], weight.shape[0], *places).to(input.dtype)


def _both(value: Numbers | str) -> tuple[int, int]:
    """One number for both dimensions, or one for each."""
    if isinstance(value, int):
        return value, value
    first, *rest = (int(item) for item in value)
    return first, rest[0] if rest else first
