"""Steps as one program over parameter and state: layouts, shared memory, dtypes, options."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis.ops.update import Update

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"momentum": 0.9, "weight_decay": 0.1, "dampening": 0.3}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", {"weight_decay": 0.1, "maximize": True}),
    ("RMSprop", {"momentum": 0.5, "centered": True, "weight_decay": 0.1}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1}),
]
DESCEND = Update("descend", lambda written, read, numbers, options: [written[0] - read[0] * numbers[0]])


def steps(lib: ModuleType, name: str, options: dict[str, Any], start: np.ndarray, grads: np.ndarray) -> Any:
    """A transposed parameter after a few steps; every other element of a larger array."""
    whole = lib.from_numpy(start.copy())
    param = lib.nn.Parameter(whole[::2].t() if start.ndim == 2 else whole)
    optimizer = getattr(lib.optim, name)([param], lr=0.01, **options)
    for grad in grads:
        param.grad = lib.from_numpy(grad.copy())
        optimizer.step()
    return param.detach().numpy()


@pytest.mark.parametrize(
    ("name", "options"), OPTIMIZERS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(OPTIMIZERS)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strided_parameters(name: str, options: dict[str, Any], dtype: type) -> None:
    random = np.random.default_rng(3)
    start = random.standard_normal((14, 9)).astype(dtype)
    grads = random.standard_normal((4, 9, 7)).astype(dtype)
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(
        steps(raxis, name, options, start, grads),
        steps(torch, name, options, start, grads),
        tolerance,
        tolerance,
    )


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_nan_infinity_and_zero(name: str) -> None:
    start = np.array([1.0, np.nan, np.inf, 0.0, 1e30], np.float32)
    grads = np.array([[0.0, 1.0, 1.0, np.nan, 1e30], [np.inf, 0.0, -1.0, 1.0, 0.0]], np.float32)
    np.testing.assert_allclose(
        steps(raxis, name, {}, start, grads), steps(torch, name, {}, start, grads), 1e-5, equal_nan=True
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_half_precision_rounds_once(name: str, dtype: str) -> None:
    """As PyTorch's fused step does, which computes in float32."""

    def run(lib: ModuleType, **options: Any) -> Any:
        param = lib.nn.Parameter(lib.linspace(-2, 2, 50).to(getattr(lib, dtype)))
        optimizer = getattr(lib.optim, name)([param], lr=0.1, weight_decay=0.1, **options)
        for number in range(3):
            param.grad = (lib.linspace(1, -3, 50) * (number + 1)).to(getattr(lib, dtype))
            optimizer.step()
        return param.detach().float().numpy()

    epsilon = 2.0**-10 if dtype == "float16" else 2.0**-7
    np.testing.assert_allclose(run(raxis), run(torch, fused=True), 2 * epsilon, 2 * epsilon)


def test_tensors_that_share_memory() -> None:
    whole = raxis.arange(6, dtype=raxis.float64)
    DESCEND([whole[:4]], [whole[2:]], [1.0])
    assert whole.tolist() == [-2.0, -2.0, -2.0, -2.0, 4.0, 5.0]
    same = raxis.ones(3)
    DESCEND([same], [same], [0.25])
    assert same.tolist() == [0.75] * 3
    swap = Update("swap", lambda written, read, numbers, options: [written[1], written[0]])
    with pytest.raises(RuntimeError, match="two of the tensors to be written share memory"):
        swap([whole[:4], whole[2:]], [])
    swap([whole[:3], whole[3:]], [])
    assert whole.tolist() == [-2.0, 4.0, 5.0, -2.0, -2.0, -2.0]


def test_values_are_exchanged_through_a_temporary() -> None:
    swap = Update("swap", lambda written, read, numbers, options: [written[1].flip(0), written[0]])
    one, other = raxis.tensor([1.0, 2.0]), raxis.tensor([3.0, 4.0])
    swap([one, other], [])
    assert (one.tolist(), other.tolist()) == ([4.0, 3.0], [1.0, 2.0])


def test_writes_are_counted_and_checked() -> None:
    param = raxis.nn.Parameter(raxis.ones(2))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        DESCEND([param], [raxis.ones(2)], [1.0])
    before = param._version
    with raxis.no_grad():
        DESCEND([param], [raxis.ones(2)], [raxis.tensor([0.5])])
    assert param._version == before + 1
    assert param.tolist() == [0.5, 0.5]
    with pytest.raises(RuntimeError, match="single memory location"):
        DESCEND([raxis.ones(1).expand(3)], [raxis.ones(3)], [1.0])


def test_norms_of_many_gradients() -> None:
    random = np.random.default_rng(5)
    arrays = [random.standard_normal(shape) for shape in ((3, 4), (0,), (), (70,), (2, 1, 5))]
    for order in (1.0, 2.0, 3.0, float("inf")):
        ours = raxis.nn.utils.get_total_norm([raxis.from_numpy(array) for array in arrays], order)
        theirs = torch.nn.utils.get_total_norm(
            [torch.from_numpy(array) for array in arrays if array.size], order
        )
        np.testing.assert_allclose(ours.item(), theirs.item(), 1e-12)
    mixed = [raxis.full((4,), 3.0, dtype=raxis.bfloat16), raxis.full((4,), 4.0)]
    assert raxis.nn.utils.get_total_norm(mixed).item() == 10.0
    assert raxis.nn.utils.get_total_norm([raxis.ones(2, dtype=raxis.complex64) * 1j]).dtype is raxis.float32
