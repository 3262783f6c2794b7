"""Correlation with a kernel, its transpose and their derivatives, in primitives.

All of them are one bilinear map. With C the correlation and T its transpose with respect to the input:
the gradients of ``C(x, w)`` are ``T(grad, w)`` and ``W(x, grad)``, those of ``T(x, w)`` are ``C(grad, w)`` and
``W(grad, x)``, and those of ``W(x, g)`` are ``T(g, grad)`` and ``C(x, grad)``: two ops are closed under derivation.
"""

from __future__ import annotations

from typing import Any

from raxis.layout import Layout
from raxis.ops.definitions.spatial import Sizes
from raxis.ops.formulas import conj, wide
from raxis.ops.table import lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor


def _input_gradient(
    grad: Tensor, weight: Tensor, input_layout: Layout, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, output_padding: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    if transposed:
        none = (0,) * len(stride)
        answer = convolution(grad, conj(weight), None, stride, padding, dilation, False, none, groups)
        return _cropped(answer, input_layout.shape)
    extra = _output_padding_for(input_layout.shape[2:], grad._layout.shape[2:], weight._layout.shape[2:], stride,
                                padding, dilation)  # fmt: skip
    return convolution(grad, conj(weight), None, stride, padding, dilation, True, extra, groups)


def _cropped(answer: Tensor, shape: Sizes) -> Tensor:
    """Without the places that exist only because output_padding is larger than the stride."""
    for dim, size in enumerate(shape):
        if answer._layout.shape[dim] != size:
            answer = answer.narrow(dim, 0, size)
    return answer


def _output_padding_for(
    sizes: Sizes, outputs: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> Sizes:
    """What a transposed convolution must add to give back inputs of these sizes."""
    shortest = _transposed_sizes(outputs, kernel, stride, padding, dilation, (0,) * len(stride))
    return tuple(size - least for size, least in zip(sizes, shortest, strict=True))


def _weight_gradient(
    grad: Tensor, input: Tensor, weight_layout: Layout, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, groups: int,
) -> Tensor:  # fmt: skip
    image, response = (grad, conj(input)) if transposed else (conj(input), grad)
    kernel = weight_layout.shape[2:]
    return _convolution_weight_gradient(image, response, kernel, stride, padding, dilation, groups)


@lowered(
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
    "bool transposed, int[] output_padding, int groups) -> Tensor",
    vjp={
        "input": _input_gradient,
        "weight": _weight_gradient,
        "bias": lambda grad: grad.sum((0, *range(2, grad.ndim))),
    },
    composite=True,
    method=False,
    out=False,
)
def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    """Cross-correlation of a batch of images with a kernel, or its transpose.

    Args:
        input: [N, C, spatial...].
        weight: [O, C/groups, kernel...]; transposed: [C, O/groups, kernel...].
        bias: [O], or None.
        stride: per spatial dimension.
        padding: zeros on both sides of each spatial dimension (transposed: results removed there).
        dilation: spacing of the kernel's elements.
        transposed: whether to apply the transpose, as `conv_transpose2d` does.
        output_padding: results added at the end of each spatial dimension; transposed only.
        groups: number of groups of channels that do not mix.

    Returns:
        [N, O, spatial...].

    Raises:
        RuntimeError: if shapes, dtypes or numbers do not fit together.

    Example:
        >>> import raxis
        >>> x, w = raxis.ones(1, 1, 3), raxis.ones(1, 1, 2)
        >>> raxis.convolution(x, w, None, [1], [0], [1], False, [0], 1)
        tensor([[[2., 2.]]])
    """
    _check(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    dtype = input.dtype
    image, kernel = wide(input), wide(weight)
    if transposed:
        result = _transposed(image, kernel, stride, padding, dilation, output_padding, groups)
    else:
        pairs = tuple((size, size) for size in padding)
        result = emit(
            "convolution", image, kernel, stride=stride, padding=pairs, dilation=dilation, groups=groups
        )
    if bias is not None:
        shape = result._layout.shape
        result = emit("add", result, emit("broadcast", wide(bias), shape=shape, dims=(1,)))
    return cast(result, dtype)


def _transposed(
    input: Tensor,
    weight: Tensor,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    """Correlation of the input, spread by the stride, with the kernel turned round."""
    kernel = weight._layout.shape[2:]
    reach = [spread * (size - 1) for size, spread in zip(kernel, dilation, strict=True)]
    low = [far - cut for far, cut in zip(reach, padding, strict=True)]
    high = [start + extra for start, extra in zip(low, output_padding, strict=True)]
    interior = tuple(step - 1 for step in stride)
    zero = constant(0, input.dtype)
    image = emit("pad", input, zero, low=(0, 0, *low), high=(0, 0, *high), interior=(0, 0, *interior))
    ones, none = (1,) * len(kernel), ((0, 0),) * len(kernel)
    turned = _turned(weight, groups)
    return emit("convolution", image, turned, stride=ones, padding=none, dilation=dilation, groups=groups)


def _turned(weight: Tensor, groups: int) -> Tensor:
    """[C, O/groups, kernel...] as [O, C/groups, kernel...] with the kernel reversed."""
    inputs, outputs, *kernel = weight._layout.shape
    rank = len(kernel)
    split = emit("reshape", weight, shape=(groups, inputs // groups, outputs, *kernel))
    swapped = emit("transpose", split, permutation=(0, 2, 1, *range(3, 3 + rank)))
    joined = emit("reshape", swapped, shape=(groups * outputs, inputs // groups, *kernel))
    return emit("reverse", joined, dims=tuple(range(2, 2 + rank)))


def _transposed_sizes(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes
) -> Sizes:
    """Spatial sizes of a transposed convolution's result."""
    return tuple(
        (size - 1) * step - 2 * cut + spread * (width - 1) + extra + 1
        for size, width, step, cut, spread, extra in zip(
            sizes, kernel, stride, padding, dilation, output_padding, strict=True
        )
    )


def _gradient_of_image(
    grad: Tensor, input_layout: Layout, response: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    extra = _output_padding_for(
        input_layout.shape[2:], response._layout.shape[2:], kernel_size, stride, padding, dilation
    )
    return convolution(response, grad, None, stride, padding, dilation, True, extra, groups)


def _gradient_of_response(
    grad: Tensor,
    input: Tensor,
    response_layout: Layout,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    answer = convolution(
        conj(input), grad, None, stride, padding, dilation, False, (0,) * len(stride), groups
    )
    return _cropped(answer, response_layout.shape)


@lowered(
    "_convolution_weight_gradient(Tensor input, Tensor response, int[] kernel_size, int[] stride, int[] padding, "
    "int[] dilation, int groups) -> Tensor",
    vjp={
        "input": lambda grad, input_layout, response, kernel_size, stride, padding, dilation, groups: (
            _gradient_of_image(
                grad, input_layout, conj(response), kernel_size, stride, padding, dilation, groups
            )
        ),
        "response": _gradient_of_response,
    },
    composite=True,
    method=False,
    function=False,
    out=False,
)
def _convolution_weight_gradient(
    input: Tensor,
    response: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Any:
    """Sum over batch and places of ``response[n, o, place] * input[n, c, window of place]``."""
    shape, outputs, places = input._layout.shape, response._layout.shape[1], response._layout.shape[2:]
    rank = len(places)
    grouped = emit("reshape", wide(input), shape=(shape[0], groups, shape[1] // groups, *shape[2:]))
    windows = _windows_at(grouped, places, kernel_size, stride, padding, dilation)
    answers = emit(
        "reshape", wide(response), shape=(response._layout.shape[0], groups, outputs // groups, *places)
    )
    summed = (0, *range(3, 3 + rank))
    # [groups, C/groups, kernel..., O/groups]: the kernel's columns times the responses, one matrix product.
    product = emit("dot_general", windows, answers, lhs_batch=(1,), rhs_batch=(1,), lhs_contract=summed,
                   rhs_contract=summed)  # fmt: skip
    moved = emit("transpose", product, permutation=(0, rank + 2, *range(1, rank + 2)))
    return cast(emit("reshape", moved, shape=(outputs, shape[1] // groups, *kernel_size)), input.dtype)


def _windows_at(
    grouped: Tensor, places: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> Tensor:
    """[N, groups, C/groups, places..., kernel...]: what each place of the result sees."""
    low, high = [0, 0, 0], [0, 0, 0]
    for size, count, width, step, before, spread in zip(
        grouped._layout.shape[3:], places, kernel_size, stride, padding, dilation, strict=True
    ):
        low.append(before)
        high.append(step * (count - 1) + spread * (width - 1) + 1 - size - before)
    windows = grouped
    if any(low) or any(high):
        windows = emit("pad", grouped, constant(0, grouped.dtype), low=tuple(low), high=tuple(high),
                       interior=(0,) * len(low))  # fmt: skip
    for axis, (width, step, spread) in enumerate(zip(kernel_size, stride, dilation, strict=True), 3):
        windows = emit("unfold", windows, dim=axis, size=width, step=step, dilation=spread)
    return windows


def _check(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, output_padding: Sizes, groups: int,
) -> None:  # fmt: skip
    """Raise RuntimeError unless the arguments of `convolution` fit together."""
    _check_dtypes(input, weight, bias)
    rank = weight.ndim - 2
    if rank < 1 or input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected an input of {weight.ndim} dimensions (batched) for a weight of size {list(weight.shape)}, but "
            f"got input of size: {list(input.shape)}."
        )
    for name, values in (("stride", stride), ("padding", padding), ("dilation", dilation)):
        if len(values) != rank:
            raise RuntimeError(f"expected {name} to be a single integer value or a list of {rank} values to match the "
                               f"convolution dimensions, but got {name}={list(values)}.")  # fmt: skip
    _check_numbers(stride, padding, dilation, output_padding, groups)
    if transposed:
        _check_transposed(input, weight, bias, stride, padding, dilation, output_padding, groups)
    else:
        _check_forward(input, weight, bias, padding, dilation, groups)


def _check_dtypes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    for name, operand in (("weight", weight), ("bias", bias)):
        if operand is not None and operand.dtype is not input.dtype:
            raise RuntimeError(
                f"Input type ({input.dtype}) and {name} type ({operand.dtype}) should be the same: convert one of them "
                "with .to(dtype)."
            )


def _check_numbers(
    stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes, groups: int
) -> None:
    if groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported, but got groups={groups}.")
    if min(stride) <= 0:
        raise RuntimeError(f"non-positive stride is not supported, but got stride={list(stride)}.")
    if min(padding) < 0:
        raise RuntimeError(f"negative padding is not supported, but got padding={list(padding)}.")
    if min(dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got dilation={list(dilation)}.")
    if min(output_padding, default=0) < 0:
        raise RuntimeError(f"negative output_padding is not supported, but got {list(output_padding)}.")


def _check_forward(
    input: Tensor, weight: Tensor, bias: Tensor | None, padding: Sizes, dilation: Sizes, groups: int
) -> None:
    shape, kernel = input._layout.shape, weight._layout.shape
    if kernel[0] % groups or kernel[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size {list(kernel)} instead"
        )
    if shape[1] != kernel[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(kernel)}, expected input{list(shape)} to have "
            f"{kernel[1] * groups} channels, but got {shape[1]} channels instead"
        )
    _check_bias(bias, kernel[0], weight)
    padded = [size + 2 * added for size, added in zip(shape[2:], padding, strict=True)]
    widths = [spread * (size - 1) + 1 for size, spread in zip(kernel[2:], dilation, strict=True)]
    if any(size < width for size, width in zip(padded, widths, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: {padded}. Kernel size: {widths}. Kernel size can't be greater "
            "than actual input size"
        )
    if 0 in kernel[2:]:
        raise RuntimeError(f"expected a kernel with elements, but got weight of size {list(kernel)}.")


def _check_transposed(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sizes, padding: Sizes, dilation: Sizes,
    output_padding: Sizes, groups: int,
) -> None:  # fmt: skip
    shape, kernel = input._layout.shape, weight._layout.shape
    if kernel[0] % groups or shape[1] != kernel[0]:
        raise RuntimeError(
            f"Given transposed=1, groups={groups}, weight of size {list(kernel)}, expected input{list(shape)} to have "
            f"{kernel[0]} channels (divisible by groups), but got {shape[1]} channels instead"
        )
    _check_bias(bias, kernel[1] * groups, weight)
    for extra, step, spread in zip(output_padding, stride, dilation, strict=True):
        if extra >= max(step, spread):
            raise RuntimeError(
                f"output padding must be smaller than either stride or dilation, but got output_padding "
                f"{list(output_padding)}, stride {list(stride)}, dilation {list(dilation)}."
            )
    sizes = _transposed_sizes(shape[2:], kernel[2:], stride, padding, dilation, output_padding)
    if min(sizes) <= 0:
        raise RuntimeError(
            f"Given input size per channel: {list(shape[2:])}. Calculated output size per channel: {list(sizes)}. "
            "Output size is too small"
        )


def _check_bias(bias: Tensor | None, outputs: int, weight: Tensor) -> None:
    if bias is not None and bias._layout.shape != (outputs,):
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {outputs} elements, "
            f"but got bias of size {list(bias.shape)} instead"
        )
