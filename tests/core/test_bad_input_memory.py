"""Writing in place, overlapping memory, and references: nothing half done, nothing left over."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis import nn

LIBRARIES = (torch, raxis)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[1:].add_(x[:-1]),
        lambda x: x[:-1].sub_(x[1:]),
        lambda x: x[1:].copy_(x[:-1]),
        lambda x: x[::2].mul_(x[1::2]),
        lambda x: x.mul_(x[2]),
        lambda x: x.mul_(x),
        lambda x: x.sub_(x.flip(0)),
        lambda x: x.view(2, 3).t().copy_(x.view(3, 2)),
    ],
)
def test_overlapping_operands_are_read_before_the_write(write: Callable[[Any], Any]) -> None:
    x, separate = raxis.arange(6.0), torch.arange(6.0)
    write(x)
    reads = _Separate(separate)
    write(reads)
    assert x.tolist() == separate.tolist()


class _Separate:
    """A torch tensor whose in-place operations read copies of their operands."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __getitem__(self, index: Any) -> _Separate:
        return _Separate(self.tensor[index])

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            plain = [item.tensor.clone() if isinstance(item, _Separate) else item for item in arguments]
            result = getattr(self.tensor, name)(*plain)
            return _Separate(result) if isinstance(result, torch.Tensor) else result

        return call


@pytest.mark.parametrize("repeat", [1, 2])
def test_cached_calls_refuse_what_the_first_one_refuses(repeat: int) -> None:
    for library in LIBRARIES:
        for _ in range(repeat):
            library.ones(2).add_(1)
            library.ones(2).view(2).add_(1)
        with library.inference_mode():
            made = library.ones(2)
            view = made.view(2)
        leaf = library.ones(2, requires_grad=True)
        with library.no_grad():
            of_leaf, of_result = leaf.view(2), (leaf * 2).view(2)
        for target in (made, view, of_leaf):
            with pytest.raises(RuntimeError):
                target.add_(1)
        with library.no_grad():
            of_leaf.add_(1)
            of_result.add_(1)
        assert leaf.tolist() == [2.0, 2.0]


def test_view_made_without_grad_is_not_written_with_grad() -> None:
    for library in LIBRARIES:
        base = library.ones(2, requires_grad=True) * 2
        with library.no_grad():
            view = base.view(2)
        with pytest.raises(RuntimeError, match="no_grad"):
            view.add_(1)
        assert base.tolist() == [2.0, 2.0]


def test_failing_write_changes_nothing() -> None:
    target = raxis.zeros(2, 3)
    version = target._version
    for write in (
        lambda: target.add_(raxis.ones(4)),
        lambda: target.scatter_add_(0, raxis.tensor([[0, 1, 0], [5, 0, 0]]), raxis.ones(2, 3)),
        lambda: target.add_(1j),
        lambda: target.__setitem__((0, slice(None)), "a"),
        lambda: raxis.max(raxis.ones(2, 3), 1, out=(target, raxis.ones(2))),
    ):
        with pytest.raises((RuntimeError, IndexError, TypeError)):
            write()
    assert target.tolist() == [[0.0] * 3] * 2
    assert target._version == version


class _Square(raxis.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: raxis.Tensor) -> raxis.Tensor:
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: raxis.Tensor) -> raxis.Tensor:
        x, _ = ctx.saved_tensors
        return 2 * x * grad


class _Doubled(raxis.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: raxis.Tensor) -> raxis.Tensor:
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: raxis.Tensor) -> raxis.Tensor:
        return grad * 2


def _leaf() -> raxis.Tensor:
    return raxis.ones(3, requires_grad=True)


def _written() -> None:
    y = _leaf().clone()
    y[0] = 2
    y.view(3, 1).mul_(3)
    y.sum().backward()


def _failed() -> None:
    y = _leaf().exp()
    y.add_(1)
    with pytest.raises(RuntimeError):
        y.sum().backward()


@pytest.mark.parametrize(
    "use",
    [
        lambda: _leaf().exp().add_(1).sum(),
        lambda: _Square.apply(_leaf()).sum(),
        lambda: _Square.apply(_leaf()).sum().backward(),
        lambda: _Doubled.apply(_leaf() * 1).sum(),
        lambda: raxis.autograd.grad((_leaf() ** 3).sum(), _leaf(), allow_unused=True, create_graph=True),
        lambda: nn.Sequential(nn.Linear(3, 2), nn.ReLU())(_leaf()).sum().backward(),
        lambda: raxis.utils.checkpoint.checkpoint(raxis.exp, _leaf(), use_reentrant=True).sum().backward(),
        _written,
        _failed,
    ],
)
def test_no_reference_cycles(use: Callable[[], Any]) -> None:
    use()
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            use()
        assert gc.collect() < 5
    finally:
        gc.enable()


def test_gradients_of_many_threads_add_up() -> None:
    parameter = raxis.ones(1000, requires_grad=True)
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(50):
            (parameter * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert parameter.grad is not None
    assert np.unique(parameter.grad.numpy()).tolist() == [2.0 * 8 * 50]


class _Returning:
    """Functions whose backward returns a given gradient."""

    def __init__(self, library: Any, gradient: Any) -> None:
        class Made(library.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 1

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                return gradient

        self.apply = Made.apply


@pytest.mark.parametrize("shape", [(3,), (2, 2), ()])
def test_gradient_of_a_function_in_another_shape(shape: tuple[int, ...]) -> None:
    found = []
    for library in LIBRARIES:
        x = library.ones(2, requires_grad=True)
        result = _Returning(library, library.ones(shape, dtype=library.float64)).apply(x).sum()
        try:
            result.backward()
            found.append((x.grad.tolist(), str(x.grad.dtype).split(".")[-1]))
        except RuntimeError:
            found.append("RuntimeError")
            assert x.grad is None
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "gradient", ["T.ones(3)", "3", "T.ones(2, dtype=T.float64)", "T.ones(2, device='meta')"]
)
def test_hook_that_returns_another_kind_of_gradient(gradient: str) -> None:
    for library in LIBRARIES:
        x = library.ones(2, requires_grad=True)
        x.register_hook(lambda grad: eval(gradient, {"T": library}))  # noqa: B023
        with pytest.raises((RuntimeError, TypeError)):
            x.sum().backward()
        assert x.grad is None


def test_function_without_forward() -> None:
    for library in LIBRARIES:
        with pytest.raises(NotImplementedError, match="forward"):
            library.autograd.Function.apply(library.ones(2, requires_grad=True))


def test_gradient_on_another_device() -> None:
    for library in LIBRARIES:
        y = library.ones(2, requires_grad=True) * 2
        with pytest.raises(RuntimeError, match="invalid gradient"):
            y.backward(library.ones(2, device="meta"))
