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
    "conv1d (8, 32, 256)": (_f("conv1d", padding=1), (values((8, 32, 256)), values((32, 32, 3)))),
    "max_pool2d (8, 64, 28, 28)": (_f("max_pool2d", 2), (values((8, 64, 28, 28)),)),
    "avg_pool2d (8, 64, 28, 28)": (_f("avg_pool2d", 2), (values((8, 64, 28, 28)),)),
    "batch_norm (8, 64, 28, 28)": (
        lambda lib, x, w, b: lib.nn.functional.batch_norm(x, None, None, w, b, training=True),
        (values((8, 64, 28, 28)), values((64,)), values((64,))),
    ),
    "group_norm (8, 64, 28, 28)": (
        lambda lib, x, w, b: lib.nn.functional.group_norm(x, 8, w, b),
        (values((8, 64, 28, 28)), values((64,)), values((64,))),
    ),
}  # fmt: skip


def _attention(batch: int, heads: int, length: int, width: int) -> tuple[np.ndarray, ...]:
    return tuple(values((batch, heads, length, width), seed=seed) for seed in range(3))


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
