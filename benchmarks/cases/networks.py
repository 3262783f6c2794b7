"""Functions of neural networks, forward and forward with backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.cases.case import Call, Case, tensor, values

Work = Callable[..., Any]


def _forward(work: Work, arrays: tuple[np.ndarray, ...], lib: ModuleType) -> Call:
    return partial(work, lib, *[tensor(lib, array) for array in arrays])


def _both(work: Work, arrays: tuple[np.ndarray, ...], lib: ModuleType) -> Call:
    leaves = [tensor(lib, array, grad=array.dtype.kind == "f") for array in arrays]
    # Ones would not do: a normalised batch does not depend on its sum, and its gradient would be noise.
    gradient = tensor(lib, values(tuple(work(lib, *leaves).shape), seed=3))

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        work(lib, *leaves).backward(gradient)
        return leaves[0].grad

    return step


def _f(name: str, *more: Any, **options: Any) -> Work:
    return lambda lib, *tensors: getattr(lib.nn.functional, name)(*tensors, *more, **options)


NORMALISED: dict[str, tuple[Work, Callable[[int, int], tuple[np.ndarray, ...]]]] = {
    "softmax": (_f("softmax", -1), lambda r, c: (values((r, c)),)),
    "log_softmax": (_f("log_softmax", -1), lambda r, c: (values((r, c)),)),
    "layer_norm": (
        lambda lib, x, w, b: lib.nn.functional.layer_norm(x, (x.shape[-1],), w, b),
        lambda r, c: (values((r, c)), values((c,)), values((c,))),
    ),
    "rms_norm": (
        lambda lib, x, w: lib.nn.functional.rms_norm(x, (x.shape[-1],), w),
        lambda r, c: (values((r, c)), values((c,))),
    ),
    "cross_entropy": (_f("cross_entropy"), lambda r, c: (values((r, c)), values((r,), "int64", 0, c))),
    "mse_loss": (_f("mse_loss"), lambda r, c: (values((r, c)), values((r, c), seed=1))),
    "gelu": (_f("gelu"), lambda r, c: (values((r, c)),)),
    "relu": (_f("relu"), lambda r, c: (values((r, c)),)),
    "binary_cross_entropy_with_logits": (
        _f("binary_cross_entropy_with_logits"),
        lambda r, c: (values((r, c)), values((r, c), seed=1, low=0, high=1)),
    ),
}  # fmt: skip
ROWS = ((4, 16), (64, 128), (512, 1024))

IMAGES: dict[str, tuple[Work, tuple[np.ndarray, ...]]] = {
    "conv2d 3x3 (1, 64, 56, 56)": (_f("conv2d", padding=1), (values((1, 64, 56, 56)), values((64, 64, 3, 3)))),
    "conv2d 3x3 (8, 64, 28, 28)": (_f("conv2d", padding=1), (values((8, 64, 28, 28)), values((64, 64, 3, 3)))),
    "conv2d 1x1 (8, 64, 28, 28)": (_f("conv2d"), (values((8, 64, 28, 28)), values((128, 64, 1, 1)))),
    "conv2d 3x3 (64, 1, 28, 28)": (_f("conv2d"), (values((64, 1, 28, 28)), values((16, 1, 3, 3)))),
    "conv2d 7x7 stride 2 (1, 3, 224, 224)": (
        _f("conv2d", stride=2, padding=3), (values((1, 3, 224, 224)), values((64, 3, 7, 7)))
    ),
    "conv2d 3x3 stride 2 (8, 64, 56, 56)": (
        _f("conv2d", stride=2, padding=1), (values((8, 64, 56, 56)), values((128, 64, 3, 3)))
    ),
    "conv2d 1x1 stride 2 (8, 64, 56, 56)": (
        _f("conv2d", stride=2), (values((8, 64, 56, 56)), values((128, 64, 1, 1)))
    ),
    "conv2d 5x5 (8, 32, 28, 28)": (_f("conv2d", padding=2), (values((8, 32, 28, 28)), values((64, 32, 5, 5)))),
    "conv2d dilated (4, 64, 28, 28)": (
        _f("conv2d", padding=2, dilation=2), (values((4, 64, 28, 28)), values((64, 64, 3, 3)))
    ),
    "conv2d 4 groups (4, 64, 28, 28)": (
        _f("conv2d", padding=1, groups=4), (values((4, 64, 28, 28)), values((64, 16, 3, 3)))
    ),
    "conv2d depthwise (4, 64, 56, 56)": (
        _f("conv2d", padding=1, groups=64), (values((4, 64, 56, 56)), values((64, 1, 3, 3)))
    ),
    "conv2d depthwise stride 2 (4, 64, 56, 56)": (
        _f("conv2d", stride=2, padding=1, groups=64), (values((4, 64, 56, 56)), values((64, 1, 3, 3)))
    ),
    "conv1d (8, 32, 256)": (_f("conv1d", padding=1), (values((8, 32, 256)), values((32, 32, 3)))),
    "conv1d (8, 64, 1024)": (_f("conv1d", padding=2), (values((8, 64, 1024)), values((128, 64, 5)))),
    "conv1d stride 4 (4, 1, 16000)": (_f("conv1d", stride=4), (values((4, 1, 16000)), values((64, 1, 16)))),
    "conv3d (2, 16, 16, 28, 28)": (
        _f("conv3d", padding=1), (values((2, 16, 16, 28, 28)), values((32, 16, 3, 3, 3)))
    ),
    "conv_transpose2d 2x2 stride 2 (4, 64, 28, 28)": (
        _f("conv_transpose2d", stride=2), (values((4, 64, 28, 28)), values((64, 32, 2, 2)))
    ),
    "conv_transpose2d 4x4 stride 2 (4, 64, 14, 14)": (
        _f("conv_transpose2d", stride=2, padding=1), (values((4, 64, 14, 14)), values((64, 32, 4, 4)))
    ),
    "max_pool2d (8, 64, 28, 28)": (_f("max_pool2d", 2), (values((8, 64, 28, 28)),)),
    "max_pool2d 3x3 stride 2 (8, 64, 112, 112)": (_f("max_pool2d", 3, 2, 1), (values((8, 64, 112, 112)),)),
    "max_pool1d (8, 64, 1024)": (_f("max_pool1d", 2), (values((8, 64, 1024)),)),
    "avg_pool2d (8, 64, 28, 28)": (_f("avg_pool2d", 2), (values((8, 64, 28, 28)),)),
    "avg_pool2d 3x3 stride 2 (8, 64, 56, 56)": (_f("avg_pool2d", 3, 2, 1), (values((8, 64, 56, 56)),)),
    "avg_pool3d (8, 16, 16, 16, 16)": (_f("avg_pool3d", 2), (values((8, 16, 16, 16, 16)),)),
    "adaptive_avg_pool2d to 1 (8, 512, 7, 7)": (_f("adaptive_avg_pool2d", 1), (values((8, 512, 7, 7)),)),
    "adaptive_avg_pool2d to 6 (8, 64, 16, 16)": (_f("adaptive_avg_pool2d", 6), (values((8, 64, 16, 16)),)),
    "adaptive_max_pool2d to 5 (8, 64, 28, 28)": (_f("adaptive_max_pool2d", 5), (values((8, 64, 28, 28)),)),
    "batch_norm (8, 64, 28, 28)": (
        lambda lib, x, w, b: lib.nn.functional.batch_norm(x, None, None, w, b, training=True),
        (values((8, 64, 28, 28)), values((64,)), values((64,))),
    ),
    "group_norm (8, 64, 28, 28)": (
        lambda lib, x, w, b: lib.nn.functional.group_norm(x, 8, w, b),
        (values((8, 64, 28, 28)), values((64,)), values((64,))),
    ),
}  # fmt: skip

IMAGES |= {
    f"resnet18 3x3 ({batch}, {channels}, {side}, {side})": (
        _f("conv2d", padding=1),
        (values((batch, channels, side, side)), values((channels, channels, 3, 3), low=-1, high=1)),
    )
    for batch in (1, 32)
    for channels, side in ((64, 56), (128, 28), (256, 14), (512, 7))
}


IMAGES |= {
    f"conv2d {kernel}x{kernel} {inputs}->{outputs} ({batch}, {side}, {side})": (
        _f("conv2d", padding=padding),
        (
            values((batch, inputs, side, side)),
            values((outputs, inputs, kernel, kernel), low=-1, high=1),
        ),
    )
    for batch, inputs, outputs, side, kernel, padding in (
        (1, 4, 4, 8, 3, 1), (32, 32, 32, 8, 3, 1), (32, 1, 32, 28, 3, 0), (32, 32, 64, 26, 3, 0),
        (64, 1, 16, 28, 3, 1), (64, 16, 32, 14, 3, 1), (64, 16, 32, 13, 3, 1), (64, 16, 32, 12, 3, 0),
        (64, 32, 64, 7, 3, 1), (64, 3, 16, 32, 3, 1), (64, 3, 32, 28, 5, 0), (64, 1, 8, 28, 5, 0),
        (64, 16, 32, 28, 1, 0), (128, 1, 16, 28, 5, 2), (128, 16, 32, 14, 5, 2),
    )
}  # fmt: skip
IMAGES |= {
    f"max_pool2d ({batch}, {channels}, {side}, {side})": (
        _f("max_pool2d", 2),
        (values((batch, channels, side, side)),),
    )
    for batch, channels, side in ((64, 16, 28), (64, 32, 14), (64, 32, 13))
}


def _attention(batch: int, heads: int, length: int, width: int) -> tuple[np.ndarray, ...]:
    return tuple(values((batch, heads, length, width), seed=seed) for seed in range(3))


def _attention_variants() -> Iterator[Case]:
    """Masks, fewer heads of keys, dropout."""
    query, key, value = _attention(4, 6, 256, 64)
    masked, grouped, dropped = (
        _f("scaled_dot_product_attention", **options)
        for options in ({}, {"enable_gqa": True}, {"dropout_p": 0.1})
    )
    few = (query, key[:, :2].copy(), value[:, :2].copy())
    mask = values((256, 256), "bool")
    for label, work, arrays in (
        ("attention under a bool mask", masked, (query, key, value, mask)),
        ("attention, 6 heads on 2", grouped, few),
        ("attention with dropout", dropped, (query, key, value)),
    ):
        compare = work is not dropped
        yield Case("attention", label, partial(_forward, work, arrays), query.size, compare=compare)
        yield Case(
            "attention backward",
            f"{label} fwd+bwd",
            partial(_both, work, arrays),
            query.size,
            compare=compare,
        )


def cases() -> Iterator[Case]:
    """All neural network cases."""
    for rows, columns in ROWS:
        for name, (work, make) in NORMALISED.items():
            arrays = make(rows, columns)
            label = f"{name} {rows}x{columns}"
            yield Case("network", label, partial(_forward, work, arrays), rows * columns)
            yield Case("network backward", f"{label} fwd+bwd", partial(_both, work, arrays), rows * columns)
    for name, (work, arrays) in IMAGES.items():
        yield Case("image", name, partial(_forward, work, arrays), arrays[0].size)
        yield Case("image backward", f"{name} fwd+bwd", partial(_both, work, arrays), arrays[0].size)
    for shape in ((1, 2, 16, 16), (4, 6, 256, 64)):
        arrays = _attention(*shape)
        for causal in (False, True):
            work = _f("scaled_dot_product_attention", is_causal=causal)
            label = f"attention {shape}{' causal' if causal else ''}"
            yield Case("attention", label, partial(_forward, work, arrays), arrays[0].size)
            yield Case("attention backward", f"{label} fwd+bwd", partial(_both, work, arrays), arrays[0].size)
    yield from _attention_variants()
