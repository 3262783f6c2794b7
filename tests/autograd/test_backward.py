"""backward and grad with every option, compared with torch."""

from __future__ import annotations

import pytest
import torch

import raxis
from tests.autograd.agreement import assert_agreement, same_error

DATA = [[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]]


def leaf(lib, values=DATA):
    return lib.tensor(values, dtype=lib.float64, requires_grad=True)


def test_accumulates_over_calls():
    def run(lib):
        x = leaf(lib)
        (x * x).sum().backward()
        (x * 3).sum().backward()
        return x.grad

    assert_agreement(run)


def test_diamond_adds_both_paths():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        (y * y + y).sum().backward()
        return x.grad

    assert_agreement(run)


def test_gradient_argument_weights_the_outputs():
    def run(lib):
        x = leaf(lib)
        (x * x).backward(lib.tensor(DATA, dtype=lib.float64))
        return x.grad

    assert_agreement(run)


def test_several_roots():
    def run(lib):
        x = leaf(lib)
        lib.autograd.backward([(x * 2).sum(), (x * x).sum()], [None, lib.tensor(3.0, dtype=lib.float64)])
        return x.grad

    assert_agreement(run)


def test_inputs_restricts_accumulation():
    def run(lib):
        x, y = leaf(lib), leaf(lib)
        (x * y).sum().backward(inputs=[x])
        return x.grad, y.grad is None

    assert_agreement(run)


def test_grad_of_non_leaf():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        z = (y * y).sum()
        return lib.autograd.grad(z, [y, x])

    assert_agreement(run)


def test_grad_leaves_grad_alone():
    def run(lib):
        x = leaf(lib)
        found = lib.autograd.grad((x * x).sum(), x)
        return found[0], x.grad is None

    assert_agreement(run)


def test_unused_inputs():
    def run(lib):
        x, y = leaf(lib), leaf(lib)
        found = lib.autograd.grad((x * x).sum(), [x, y], allow_unused=True)
        zeros = lib.autograd.grad((x * x).sum(), [x, y], materialize_grads=True)
        return found[1] is None, zeros[1]

    assert_agreement(run)


def test_batched_grads():
    def run(lib):
        x = leaf(lib, [1.0, 2.0])
        y = x * x
        return lib.autograd.grad(y, x, lib.eye(2, dtype=lib.float64), is_grads_batched=True)

    assert_agreement(run)


def test_double_backward():
    def run(lib):
        x = leaf(lib)
        (first,) = lib.autograd.grad((x * x * x).sum(), x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x, create_graph=True)
        (third,) = lib.autograd.grad(second.sum(), x)
        return first, second, third

    assert_agreement(run)


def test_create_graph_through_grad_attribute():
    def run(lib):
        x = leaf(lib, [1.0, 2.0])
        with pytest.warns(UserWarning) if lib is torch else _nothing():
            (x * x * x).sum().backward(create_graph=True)
        first = x.grad
        x.grad = None
        first.sum().backward()
        return first, x.grad

    assert_agreement(run)


def test_mixed_dtypes_come_back_in_the_operands_dtype():
    def run(lib):
        x = lib.tensor([1.5, 2.5], dtype=lib.float32, requires_grad=True)
        y = lib.tensor([0.5, 4.0], dtype=lib.float64, requires_grad=True)
        (x * y).sum().backward()
        return x.grad, y.grad

    assert_agreement(run, rtol=1e-6)


def test_broadcasting_is_undone():
    def run(lib):
        x, y = leaf(lib, [[1.0], [2.0]]), leaf(lib, [3.0, 4.0, 5.0])
        (x * y + y).sum().backward()
        return x.grad, y.grad

    assert_agreement(run)


def test_gradients_of_two_leaves_do_not_share_memory():
    x, y = leaf(raxis), leaf(raxis)
    (x + y).backward(raxis.ones(2, 3, dtype=raxis.float64))
    x.grad.mul_(5)
    assert y.grad.tolist() == [[1.0] * 3] * 2


def test_given_gradient_is_not_kept():
    x, weights = leaf(raxis), raxis.ones(2, 3, dtype=raxis.float64)
    (x + 0).backward(weights)
    x.grad.mul_(5)
    assert weights.tolist() == [[1.0] * 3] * 2


def test_expanded_gradient_is_made_dense():
    x = leaf(raxis)
    x.sum().backward()
    x.grad.mul_(2)
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_accumulation_keeps_the_grad_object():
    x = leaf(raxis)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda lib: leaf(lib).backward(), id="non-scalar"),
        pytest.param(lambda lib: lib.ones(()).backward(), id="nothing-requires-grad"),
        pytest.param(
            lambda lib: (leaf(lib) * 2).backward(lib.ones(3, dtype=lib.float64)), id="wrong-gradient-shape"
        ),
        pytest.param(lambda lib: lib.autograd.grad(leaf(lib).sum(), leaf(lib)), id="unused"),
        pytest.param(lambda lib: lib.autograd.grad(leaf(lib).sum(), lib.ones(2)), id="input-without-grad"),
        pytest.param(lambda lib: leaf(lib).sum().backward(inputs=[]), id="no-inputs"),
        pytest.param(lambda lib: lib.tensor([1, 2], requires_grad=True), id="integer-leaf"),
        pytest.param(lambda lib: setattr(leaf(lib) * 2, "requires_grad", False), id="non-leaf-switched-off"),
        pytest.param(
            lambda lib: setattr(leaf(lib), "grad", lib.ones(5, dtype=lib.float64)), id="grad-of-wrong-shape"
        ),
        pytest.param(lambda lib: setattr(leaf(lib), "grad", lib.ones(2, 3)), id="grad-of-wrong-dtype"),
        pytest.param(lambda lib: setattr(leaf(lib), "grad", 3), id="grad-not-a-tensor"),
    ],
)
def test_errors(run):
    assert len(same_error(run)) > 10


def test_second_backward_needs_retain_graph():
    def twice(lib):
        x = leaf(lib)
        y = (x * x).sum()
        y.backward()
        y.backward()

    assert "retain_graph=True" in same_error(twice)

    def kept(lib):
        x = leaf(lib)
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()
        return x.grad

    assert_agreement(kept)


def test_second_backward_without_saved_tensors_is_allowed():
    def run(lib):
        x = leaf(lib)
        y = (x + 1).sum()
        y.backward()
        y.backward()
        return x.grad

    assert_agreement(run)


def test_chain_of_100000_ops_runs_backward_and_is_freed():
    x = raxis.ones(2, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    del y
    z = x
    for _ in range(100_000):
        z = z + 1
    del z


def test_an_error_in_backward_leaves_grad_mode_and_grads_alone():
    class Broken(raxis.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("planted")

    x = leaf(raxis)
    with pytest.raises(KeyError, match="planted"):
        Broken.apply(x).sum().backward()
    assert raxis.is_grad_enabled()
    assert x.grad is None


class _nothing:
    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return None
