"""Max and average pooling, adaptive pooling, unpooling: the public functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from raxis.dtypes import int64
from raxis.ops.definitions.spatial import Numbers, Sizes, per_dimension, register_by_rank
from raxis.ops.definitions.windows import average_pool, max_pool, put_places, window_places
from raxis.ops.functional import functional, shared
from raxis.tensor import Tensor


def check_input(name: str, input: Tensor, rank: int) -> None:
    """Raise RuntimeError unless `input` is [C, spatial...] or [N, C, spatial...] with `rank` spatial dimensions."""
    shape = input._layout.shape
    if len(shape) not in (rank + 1, rank + 2) or 0 in shape[len(shape) - rank - 1 :]:
        raise RuntimeError(
            f"{name}: Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got: {list(shape)}"
        )


def _windows(
    name: str, rank: int, kernel_size: Numbers, stride: Any, padding: Numbers, dilation: Numbers
) -> tuple[Sizes, ...]:
    """Kernel, stride, padding and dilation, one number per dimension."""
    kernel = per_dimension(kernel_size, rank)
    steps = kernel if stride is None or stride in ((), []) else per_dimension(stride, rank)
    pads, spreads = per_dimension(padding, rank), per_dimension(dilation, rank)
    for label, values in (
        ("kernel_size", kernel),
        ("stride", steps),
        ("padding", pads),
        ("dilation", spreads),
    ):
        if len(values) != rank:
            raise RuntimeError(
                f"{name}: {label} must be one number or {rank} of them, but got {list(values)}."
            )
    if min(kernel) <= 0 or min(steps) <= 0 or min(spreads) <= 0:
        raise RuntimeError(
            f"{name}: kernel_size, stride and dilation must be greater than zero, but got {list(kernel)}, "
            f"{list(steps)} and {list(spreads)}."
        )
    for width, before, spread in zip(kernel, pads, spreads, strict=True):
        if before < 0 or before > ((width - 1) * spread + 1) // 2:
            raise RuntimeError(
                f"{name}: pad must be non-negative and at most half of effective kernel size, but got pad={before}, "
                f"kernel_size={width} and dilation={spread}"
            )
    return kernel, steps, pads, spreads


def _maximum(
    rank: int, input: Tensor, kernel_size: Numbers, stride: Any, padding: Numbers, dilation: Numbers, ceil_mode: bool,
    return_indices: bool,
) -> Any:  # fmt: skip
    name = f"max_pool{rank}d"
    windows = _windows(name, rank, kernel_size, stride, padding, dilation)
    check_input(name, input, rank)
    values = max_pool(input, *windows, ceil_mode)
    return (values, window_places(input, *windows, ceil_mode)) if return_indices else values


def _average(
    rank: int, input: Tensor, kernel_size: Numbers, stride: Any, padding: Numbers, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Tensor:  # fmt: skip
    name = f"avg_pool{rank}d"
    kernel, steps, pads, _ = _windows(name, rank, kernel_size, stride, padding, 1)
    check_input(name, input, rank)
    if divisor_override == 0:
        raise RuntimeError(f"{name}: divisor must be not zero")
    return average_pool(input, kernel, steps, pads, ceil_mode, count_include_pad, divisor_override)


_MAX_POOL = """The greatest element of every window of the last {n} dimension(s).

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        kernel_size: size of the window, one number or one per dimension.
        stride: step between windows; default: `kernel_size`.
        padding: elements that never win, added on both sides; at most half the window.
        dilation: spacing of the window's elements.
        ceil_mode: let the last window reach beyond the padding.
        return_indices: also return each winner's position in the row-major order of the pooled dimensions.

    Raises:
        RuntimeError: if the numbers do not fit the input.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.max_pool{n}d(raxis.ones(1, 1, {fours}), 2).shape
        raxis.Size([1, 1, {twos}])
    """


def _max_pool_of(rank: int) -> Any:
    def body(
        input: Tensor, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        return _maximum(rank, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)

    schema = (
        "max_pool{n}d(Tensor input, int[{n}] kernel_size, int[{n}]? stride=None, int[{n}] padding=0, "
        "int[{n}] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor"
    )
    return register_by_rank(shared, schema, body, _MAX_POOL, rank)


_AVERAGE_POOL = """The mean of every window of the last {n} dimension(s).

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        kernel_size: size of the window, one number or one per dimension.
        stride: step between windows; default: `kernel_size`.
        padding: zeros added on both sides; at most half the window.
        ceil_mode: let the last window reach beyond the padding.
        count_include_pad: whether padding counts as elements of the mean.
        divisor_override: divide by it instead of the number of elements.

    Raises:
        RuntimeError: if the numbers do not fit the input.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.avg_pool{n}d(raxis.ones(1, 1, {fours}), 2).shape
        raxis.Size([1, 1, {twos}])
    """


@shared(
    "avg_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, bool ceil_mode=False, "
    "bool count_include_pad=True) -> Tensor"
)
def avg_pool1d(
    input: Tensor, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of every window of the last dimension.

    Args:
        input: [N, C, L] or [C, L].
        kernel_size: size of the window.
        stride: step between windows; default: `kernel_size`.
        padding: zeros added on both sides; at most half the window.
        ceil_mode: let the last window reach beyond the padding.
        count_include_pad: whether padding counts as elements of the mean.

    Raises:
        RuntimeError: if the numbers do not fit the input.

    Example:
        >>> import raxis
        >>> raxis.avg_pool1d(raxis.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
        tensor([[2., 6.]])
    """
    return _average(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def _average_pool_of(rank: int) -> Any:
    def body(
        input: Tensor, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> Tensor:  # fmt: skip
        return _average(
            rank, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )

    schema = (
        "avg_pool{n}d(Tensor input, int[{n}] kernel_size, int[{n}]? stride=None, int[{n}] padding=0, "
        "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"
    )
    return register_by_rank(partial(functional, out=True), schema, body, _AVERAGE_POOL, rank)


max_pool1d, max_pool2d, max_pool3d = (_max_pool_of(rank) for rank in (1, 2, 3))
avg_pool2d, avg_pool3d = (_average_pool_of(rank) for rank in (2, 3))


# ---- unpooling and power means ---------------------------------------------------------------------


_UNPOOL = """Puts every element at its place in a larger tensor of zeros: a partial inverse of `max_pool{n}d`.

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        indices: places as `max_pool{n}d` returns them, same shape, int64.
        kernel_size: size of the window.
        stride: step between windows; default: `kernel_size`.
        padding: what the pooling added on both sides.
        output_size: sizes of the result; default: the smallest that `max_pool{n}d` would reduce to the input.

    Raises:
        RuntimeError: if shapes, dtypes or sizes do not fit together, or a place is outside.

    Example:
        >>> import raxis
        >>> F = raxis.nn.functional
        >>> values, places = F.max_pool{n}d(raxis.ones(1, 1, {fours}), 2, return_indices=True)
        >>> F.max_unpool{n}d(values, places, 2).shape
        raxis.Size([1, 1, {fours}])
    """


def _unpool_of(rank: int) -> Any:
    def body(
        input: Tensor, indices: Tensor, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:  # fmt: skip
        return _unpool(rank, input, indices, kernel_size, stride, padding, output_size)

    schema = (
        "max_unpool{n}d(Tensor input, Tensor indices, int[{n}] kernel_size, int[{n}]? stride=None, "
        "int[{n}] padding=0, int[]? output_size=None) -> Tensor"
    )
    return register_by_rank(functional, schema, body, _UNPOOL, rank)


def _unpool(
    rank: int, input: Tensor, indices: Tensor, kernel_size: Numbers, stride: Any, padding: Numbers,
    output_size: Sequence[int] | None,
) -> Tensor:  # fmt: skip
    name = f"max_unpool{rank}d"
    kernel, steps, pads, _ = _windows(name, rank, kernel_size, stride, padding, 1)
    check_input(name, input, rank)
    if indices.dtype is not int64:
        raise RuntimeError(f"{name}: elements in indices should be type int64 but got: {indices.dtype}")
    if indices._layout.shape != input._layout.shape:
        raise RuntimeError(
            f"{name}: Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
            f"indices tensor with shape: {list(indices.shape)}"
        )
    sizes = _unpooled_sizes(name, input._layout.shape[input.ndim - rank :], kernel, steps, pads, output_size)
    try:
        return put_places(input, indices, sizes, False)
    except IndexError as error:
        raise RuntimeError(
            f"{name}: found an invalid max index for output size {list(sizes)}: {error}"
        ) from error


def _unpooled_sizes(
    name: str, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, output_size: Sequence[int] | None
) -> Sizes:
    least = tuple(
        (size - 1) * step + width - 2 * before
        for size, width, step, before in zip(sizes, kernel, stride, padding, strict=True)
    )
    if output_size is None:
        return least
    given = tuple(output_size)[-len(sizes) :]
    if len(output_size) not in (len(sizes), len(sizes) + 1, len(sizes) + 2):
        raise ValueError(
            f"{name}: output_size should have {len(sizes)} or {len(sizes) + 2} elements, but it is "
            f"{list(output_size)}"
        )
    for wanted, size, step in zip(given, least, stride, strict=True):
        if not size - step < wanted < size + step:
            raise ValueError(
                f"{name}: invalid output_size {list(given)} (each must be within {list(stride)} of {list(least)})"
            )
    return given


_POWER = """The p-norm of every window: ``(sum(x ** norm_type)) ** (1 / norm_type)``.

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        norm_type: the power p.
        kernel_size: size of the window, one number or one per dimension.
        stride: step between windows; default: `kernel_size`.
        ceil_mode: let the last window reach beyond the input.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.lp_pool{n}d(raxis.ones(1, 1, {fours}), 1, 2).shape
        raxis.Size([1, 1, {twos}])
    """


def _power_pool_of(rank: int) -> Any:
    def body(
        input: Tensor,
        norm_type: float,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        ceil_mode: bool = False,
    ) -> Tensor:
        kernel, steps, pads, _ = _windows(f"lp_pool{rank}d", rank, kernel_size, stride, 0, 1)
        check_input(f"lp_pool{rank}d", input, rank)
        mean: Tensor = average_pool(input.pow(norm_type), kernel, steps, pads, ceil_mode, True, None)
        return (mean * prod(kernel)).pow(1.0 / norm_type)

    schema = (
        "lp_pool{n}d(Tensor input, float norm_type, int[{n}] kernel_size, int[{n}]? stride=None, "
        "bool ceil_mode=False) -> Tensor"
    )
    return register_by_rank(functional, schema, body, _POWER, rank)


max_unpool1d, max_unpool2d, max_unpool3d = (_unpool_of(rank) for rank in (1, 2, 3))
lp_pool1d, lp_pool2d, lp_pool3d = (_power_pool_of(rank) for rank in (1, 2, 3))
