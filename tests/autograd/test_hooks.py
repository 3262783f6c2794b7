"""Hooks on tensors, nodes, accumulation and saved tensors."""

from __future__ import annotations

import pytest

import raxis
from tests.autograd.agreement import assert_agreement, same_error


def leaf(lib, values=(1.0, 2.0, 3.0)):
    return lib.tensor(values, dtype=lib.float64, requires_grad=True)


def test_tensor_hook_replaces_the_gradient():
    def run(lib):
        x = leaf(lib)
        seen = []
        x.register_hook(lambda grad: seen.append(grad.clone()))
        x.register_hook(lambda grad: grad * 2)
        y = x * 3
        y.register_hook(lambda grad: grad + 1)
        (y * y).sum().backward()
        return x.grad, seen

    assert_agreement(run)


def test_removed_hook_does_not_run():
    def run(lib):
        x = leaf(lib)
        handle = x.register_hook(lambda grad: grad * 100)
        handle.remove()
        handle.remove()
        (x * 2).sum().backward()
        return x.grad

    assert_agreement(run)


def test_retain_grad():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        y.retain_grad()
        z = y * y
        z.sum().backward()
        return y.grad, y.retains_grad, z.retains_grad, x.grad

    assert_agreement(run)


def test_retain_grad_sees_the_hooked_gradient():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda grad: grad * 10)
        (y * y).sum().backward()
        return y.grad, x.grad

    assert_agreement(run)


def test_retain_grad_follows_an_in_place_write():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        y.retain_grad()
        y.mul_(3)
        (y * y).sum().backward()
        return y.grad

    assert_agreement(run)


def test_post_accumulate_hook():
    def run(lib):
        x = leaf(lib)
        seen = []
        x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.clone()))
        (x * x).sum().backward()
        (x * x).sum().backward()
        return seen

    assert_agreement(run)


def test_node_hooks():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        seen = []
        y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0], outputs[0])))
        y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 5,))
        y.sum().backward()
        return x.grad, [list(pair) for pair in seen]

    assert_agreement(run)


def test_the_graph_can_be_walked():
    def run(lib):
        x = leaf(lib)
        y = (x * x).sum()
        product = y.grad_fn.next_functions[0][0]
        ends = [node.name().endswith("AccumulateGrad") for node, _ in product.next_functions]
        return y.grad_fn.name(), product.name(), ends, x.grad_fn is None, y.is_leaf, x.is_leaf

    assert_agreement(run)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda lib: lib.ones(2).register_hook(print), id="hook"),
        pytest.param(lambda lib: lib.ones(2).retain_grad(), id="retain"),
        pytest.param(
            lambda lib: (leaf(lib) * 2).register_post_accumulate_grad_hook(print), id="accumulate-on-non-leaf"
        ),
    ],
)
def test_errors(run):
    assert len(same_error(run)) > 20


def test_a_hook_must_keep_the_shape():
    def run(lib):
        x = leaf(lib)
        x.register_hook(lambda grad: grad[:1])
        (x * 2).sum().backward()

    assert "size" in same_error(run)


def test_saved_tensor_hooks():
    def run(lib):
        x = leaf(lib)
        packed = []

        def pack(tensor):
            packed.append(tuple(tensor.shape))
            return tensor.detach().numpy().copy()

        with lib.autograd.graph.saved_tensors_hooks(pack, lib.from_numpy):
            y = (x * x).exp()
        y.sum().backward()
        return x.grad, packed

    assert_agreement(run)


def test_saved_tensor_hooks_keep_second_derivatives():
    def run(lib):
        x = leaf(lib)
        with lib.autograd.graph.save_on_cpu():
            y = (x * x * x).sum()
        (first,) = lib.autograd.grad(y, x, create_graph=True)
        return lib.autograd.grad(first.sum(), x)

    assert_agreement(run)


def test_hooked_gradients_are_not_shared_with_the_leaf():
    kept = []
    x = leaf(raxis)
    x.register_hook(kept.append)
    (x * 2).sum().backward()
    x.grad.zero_()
    assert kept[0].tolist() == [2.0, 2.0, 2.0]
