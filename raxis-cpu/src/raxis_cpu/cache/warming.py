"""Programs whose kernels most users need: running them once leaves the kernels in the cache."""

from __future__ import annotations

import time
from typing import Any

import raxis
from raxis import nn
from raxis.dtypes import DType
from raxis.nn import functional
from raxis_cpu.cache.store import summary

_UNARY = (
    "abs", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor", "log", "log1p", "log2", "log10", "neg", "reciprocal",
    "relu", "round", "rsqrt", "sigmoid", "sign", "sin", "sqrt", "square", "tan", "tanh", "isnan", "isfinite",
)  # fmt: skip
_BINARY = ("add", "sub", "mul", "div", "pow", "eq", "ne", "lt", "le", "gt", "ge")
_BINARY_OF_TENSORS = ("maximum", "minimum")
_REDUCTIONS = (
    "sum", "mean", "amax", "amin", "argmax", "argmin", "var", "std", "prod", "all", "any", "softmax", "log_softmax",
    "logsumexp",
)  # fmt: skip
_TOTALS = ("sum", "mean", "max", "min", "std", "all", "any")
_ACTIVATIONS = ("relu", "gelu", "silu", "elu", "leaky_relu", "softplus", "sigmoid", "tanh")
_OPTIMIZERS = (raxis.optim.SGD, raxis.optim.Adam, raxis.optim.AdamW)


def warm() -> dict[str, Any]:
    """Compile the kernels of common ops on the device ``cpu``; how many were compiled, and the seconds.

    Raises:
        RuntimeError: if nothing is kept, or raxis-cpu does not serve the device.
    """
    start, before = time.perf_counter(), summary()
    if before["folder"] is None:
        raise RuntimeError(
            "There is no cache to fill: RAXIS_CACHE=off is set, or there is no home directory."
        )
    _check_device()
    for dtype in (raxis.float32, raxis.float64):
        _elementwise(dtype)
        _reductions(dtype)
    _networks()
    after = summary()
    seconds = round(time.perf_counter() - start, 2)
    return {"compiled": after["misses"] - before["misses"], "seconds": seconds}


def _check_device() -> None:
    raxis.empty(1, device="cpu")
    serving = next(row for row in raxis.backends.list() if row.device == "cpu" and row.state == "ready")
    if serving.distribution != "raxis-cpu":
        raise RuntimeError(
            f"The device cpu is served by {serving.distribution}, which compiles nothing. "
            "`python -m raxis.env` says why; RAXIS_CPU=plugin selects raxis-cpu."
        )


def _with_gradients(result: raxis.Tensor) -> None:
    if result.requires_grad:
        result.backward(raxis.ones_like(result))


def _leaf(*shape: int, dtype: DType = raxis.float32) -> raxis.Tensor:
    return raxis.rand(*shape, dtype=dtype, device="cpu", requires_grad=True)


def _elementwise(dtype: DType) -> None:
    """Contiguous operands, a broadcast row and a number."""
    x, y, row = _leaf(9, 9, dtype=dtype), _leaf(9, 9, dtype=dtype), _leaf(9, dtype=dtype)
    for name in _UNARY:
        _with_gradients(getattr(raxis, name)(x))
    for name in _BINARY:
        for other in (y, row, 2.0):
            _with_gradients(getattr(raxis, name)(x, other))
    for name in _BINARY_OF_TENSORS:
        for other in (y, row):
            _with_gradients(getattr(raxis, name)(x, other))


def _reductions(dtype: DType) -> None:
    """Rows, columns, and the whole where the op has that."""
    for name in _REDUCTIONS:
        for dim in (0, 1):
            _with_gradients(getattr(raxis, name)(_leaf(9, 9, dtype=dtype), dim))
    for name in _TOTALS:
        _with_gradients(getattr(raxis, name)(_leaf(9, 9, dtype=dtype)))


def _networks() -> None:
    """Training steps, as most programs take them."""
    for activation in _ACTIVATIONS:
        _with_gradients(getattr(functional, activation)(_leaf(8, 9)))
    for optimizer in _OPTIMIZERS:
        _train(_perceptron(), _leaf(8, 12), optimizer)
    _train(_convolutional(), _leaf(8, 1, 8, 8), raxis.optim.Adam)
    _with_gradients(nn.LayerNorm(9, device="cpu")(_leaf(8, 9)))


def _perceptron() -> nn.Module:
    layers = (nn.Linear(12, 9), nn.ReLU(), nn.Dropout(0.1), nn.Linear(9, 5))
    return nn.Sequential(*layers).to("cpu")


def _convolutional() -> nn.Module:
    block = (nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*block, nn.Flatten(), nn.Linear(64, 5)).to("cpu")


def _train(model: nn.Module, x: raxis.Tensor, optimizer: Any) -> None:
    target = raxis.zeros(len(x), dtype=raxis.int64, device="cpu")
    stepping = optimizer(model.parameters(), lr=1e-3)
    for _ in range(2):
        stepping.zero_grad()
        functional.cross_entropy(model(x), target).backward()
        stepping.step()
