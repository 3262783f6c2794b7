"""Convolutions over one, two and three dimensions, and their transposes: the public functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.ops.definitions.correlation import convolution
from raxis.ops.definitions.padding import pad
from raxis.ops.definitions.spatial import Numbers, Sizes, per_dimension, register_by_rank
from raxis.ops.functional import shared
from raxis.tensor import Tensor


def _batched(name: str, rank: int, input: Tensor, apply: Callable[[Tensor], Tensor]) -> Tensor:
    """`apply` to an input [N, C, spatial...]; a single one [C, spatial...] gets a batch of one."""
    ndim = input._layout.ndim
    if ndim == rank + 2:
        return apply(input)
    if ndim != rank + 1:
        raise RuntimeError(
            f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got input of size: "
            f"{list(input.shape)}"
        )
    return apply(input.unsqueeze(0)).squeeze(0)


def _convolve(
    rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Numbers, padding: Numbers | str,
    dilation: Numbers, groups: int,
) -> Tensor:  # fmt: skip
    steps, spreads = per_dimension(stride, rank), per_dimension(dilation, rank)
    if isinstance(padding, str):
        input, padding = _padded(input, weight, steps, padding, spreads)
    pads = per_dimension(padding, rank)
    none = (0,) * rank
    return _batched(f"conv{rank}d", rank, input, lambda image: convolution(
        image, weight, bias, steps, pads, spreads, False, none, groups))  # fmt: skip


def _padded(
    input: Tensor, weight: Tensor, stride: Sizes, padding: str, dilation: Sizes
) -> tuple[Tensor, Numbers]:
    """The input with the uneven part of "same" padding in place, and the even part as numbers."""
    if padding == "valid":
        return input, 0
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: {padding!r}; expected 'valid' or 'same'.")
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    if weight.ndim != len(dilation) + 2:
        raise RuntimeError(
            f"expected a weight of {len(dilation) + 2} dimensions, but got size {list(weight.shape)}."
        )
    totals = [spread * (size - 1) for size, spread in zip(weight.shape[2:], dilation, strict=True)]
    if any(total % 2 for total in totals):
        input = pad(input, [side for total in reversed(totals) for side in (0, total % 2)])
    return input, [total // 2 for total in totals]


def _convolve_transposed(
    rank: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Numbers, padding: Numbers,
    output_padding: Numbers, groups: int, dilation: Numbers,
) -> Tensor:  # fmt: skip
    steps, pads, extras, spreads = (
        per_dimension(value, rank) for value in (stride, padding, output_padding, dilation)
    )
    return _batched(f"conv_transpose{rank}d", rank, input, lambda image: convolution(
        image, weight, bias, steps, pads, spreads, True, extras, groups))  # fmt: skip


_FORWARD = """Cross-correlation with a kernel over the last {n} dimension(s).

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        weight: [O, C/groups, {kernel}].
        bias: [O].
        stride: step between places, one number or one per dimension.
        padding: zeros added on both sides, or "valid" (none), or "same" (results as large as the input).
        dilation: spacing of the kernel's elements.
        groups: number of groups of channels that do not mix.

    Returns:
        [N, O, {result}] or [O, {result}].

    Raises:
        RuntimeError: if shapes, dtypes or numbers do not fit together.

    Example:
        >>> import raxis
        >>> raxis.conv{n}d(raxis.ones(1, 1, {fours}), raxis.ones(1, 1, {threes}), padding="same").shape
        raxis.Size([1, 1, {fours}])
    """


def _forward_of(rank: int) -> Any:
    def body(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1, padding: Numbers | str = 0,
        dilation: Numbers = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        return _convolve(rank, input, weight, bias, stride, padding, dilation, groups)

    schema = (
        "conv{n}d(Tensor input, Tensor weight, Tensor? bias=None, int[{n}] stride=1, int|str padding=0, "
        "int[{n}] dilation=1, int groups=1) -> Tensor"
    )
    return register_by_rank(shared, schema, body, _FORWARD, rank)


_TRANSPOSED = """Transpose of `conv{n}d`: every input element adds its multiple of the kernel to the result.

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        weight: [C, O/groups, {kernel}].
        bias: [O].
        stride: spacing of the input's elements in the result, one number or one per dimension.
        padding: results removed on both sides.
        output_padding: results added at the end.
        groups: number of groups of channels that do not mix.
        dilation: spacing of the kernel's elements.

    Returns:
        [N, O, {result}] or [O, {result}].

    Raises:
        RuntimeError: if shapes, dtypes or numbers do not fit together.

    Example:
        >>> import raxis
        >>> raxis.conv_transpose{n}d(raxis.ones(1, 1, {fours}), raxis.ones(1, 1, {threes}), stride=2).shape
        raxis.Size([1, 1, {nines}])
    """


def _transposed_of(rank: int) -> Any:
    def body(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1, padding: Numbers = 0,
        output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
    ) -> Tensor:  # fmt: skip
        return _convolve_transposed(
            rank, input, weight, bias, stride, padding, output_padding, groups, dilation
        )

    schema = (
        "conv_transpose{n}d(Tensor input, Tensor weight, Tensor? bias=None, int[{n}] stride=1, int[{n}] padding=0, "
        "int[{n}] output_padding=0, int groups=1, int[{n}] dilation=1) -> Tensor"
    )
    return register_by_rank(shared, schema, body, _TRANSPOSED, rank)


conv1d, conv2d, conv3d = (_forward_of(rank) for rank in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_transposed_of(rank) for rank in (1, 2, 3))
