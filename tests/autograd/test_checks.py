"""gradcheck, gradgradcheck, anomaly mode, checkpoint, functional derivatives."""

from __future__ import annotations

import pytest
import torch

import raxis
from raxis.autograd import GradcheckError, gradcheck, gradgradcheck
from raxis.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential
from tests.autograd.agreement import assert_agreement


def leaf(values=(0.5, 1.5, -2.0)):
    return raxis.tensor(values, dtype=raxis.float64, requires_grad=True)


class Wrong(raxis.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2.01 * x * grad


class WrongTwice(raxis.autograd.Function):
    """Right first derivative, wrong second one."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x.detach() * grad


def test_right_derivatives_pass():
    assert gradcheck(lambda x, y: (x * y, x.exp()), (leaf(), leaf((1.0, 2.0, 3.0))))
    assert gradgradcheck(lambda x, y: x * x * y, (leaf(), leaf((1.0, 2.0, 3.0))))


def test_wrong_first_derivative_is_found():
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Wrong.apply, (leaf(),))
    assert gradcheck(Wrong.apply, (leaf(),), raise_exception=False) is False


def test_wrong_second_derivative_is_found():
    assert gradcheck(WrongTwice.apply, (leaf(),))
    with pytest.raises(GradcheckError):
        gradgradcheck(WrongTwice.apply, (leaf(),))


def test_nothing_to_check():
    with pytest.raises(ValueError, match="requires_grad"):
        gradcheck(lambda x: x * 2, (raxis.ones(2),))


def test_complex_inputs():
    z = raxis.tensor([1.0 + 2.0j, -0.5 + 0.25j], dtype=raxis.complex128, requires_grad=True)
    assert gradcheck(lambda z: z * z, (z,))


def test_anomaly_mode_names_the_forward_line():
    x = leaf((0.0, 1.0, 2.0))
    with raxis.autograd.detect_anomaly():
        y = (x - x).sqrt() * 0  # the line that is named
        with pytest.raises(RuntimeError, match="the line that is named") as caught:
            y.sum().backward()
    assert "SqrtBackward0" in str(caught.value)
    assert "test_checks.py" in str(caught.value)


def test_anomaly_mode_ends_with_its_block():
    with raxis.autograd.detect_anomaly():
        pass
    x = leaf((0.0, 1.0, 2.0))
    ((x - x).sqrt() * 0).sum().backward()
    assert bool(x.grad.isnan().all())


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint_gives_the_same_gradients_and_recomputes(reentrant):
    calls = []

    def block(x):
        calls.append(1)
        return (x * x).exp() * x

    x, y = leaf(), leaf()
    checkpoint(block, x, use_reentrant=reentrant).sum().backward()
    block(y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()
    assert len(calls) == 3


def test_checkpoint_repeats_random_numbers():
    x = raxis.ones(64, requires_grad=True)
    raxis.manual_seed(3)
    out = checkpoint(lambda t: raxis.nn.functional.dropout(t * t, 0.5), x)
    out.sum().backward()
    assert x.grad.tolist() == (out.detach() * 2).tolist()


def test_checkpoint_second_derivative():
    x = leaf()
    out = checkpoint(lambda t: t * t * t, x)
    (first,) = raxis.autograd.grad(out.sum(), x, create_graph=True)
    (second,) = raxis.autograd.grad(first.sum(), x)
    assert second.tolist() == [6 * value for value in (0.5, 1.5, -2.0)]


def test_checkpoint_finds_other_work():
    steps = iter([2, 1])

    def unsteady(x):
        for _ in range(next(steps)):
            x = x * x
        return x

    with pytest.raises(CheckpointError, match="different number"):
        checkpoint(unsteady, leaf()).sum().backward()


def test_checkpoint_sequential():
    steps = [lambda t: t * 2, lambda t: t * t, lambda t: t.exp(), lambda t: t + 1]
    x, y = leaf(), leaf()
    checkpoint_sequential(steps, 2, x).sum().backward()
    (((y * 2) * (y * 2)).exp() + 1).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_functional_derivatives():
    def run(lib):
        x = lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64)
        functional = lib.autograd.functional
        return (
            functional.jacobian(lambda t: t * t, x),
            functional.hessian(lambda t: (t * t * t).sum(), x),
            functional.vjp(lambda t: t * t, x, lib.ones(3, dtype=lib.float64)),
        )

    assert_agreement(run)
    assert torch.is_grad_enabled()
