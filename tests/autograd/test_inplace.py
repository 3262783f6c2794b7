"""In-place writes under the tape: views, versions, leaves. Compared with torch."""

from __future__ import annotations

import pytest

from tests.autograd.agreement import assert_agreement, same_error


def leaf(lib, values=((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))):
    return lib.tensor(values, dtype=lib.float64, requires_grad=True)


def test_in_place_on_an_intermediate():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        y.mul_(x)
        y.add_(x, alpha=3)
        (y * y).sum().backward()
        return x.grad, y

    assert_agreement(run)


def test_in_place_keeps_the_old_value_its_formula_needs():
    def run(lib):
        x, w = leaf(lib), leaf(lib, ((0.5, 0.25, 2.0), (1.0, -1.0, 3.0)))
        y = x * 1
        y.mul_(w)
        y.sum().backward()
        return x.grad, w.grad

    assert_agreement(run)


def test_in_place_on_a_view_reaches_the_base():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        y[0].mul_(10)
        (y * y).sum().backward()
        return x.grad, y

    assert_agreement(run)


def test_write_of_a_tracked_value_into_an_untracked_base():
    def run(lib):
        x = leaf(lib, (1.0, 2.0, 3.0))
        base = lib.zeros(2, 3, dtype=lib.float64)
        base[1] = x * x
        base[0, 1:] = x[1:] * 2
        (base * base).sum().backward()
        return x.grad, base.requires_grad

    assert_agreement(run)


def test_two_views_of_one_base():
    def run(lib):
        x = leaf(lib)
        y = x * 1
        first, second = y[0], y[:, 1:]
        first.mul_(3)
        total = (second * second).sum() + first.sum()
        total.backward()
        return x.grad

    assert_agreement(run)


def test_view_of_a_view():
    def run(lib):
        x = leaf(lib)
        y = x * 1
        y[1][1:].mul_(7)
        y.t()[0].add_(1)
        (y * y).sum().backward()
        return x.grad

    assert_agreement(run)


def test_view_made_before_a_write_to_the_base():
    def run(lib):
        x = leaf(lib)
        y = x * 1
        view = y.t()
        y.mul_(4)
        (view * view).sum().backward()
        return x.grad, view

    assert_agreement(run)


def test_transposed_base():
    def run(lib):
        x = leaf(lib)
        y = (x * 1).t()
        y[1:].mul_(2)
        (y * y).sum().backward()
        return x.grad

    assert_agreement(run)


def test_fill_and_zero_cut_the_gradient():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        y[0].fill_(5.0)
        z = x * 3
        z.zero_()
        ((y * y).sum() + z.sum()).backward()
        return x.grad

    assert_agreement(run)


def test_copy_sends_the_gradient_to_its_source():
    def run(lib):
        x, source = leaf(lib), leaf(lib, ((7.0,), (8.0,)))
        y = x * 2
        y.copy_(source)
        (y * y).sum().backward()
        return x.grad, source.grad

    assert_agreement(run)


def test_double_backward_through_an_in_place_write():
    def run(lib):
        x = leaf(lib)
        y = x * 1
        y[0].mul_(x[1])
        (first,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x)
        return first, second

    assert_agreement(run)


def test_detach_shares_memory_and_version():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        before = y._version
        y.detach().add_(1)
        return y, y._version - before

    assert_agreement(run)


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda lib: leaf(lib).add_(1), id="leaf"),
        pytest.param(lambda lib: leaf(lib)[0].add_(1), id="view-of-leaf"),
        pytest.param(lambda lib: leaf(lib).copy_(lib.zeros(2, 3)), id="copy-to-leaf"),
        pytest.param(lambda lib: (leaf(lib) * 1).unbind(0)[0].add_(1), id="one-of-several-views"),
        pytest.param(lambda lib: lib.ones(3).expand(2, 3).add_(1), id="overlapping"),
        pytest.param(lambda lib: lib.ones(3).add_(lib.ones(2, 3)), id="result-does-not-fit"),
        pytest.param(lambda lib: lib.ones(3, dtype=lib.int64).add_(1.5), id="result-dtype"),
    ],
)
def test_forbidden_writes(run):
    assert len(same_error(run)) > 20


def test_a_saved_value_that_was_overwritten_is_found():
    def run(lib):
        x = leaf(lib)
        y = x * 2
        z = (y * y).sum()
        y.add_(1)
        z.backward()

    message = same_error(run)
    assert "modified by an inplace operation" in message
    assert "version 1; expected version 0" in message


def test_a_saved_result_that_was_overwritten_is_found():
    def run(lib):
        x = leaf(lib)
        y = x.exp()
        y.mul_(2)
        y.sum().backward()

    assert "output 0 of ExpBackward0" in same_error(run)


def test_a_failed_write_changes_nothing():
    def run(lib):
        x = lib.ones(3, dtype=lib.int64)
        version = x._version
        with pytest.raises(RuntimeError):
            x.add_(1.5)
        with pytest.raises(RuntimeError):
            x.add_(lib.ones(2, 3, dtype=lib.int64))
        return x, x._version - version

    assert_agreement(run)


def test_no_grad_writes_to_leaves():
    def run(lib):
        x = leaf(lib)
        with lib.no_grad():
            x.add_(1)
            x[0].mul_(2)
        (x * x).sum().backward()
        return x, x.grad

    assert_agreement(run)
