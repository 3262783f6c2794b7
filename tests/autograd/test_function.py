"""Custom autograd functions, compared with torch."""

from __future__ import annotations

import pytest

import raxis
from tests.autograd.agreement import assert_agreement, same_error


def leaf(lib, values=(1.0, 2.0, 3.0)):
    return lib.tensor(values, dtype=lib.float64, requires_grad=True)


def cube(lib):
    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad

    return Cube


def test_first_and_second_derivative():
    def run(lib):
        x = leaf(lib)
        y = cube(lib).apply(x)
        (first,) = lib.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x)
        return y, first, second, y.grad_fn.name()

    assert_agreement(run)


def test_setup_context_and_non_tensor_arguments():
    def run(lib):
        class Scale(lib.autograd.Function):
            @staticmethod
            def forward(x, factor, label):
                return x * factor

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.factor = inputs[1]

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.factor, None, None

        x = leaf(lib)
        Scale.apply(x, 4.0, "label").sum().backward()
        return x.grad

    assert_agreement(run)


def test_several_results_and_needs_input_grad():
    def run(lib):
        seen = []

        class Split(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x * 2, y * 3, 5

            @staticmethod
            def backward(ctx, first, second, third):
                seen.append((ctx.needs_input_grad, third is None))
                return first * 2, second * 3

        x = leaf(lib)
        first, second, number = Split.apply(x, lib.ones(3, dtype=lib.float64))
        (first.sum() + second.sum()).backward()
        return x.grad, seen[0][0], number, second.requires_grad

    assert_agreement(run)


def test_unused_results_get_zeros_or_none():
    def run(lib):
        seen = []

        def make(materialize):
            class Two(lib.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.set_materialize_grads(materialize)
                    return x * 2, x * 3

                @staticmethod
                def backward(ctx, first, second):
                    seen.append(second is None)
                    return first * 2

            return Two

        x = leaf(lib)
        for materialize in (True, False):
            make(materialize).apply(x)[0].sum().backward()
        return x.grad, seen

    assert_agreement(run)


def test_mark_dirty_and_non_differentiable():
    def run(lib):
        class Write(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                x.mul_(2)
                count = x.argmax()
                ctx.mark_dirty(x)
                ctx.mark_non_differentiable(count)
                return x, count

            @staticmethod
            def backward(ctx, grad, _):
                return grad * 2

        x = leaf(lib)
        y = x * 1
        written, index = Write.apply(y)
        (written * written).sum().backward()
        return x.grad, written is y, index.requires_grad

    assert_agreement(run)


def test_an_input_returned_unchanged():
    def run(lib):
        class Pass(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, grad):
                return grad * 7

        x = leaf(lib)
        y = Pass.apply(x)
        y.sum().backward()
        return x.grad, y is x

    assert_agreement(run)


def test_saved_results():
    def run(lib):
        class Exp(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                result = x.exp()
                ctx.save_for_backward(result)
                return result

            @staticmethod
            def backward(ctx, grad):
                return ctx.saved_tensors[0] * grad

        x = leaf(lib)
        (first,) = lib.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
        return first, lib.autograd.grad(first.sum(), x)[0]

    assert_agreement(run)


def _wrong_count(lib):
    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, grad):
            return grad

    Wrong.apply(leaf(lib), leaf(lib)).sum().backward()


def _no_backward(lib):
    class Lost(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

    Lost.apply(leaf(lib)).sum().backward()


def _instance(lib):
    return cube(lib)().forward(leaf(lib))


@pytest.mark.parametrize("run", [_wrong_count, _no_backward])
def test_errors(run):
    assert len(same_error(run)) > 20


def test_functions_are_not_instantiated():
    with pytest.raises(RuntimeError, match="apply"):
        cube(raxis)()
