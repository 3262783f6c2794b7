"""Sums of products: generalised matrix multiplication and convolution.

float16 and bfloat16 accumulate in float32 and round once; integers wrap.
"""

from __future__ import annotations

from collections.abc import Sequence

from raxis.ptir.primitives.checks import require, require_length, require_same_dtype
from raxis.ptir.primitives.record import NUMERIC, Attributes, Primitive, Regions, Results, Types
from raxis.ptir.primitives.shaping import window_extent
from raxis.ptir.types import TensorType


def free_dims(rank: int, batch: Sequence[int], contract: Sequence[int]) -> tuple[int, ...]:
    """The dims of one operand that are neither batch nor contracted, in order."""
    return tuple(dim for dim in range(rank) if dim not in batch and dim not in contract)


def _dot_general(operands: Types, attributes: Attributes, _: Regions) -> Results:
    lhs, rhs = operands
    require_same_dtype("dot_general", operands)
    for side, operand in (("lhs", lhs), ("rhs", rhs)):
        dims = attributes[f"{side}_batch"] + attributes[f"{side}_contract"]
        require(
            len(set(dims)) == len(dims) and all(0 <= dim < operand.rank for dim in dims),
            f"dot_general expected distinct dims of {operand} in {side}_batch and {side}_contract, but got {dims}.",
        )
    for role in ("batch", "contract"):
        left = [lhs.shape[dim] for dim in attributes[f"lhs_{role}"]]
        right = [rhs.shape[dim] for dim in attributes[f"rhs_{role}"]]
        require(
            left == right,
            f"dot_general expected equal sizes in the {role} dims of {lhs} and {rhs}, but got {left} and {right}.",
        )
    shape = [lhs.shape[dim] for dim in attributes["lhs_batch"]]
    shape += [
        lhs.shape[dim] for dim in free_dims(lhs.rank, attributes["lhs_batch"], attributes["lhs_contract"])
    ]
    shape += [
        rhs.shape[dim] for dim in free_dims(rhs.rank, attributes["rhs_batch"], attributes["rhs_contract"])
    ]
    return (TensorType(lhs.dtype, tuple(shape)),)


def _convolution(operands: Types, attributes: Attributes, _: Regions) -> Results:
    image, weight = operands
    stride, padding, dilation, groups = (
        attributes[name] for name in ("stride", "padding", "dilation", "groups")
    )
    require_same_dtype("convolution", operands)
    require(
        image.rank >= 2 and image.rank == weight.rank,
        f"convolution expected [N, C, ...] and [O, C/groups, ...] of one rank, but got {image} and {weight}.",
    )
    for name, values in (("stride", stride), ("padding", padding), ("dilation", dilation)):
        require_length("convolution", name, values, image.rank - 2)
    require(
        all(number >= 1 for number in (*stride, *dilation, groups))
        and all(min(pair) >= 0 for pair in padding),
        f"convolution expected stride, dilation and groups >= 1 and padding >= 0, but got {stride}, {dilation}, "
        f"{groups} and {padding}.",
    )
    channels, outputs = image.shape[1], weight.shape[0]
    require(
        channels == weight.shape[1] * groups and outputs % groups == 0,
        f"convolution in {groups} groups expected weight [O, {channels}/{groups}, ...] with O divisible by "
        f"{groups}, but got input {image} and weight {weight}.",
    )
    spatial = []
    for size, kernel, (low, high), step, spread in zip(
        image.shape[2:], weight.shape[2:], padding, stride, dilation, strict=True
    ):
        room = low + size + high - window_extent(kernel, spread)
        require(
            room >= 0 and kernel >= 1,
            f"convolution expected a kernel that fits into the padded input, but got input {image}, "
            f"weight {weight}, padding {padding} and dilation {dilation}.",
        )
        spatial.append(room // step + 1)
    return (TensorType(image.dtype, (image.shape[0], outputs, *spatial)),)


_DOT_ATTRIBUTES = ("lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract")

PRIMITIVES = (
    Primitive("dot_general", "Products summed over the contracted dims, for every combination of the others; result "
              "dims: batch, rest of lhs, rest of rhs. A sum over no products is 0.",
              _dot_general, NUMERIC, arity=2, attributes=dict.fromkeys(_DOT_ATTRIBUTES, "ints")),
    Primitive("convolution", "Cross-correlation of [N, C, spatial...] with [O, C/groups, kernel...] over zero padding "
              "(low, high) per spatial dim; torch.nn.functional.conv2d without bias, in any rank.",
              _convolution, NUMERIC, arity=2,
              attributes={"stride": "ints", "padding": "pairs", "dilation": "ints", "groups": "int"}),
)  # fmt: skip
