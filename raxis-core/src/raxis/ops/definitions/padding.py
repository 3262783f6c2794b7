"""Padding, and sliding blocks of images (im2col and col2im)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis import dtypes
from raxis.layout import Layout, Shape
from raxis.ops.definitions.factory import check_fits
from raxis.ops.definitions.positions import strided_positions
from raxis.ops.functional import functional
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, constant, emit
from raxis.ptir.attributes import number_type
from raxis.tensor import Tensor

# ---- padding ---------------------------------------------------------------------------------------


def _per_dimension(layout: Layout, pad: Shape) -> list[tuple[int, int]]:
    """(before, after) of every dimension, from PyTorch's list that starts with the last one."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * layout.ndim:
        raise RuntimeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {layout.ndim} dimensions."
        )
    pairs = [(pad[position], pad[position + 1]) for position in range(0, len(pad), 2)]
    return [(0, 0)] * (layout.ndim - len(pairs)) + pairs[::-1]


def _constant_padded(input: Tensor, pad: Shape, value: Any) -> Any:
    layout = input._layout
    pairs = _per_dimension(layout, pad)
    for size, (low, high) in zip(layout.shape, pairs, strict=True):
        if size + low + high < 0:
            raise RuntimeError(
                f"The input size {size}, plus negative padding {low} and {high}, resulted in a negative output size, "
                "which is invalid. Check the padding of each dimension of your input."
            )
    fill = value if isinstance(value, Tensor) else constant(value, layout.dtype)
    before, after = (tuple(pair[side] for pair in pairs) for side in (0, 1))
    return emit("pad", input, fill, low=before, high=after, interior=(0,) * layout.ndim)


@lowered(
    "_constant_pad(Tensor input, int[] pad, Scalar value=0) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    vjp={"input": lambda grad, pad: _constant_pad(grad, tuple(-amount for amount in pad))},
    method=False,
    function=False,
    out=False,
)
def _constant_pad(input: Tensor, pad: Shape, value: Any) -> Any:
    """`constant_pad_nd` of a number of the input's own category."""
    return _constant_padded(input, pad, value)


@composed("constant_pad_nd(Tensor input, int[] pad, Scalar value=0) -> Tensor", out=False)
def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """`input` with `value` before and after its last dimensions; negative amounts crop.

    Args:
        input: any shape.
        pad: amounts before and after the last dimension, then the one before it, and so on.
        value: a number.

    Raises:
        RuntimeError: if there are too many or an odd number of amounts, or they crop more than there is.
    """
    check_fits(value, input.dtype)
    number = number_type(input.dtype)(value)
    positive_zero = number == 0 and not str(number).startswith("-")
    return _constant_pad(input, tuple(pad), 0 if positive_zero else number)


def _reflected(position: int, first: int, last: int) -> int:
    position = max(position, 2 * first - position)
    return min(position, 2 * last - position)


_SOURCES: dict[str, Callable[[int, int, int], int]] = {
    "reflect": _reflected,
    "replicate": lambda position, first, last: min(max(position, first), last),
    "circular": lambda position, first, last: first + (position - first) % (last - first + 1),
}
"""Which element stands at a position, by mode, given the first and the last element that cropping leaves."""


def _source_index(mode: str, size: int, low: int, high: int) -> Any:
    bounds = (0, size - 1) if mode != "circular" else (max(-low, 0), size - 1 + min(high, 0))
    index = tuple(_SOURCES[mode](position, *bounds) for position in range(-low, size + high))
    return constant(0, dtypes.int64, (0,)) if not index else emit(
        "constant", value=index, dtype=dtypes.int64, shape=(len(index),))  # fmt: skip


def _pad_back(grad: Tensor, input_layout: Layout, pad: Shape, mode: str) -> Tensor:
    return _index_pad_gradient(grad, input_layout.shape, pad, mode)


@lowered(
    "_index_pad(Tensor input, int[] pad, str mode) -> Tensor",
    vjp={"input": _pad_back},
    method=False,
    function=False,
    out=False,
)
def _index_pad(input: Tensor, pad: Shape, mode: str) -> Any:
    """Padding with elements of `input` itself."""
    layout = input._layout
    for axis, (low, high) in enumerate(_per_dimension(layout, pad)):
        if low or high:
            input = emit("take", input, _source_index(mode, layout.shape[axis], low, high), dim=axis)
    return input


@lowered(
    "_index_pad_gradient(Tensor input, int[] size, int[] pad, str mode) -> Tensor",
    vjp={"input": lambda grad, pad, mode: _index_pad(grad, pad, mode)},
    method=False,
    function=False,
    out=False,
)
def _index_pad_gradient(input: Tensor, size: Shape, pad: Shape, mode: str) -> Any:
    """The sum, for every element of a tensor of shape `size`, over the places where `_index_pad` puts it."""
    pairs = [(pad[position], pad[position + 1]) for position in range(0, len(pad), 2)][::-1]
    lead = len(size) - len(pairs)
    for axis, (low, high) in enumerate(pairs, lead):
        if low or high:
            shape = input._layout.shape
            zeros = broadcast(constant(0, input.dtype), (*shape[:axis], size[axis], *shape[axis + 1 :]))
            index = _source_index(mode, size[axis], low, high)
            input = emit("put", zeros, index, input, dim=axis, reduce="add")
    return input


def _check_source(layout: Layout, pad: Shape, mode: str) -> None:
    dims = len(pad) // 2
    if len(pad) % 2 or not (1 <= dims <= 3 and layout.ndim in (dims + 1, dims + 2)):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now: 2, 4 or 6 amounts for inputs "
            f"with one or two more dimensions, but got {len(pad)} amounts for shape {list(layout.shape)}."
        )
    if 0 in layout.shape[1:]:
        raise RuntimeError(
            f"Expected {layout.ndim}D tensor with possibly 0 batch size and other non-zero dimensions for input, but "
            f"got: {list(layout.shape)}"
        )
    for axis, (low, high) in list(enumerate(_per_dimension(layout, pad)))[-dims:]:
        size = layout.shape[axis]
        if mode == "reflect" and max(low, high) >= size:
            raise RuntimeError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({low}, {high}) at dimension {axis} of input {list(layout.shape)}"
            )
        if mode == "circular" and max(low, high) > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + low + high < (0 if mode == "circular" else 1):
            raise RuntimeError(
                f"input (size {size} at dimension {axis}) is too small for padding ({low}, {high}): the result would "
                "be empty."
            )


@functional("pad(Tensor input, int[] pad, str mode='constant', float? value=None) -> Tensor")
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` with elements added before and after its last dimensions.

    Args:
        input: any shape; modes other than "constant" pad the last one to three dimensions of one or two more.
        pad: amounts before and after the last dimension, then the one before it, and so on; negative ones crop.
        mode: "constant", "reflect" (mirrored without the edge), "replicate" (the edge) or "circular".
        value: the number for "constant"; default 0.

    Raises:
        NotImplementedError: if the mode is unknown or does not go with the number of dimensions.
        RuntimeError: if the amounts do not go with the sizes.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.pad(raxis.tensor([[1, 2, 3]]), (1, 1), mode="reflect")
        tensor([[2, 1, 2, 3, 2]])
    """
    amounts = tuple(pad)
    if mode == "constant":
        return constant_pad_nd(input, amounts, 0 if value is None else value)
    if value is not None and value != 0:
        raise ValueError(f"Padding mode {mode!r} doesn't take in value argument, but got {value}.")
    if mode not in _SOURCES:
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}; expected constant, {', '.join(_SOURCES)}."
        )
    _check_source(input._layout, amounts, mode)
    return _index_pad(input, amounts, mode)


# ---- sliding blocks --------------------------------------------------------------------------------

Pair = tuple[int, int]


def _block_counts(size: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Pair:
    """How many blocks fit vertically and horizontally."""
    limits = (
        ("kernel_size", kernel, 1),
        ("dilation", dilation, 1),
        ("stride", stride, 1),
        ("padding", padding, 0),
    )
    for name, values, lowest in limits:
        if min(values) < lowest:
            wanted = "greater than zero" if lowest else "not negative"
            raise RuntimeError(f"{name} should be {wanted}, but got {values}")
    counts = tuple(
        (extent + 2 * border - spacing * (length - 1) - 1) // step + 1
        for extent, border, spacing, length, step in zip(size, padding, dilation, kernel, stride, strict=True)
    )
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
            f"stride={stride}, calculated shape of the array of sliding blocks as {counts}, but its components must be "
            "at least one."
        )
    return counts[0], counts[1]


def _block_positions(kernel: Pair, counts: Pair, dilation: Pair, stride: Pair, width: int) -> Any:
    """Flat positions in a padded image, by kernel row and column, block row and column."""
    shape = (*kernel, *counts)
    return strided_positions(shape, (dilation[0] * width, dilation[1], stride[0] * width, stride[1]), 0)


def _unfold_back(
    grad: Tensor, input_layout: Layout, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> Tensor:
    return _fold(grad, input_layout.shape[-2:], kernel_size, dilation, padding, stride)


@lowered(
    "_unfold(Tensor input, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
    vjp={"input": _unfold_back},
    method=False,
    function=False,
    out=False,
)
def _unfold(input: Tensor, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Any:
    """Sliding blocks of a batch of images, one a column."""
    batch, channels, *size = input._layout.shape
    counts = _block_counts((size[0], size[1]), kernel_size, dilation, padding, stride)
    border = (0, 0, *padding)
    padded = emit("pad", input, constant(0, input.dtype), low=border, high=border, interior=(0,) * 4)
    height, width = padded._layout.shape[2:]
    flat = emit("reshape", padded, shape=(batch, channels, height * width))
    blocks = emit("take", flat, _block_positions(kernel_size, counts, dilation, stride, width), dim=2)
    rows = channels * kernel_size[0] * kernel_size[1]
    return emit("reshape", blocks, shape=(batch, rows, counts[0] * counts[1]))


@lowered(
    "_fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride)"
    " -> Tensor",
    vjp={"input": lambda grad, kernel_size, dilation, padding, stride: _unfold(
        grad, kernel_size, dilation, padding, stride)},
    method=False,
    function=False,
    out=False,
)  # fmt: skip
def _fold(
    input: Tensor, output_size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> Any:
    """Images from their sliding blocks; where blocks overlap they sum."""
    batch, rows, columns = input._layout.shape
    counts = _block_counts(output_size, kernel_size, dilation, padding, stride)
    area = kernel_size[0] * kernel_size[1]
    if rows % area or columns != counts[0] * counts[1]:
        raise RuntimeError(
            f"Given output_size={output_size}, kernel_size={kernel_size}, dilation={dilation}, padding={padding}, "
            f"stride={stride}, expected input of shape (N, C * {area}, {counts[0] * counts[1]}), but got "
            f"{list(input._layout.shape)}"
        )
    channels = rows // area
    height, width = output_size[0] + 2 * padding[0], output_size[1] + 2 * padding[1]
    positions = _block_positions(kernel_size, counts, dilation, stride, width)
    updates = emit("reshape", input, shape=(batch, channels, area * columns))
    zeros = broadcast(constant(0, input.dtype), (batch, channels, height * width))
    flat = emit(
        "put", zeros, emit("reshape", positions, shape=(area * columns,)), updates, dim=2, reduce="add"
    )
    padded = emit("reshape", flat, shape=(batch, channels, height, width))
    border = (0, 0, -padding[0], -padding[1])
    return emit("pad", padded, constant(0, input.dtype), low=border, high=border, interior=(0,) * 4)


def _pair(value: Any) -> Pair:
    return (value, value) if isinstance(value, int) else (value[0], value[-1])


@functional(
    "unfold(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor"
)
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Sliding blocks of images: ``(N, C, H, W)`` to ``(N, C * kernel area, blocks)``.

    Args:
        input: a batch of images, or one image ``(C, H, W)``.
        kernel_size: height and width of a block.
        dilation: spacing of a block's elements.
        padding: zeros around the image.
        stride: spacing of blocks.

    Raises:
        RuntimeError: if no block fits.
    """
    layout = input._layout
    if layout.ndim not in (3, 4) or 0 in layout.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(layout.shape)}"
        )
    settings = (_pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))
    if layout.ndim == 4:
        return _unfold(input, *settings)
    return _unfold(input.unsqueeze(0), *settings).squeeze(0)


@functional(
    "fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1)"
    " -> Tensor"
)
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Images from sliding blocks, the transpose of `unfold`: overlapping blocks sum.

    Args:
        input: ``(N, C * kernel area, blocks)`` or without N.
        output_size: height and width of the images.
        kernel_size: height and width of a block.
        dilation: spacing of a block's elements.
        padding: zeros that were around the image.
        stride: spacing of blocks.

    Raises:
        RuntimeError: if the number of blocks or their size does not go with the image.
    """
    if input._layout.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2D or 3D (batch mode) tensor for input, but got: {list(input._layout.shape)}"
        )
    settings = (_pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))
    if input._layout.ndim == 3:
        return _fold(input, *settings)
    return _fold(input.unsqueeze(0), *settings).squeeze(0)
