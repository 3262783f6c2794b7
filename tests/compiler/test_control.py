"""`raxis.cond`, `while_loop`, `scan` and `map`: values and gradients of plain Python, eager and compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

import raxis
from raxis import nn
from tests.compiler.control_checks import check, primitives

torch = pytest.importorskip("torch")


def test_cond_takes_one_branch() -> None:
    def function(x, w):
        return raxis.cond(
            x.sum() > 0, lambda x: {"a": x * 2 + w, "b": x.sum()}, lambda x: {"a": -x, "b": w[0]}, (x,)
        )

    w = raxis.tensor([5.0, 6.0])
    compiled = check(function, raxis.tensor([1.0, -3.0]), w, again=[(raxis.tensor([4.0, -3.0]), w)])
    assert "cond" in primitives(compiled)
    assert "select" not in primitives(compiled)
    assert function(raxis.tensor([4.0, -3.0]), w)["a"].tolist() == [13.0, 0.0]
    assert function(raxis.tensor([1.0, -3.0]), w)["a"].tolist() == [-1.0, 3.0]


def test_cond_of_python_and_of_odd_predicates() -> None:
    assert raxis.cond(True, lambda: 1, lambda: 2) == 1
    assert raxis.cond(0, lambda: 1, lambda: 2) == 2

    def function(x):
        return raxis.cond(x, lambda: raxis.tensor(1.0), lambda: raxis.tensor(2.0))

    compiled = raxis.compile(function)
    for shape in ((), (1,), (1, 1)):
        for value, taken in ((math.nan, 1.0), (0.0, 2.0), (-0.0, 2.0), (3.0, 1.0)):
            x = raxis.full(shape, value)
            assert function(x).item() == compiled(x).item() == taken
    with pytest.raises(RuntimeError, match=r"one element, but got bool\[2\]"):
        raxis.cond(raxis.tensor([True, False]), lambda: 1, lambda: 2)


@pytest.mark.parametrize("dtype", ["bool_", "uint8", "int32", "int64", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_cond_of_all_dtypes_and_shapes(dtype: str, shape: tuple[int, ...]) -> None:
    kind = getattr(raxis.dtypes, dtype)
    x, flag = raxis.ones(shape).to(kind), raxis.tensor(True)

    def function(flag, x):
        return raxis.cond(flag, lambda x: x.reshape(-1), lambda x: (x == 1).to(x.dtype).reshape(-1), (x,))

    compiled = raxis.compile(function)
    for given in (flag, ~flag, flag):
        found, expected = compiled(given, x), function(given, x)
        assert found.dtype is kind
        assert found.tolist() == expected.tolist()


def test_cond_like_torch() -> None:
    def function(library):
        return lambda flag, x: library.cond(flag, lambda x: x.cos() * 2, lambda x: x.sin() - 1, (x,))

    x = np.linspace(-2, 2, 7, dtype=np.float32)
    compiled = raxis.compile(function(raxis))
    theirs = torch.compile(function(torch), backend="eager")
    for flag in (True, False, True):
        ours = compiled(raxis.tensor(flag), raxis.tensor(x)).numpy()
        np.testing.assert_allclose(ours, theirs(torch.tensor(flag), torch.tensor(x)).numpy(), rtol=1e-6)


def test_results_share_no_memory_with_operands() -> None:
    def function(flag, x):
        y = raxis.cond(flag, lambda x: x, lambda x: x.flip(0), (x,))
        y.add_(1)
        return y, x

    x = raxis.arange(3.0)
    check(function, raxis.tensor(True), x)
    assert x.tolist() == [0.0, 1.0, 2.0]
    assert raxis.while_loop(lambda x: x.sum() < 0, lambda x: (x,), (x,))[0].data_ptr() != x.data_ptr()
    assert raxis.scan(lambda c, x: (c, x), x, raxis.ones(2))[0].data_ptr() != x.data_ptr()


def test_cond_sees_what_was_written_before() -> None:
    def function(flag, x):
        y = x * 2
        y[1:] = 7.0
        part = y.view(2, 2).t()[1]
        return raxis.cond(flag, lambda: part + y.sum(), lambda: part * x[:2])

    x = raxis.tensor([1.0, 2.0, 3.0, 4.0])
    compiled = check(function, raxis.tensor(True), x, again=[(raxis.tensor(False), x)])
    assert compiled(raxis.tensor(True), x).tolist() == [30.0, 30.0]


def test_branches_write_to_their_own_tensors() -> None:
    def fill(x):
        y = raxis.zeros(3)
        y[0] = x[1]
        y[1:] += x[0]
        z = raxis.tensor([1.0, 2.0, 3.0])
        return z.mul_(y)

    def function(flag, x):
        return raxis.cond(flag, fill, lambda x: fill(-x), (x,))

    x = raxis.tensor([2.0, 5.0])
    check(function, raxis.tensor(True), x, again=[(raxis.tensor(False), x)])
    assert function(raxis.tensor(True), x).tolist() == [5.0, 4.0, 6.0]


def test_cond_writes_its_result_to_a_tensor_outside() -> None:
    state = raxis.zeros(2)

    @raxis.compile
    def step(x):
        state.copy_(raxis.cond(x.sum() > 0, lambda: state + x, lambda: state * 10))

    expected = np.zeros(2, np.float32)
    for value in (1.0, 2.0, -1.0, 3.0):
        step(raxis.full((2,), value))
        expected = expected + value if value > 0 else expected * 10
        np.testing.assert_array_equal(state.numpy(), expected)
    assert len(step.misses()) == 1


def gradients(function, flag, x, w) -> list[np.ndarray]:
    x, w = x.detach().clone().requires_grad_(), w.detach().clone().requires_grad_()
    (function(flag, x, w) * raxis.tensor([1.0, 3.0])).sum().backward()
    return [raxis.zeros_like(leaf).numpy() if leaf.grad is None else leaf.grad.numpy() for leaf in (x, w)]


def test_gradients_of_the_branch_taken() -> None:
    def function(flag, x, w):
        return raxis.cond(flag, lambda x: x**2 * w, lambda x: x.exp() + x.sum(), (x,))

    x, w = raxis.tensor([0.5, -2.0]), raxis.tensor([3.0, 4.0])
    compiled = raxis.compile(function)
    for flag in (True, False, True):
        point = raxis.tensor(flag)
        for one, other in zip(
            gradients(compiled, point, x, w), gradients(function, point, x, w), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    np.testing.assert_allclose(gradients(compiled, raxis.tensor(True), x, w)[0], [3.0, -48.0])


def test_nothing_of_the_other_branch_reaches_a_gradient() -> None:
    # sqrt and log of negative numbers, and 0 * inf: gradients that must not become NaN.
    def function(flag, x, w):
        return raxis.cond(flag, lambda x: x.sqrt() * (w / x.abs().log()), lambda x: w * x, (x,))

    x, w = raxis.tensor([-1.0, 0.0]), raxis.tensor([3.0, 4.0])
    compiled = raxis.compile(function)
    for _ in range(2):
        found = gradients(compiled, raxis.tensor(False), x, w)
        np.testing.assert_array_equal(found[0], [3.0, 12.0])
        np.testing.assert_array_equal(found[1], [-1.0, 0.0])


def test_second_derivatives_of_a_branch() -> None:
    def function(flag, x):
        y = raxis.cond(flag, lambda x: x**3, lambda x: x.sin(), (x,)).sum()
        (first,) = raxis.autograd.grad(y, x, create_graph=True)
        return raxis.autograd.grad(first.sum(), x)[0]

    compiled = raxis.compile(function)
    x = raxis.tensor([2.0, 3.0], requires_grad=True)
    for _ in range(2):
        np.testing.assert_allclose(compiled(raxis.tensor(True), x).numpy(), [12.0, 18.0])
        np.testing.assert_allclose(compiled(raxis.tensor(False), x).numpy(), -np.sin([2.0, 3.0]), rtol=1e-6)


def test_training_through_cond_and_scan() -> None:
    def losses(compile: bool) -> list[float]:
        raxis.manual_seed(3)
        model = nn.Linear(3, 3)
        optimizer = raxis.optim.Adam(model.parameters(), lr=0.05)

        def step(x):
            hidden, _ = raxis.scan(lambda h, row: (model(h + row).tanh(), row.sum()), raxis.zeros(3), x)
            loss = raxis.cond(
                hidden.sum() > 0, lambda h: (h**2).sum(), lambda h: ((model(h) - 1) ** 2).sum(), (hidden,)
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        run = raxis.compile(step) if compile else step
        return [run(raxis.randn(4, 3)).item() for _ in range(12)]

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-4)


@pytest.mark.parametrize("length", [3, 20])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients_of_scan_like_torch(length: int, reverse: bool) -> None:
    x, w = np.linspace(-1, 1, 2 * length, dtype=np.float32).reshape(length, 2), np.float32([0.5, -0.9])

    def ours(x, w):
        total, ys = raxis.scan(
            lambda c, row: ((c * w + row).tanh(), c * row), raxis.ones(2), x, reverse=reverse
        )
        return total.sum() + (ys**2).sum()

    xs, weight = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True)
    carry, terms = torch.ones(2), []
    for row in reversed(xs) if reverse else xs:
        carry, y = (carry * weight + row).tanh(), carry * row
        terms.append((y**2).sum())
    (carry.sum() + sum(terms)).backward()
    compiled = raxis.compile(ours)
    for function in (ours, compiled, compiled):
        one, two = raxis.tensor(x, requires_grad=True), raxis.tensor(w, requires_grad=True)
        function(one, two).backward()
        np.testing.assert_allclose(one.grad.numpy(), xs.grad.numpy(), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(two.grad.numpy(), weight.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_while_loop_has_no_gradient() -> None:
    x = raxis.tensor([1.0, 2.0], requires_grad=True)

    def function(x):
        return raxis.while_loop(lambda y: y.sum() < 50, lambda y: (y * 2,), (x,))[0]

    whole = raxis.while_loop(lambda y: y.sum() < 3, lambda y: (x,), (raxis.zeros(2),))[0]
    assert not whole.requires_grad
    assert whole.tolist() == [1.0, 2.0]
    compiled = raxis.compile(function)
    for run in (function, compiled, compiled):
        assert not run(x).requires_grad
        assert run(x).tolist() == [32.0, 64.0]


def test_while_loop_turns_as_often_as_the_values_say() -> None:
    def function(x, limit):
        shifted = x + 1
        return raxis.while_loop(
            lambda i, state: i < limit,
            lambda i, state: (i + 1, {"y": state["y"] * shifted, "flip": ~state["flip"]}),
            (raxis.tensor(0), {"y": x, "flip": limit > 2}),
        )

    x = raxis.tensor([0.5, -3.0])
    compiled = check(function, x, raxis.tensor(3), again=[(x, raxis.tensor(n)) for n in (0, 1, 7)])
    assert primitives(compiled).count("while") == 1
    count, state = compiled(x, raxis.tensor(3))
    assert count.item() == 3
    np.testing.assert_allclose(state["y"].numpy(), np.float32([0.5, -3]) * np.float32([1.5, -2]) ** 3)
    assert state["flip"].item() is False


def test_while_loop_until_converged() -> None:
    def root(a):
        return raxis.while_loop(
            lambda x: ((x * x - a).abs() > 1e-12 * a).any(),
            lambda x: ((x + a / x) / 2,),
            (raxis.ones_like(a),),
        )[0]

    compiled = raxis.compile(root)
    for value in ([2.0, 9.0], [1e6, 4.0], [1.0, 1.0]):
        np.testing.assert_allclose(compiled(raxis.tensor(value, dtype=raxis.float64)).numpy(), np.sqrt(value))


def test_numbers_that_change_reach_the_body() -> None:
    @raxis.compile(dynamic=True)
    def function(x, factor):
        y = raxis.while_loop(lambda y: y.sum() < 100 * factor, lambda y: (y * factor + factor,), (x,))[0]
        return raxis.cond(y[0] > 0, lambda: y * (factor - 1), lambda: y)

    def plain(x, factor):
        while x.sum() < 100 * factor:
            x = x * factor + factor
        return x * (factor - 1) if x[0] > 0 else x

    for factor in (2.0, 3.0, 1.5, 2.5):
        np.testing.assert_allclose(
            function(raxis.ones(2), factor).numpy(), plain(np.ones(2), factor), rtol=1e-6
        )
    assert len(function.misses()) == 1


@pytest.mark.parametrize(("length", "dim"), [(1, 0), (5, 1), (17, 0), (17, 1), (20, -1)])
@pytest.mark.parametrize("reverse", [False, True])
def test_scan_like_torch(length: int, dim: int, reverse: bool) -> None:
    shape = [2, 2]
    shape[dim] = length
    x = np.linspace(-1, 1, 2 * length, dtype=np.float32).reshape(shape)
    w = np.float32([0.5, -0.9])

    def body(weight):
        return lambda c, item: (c * weight + item[0], {"state": c * 2, "sum": item[1].sum()})

    def function(x, other, w):
        return raxis.scan(body(w), raxis.ones(2), (x, other), dim=dim, reverse=reverse)

    pairs = (x, x * x)
    compiled = check(function, *map(raxis.tensor, pairs), raxis.tensor(w))
    assert ("scan" in primitives(compiled)) == (length > 16)
    carry, stacked = compiled(*map(raxis.tensor, pairs), raxis.tensor(w))
    weight, steps, theirs = torch.tensor(w), torch.ones(2), []
    one, two = (torch.tensor(item).movedim(dim, 0) for item in pairs)
    for at in reversed(range(length)) if reverse else range(length):
        steps, ys = body(weight)(steps, (one[at], two[at]))
        theirs.append(ys)
    if reverse:
        theirs.reverse()
    np.testing.assert_allclose(carry.numpy(), steps.numpy(), rtol=1e-5, atol=1e-6)
    expected = torch.stack([item["state"] for item in theirs]).movedim(0, dim)
    np.testing.assert_allclose(stacked["state"].numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    sums = torch.stack([item["sum"] for item in theirs])
    np.testing.assert_allclose(stacked["sum"].numpy(), sums.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("length", [4, 30])
def test_map(length: int) -> None:
    offset = raxis.tensor([1.0, 2.0, 3.0])

    def function(x, y):
        return raxis.map(lambda item, factor: (item[0].max() * factor, item[1] + offset), (x, y), 3.0)

    x, y = raxis.randn(length, 2, 3), raxis.randn(length, 3)
    check(function, x, y)
    largest, moved = function(x, y)
    np.testing.assert_allclose(largest.numpy(), x.numpy().max(axis=(1, 2)) * 3, rtol=1e-6)
    np.testing.assert_allclose(moved.numpy(), y.numpy() + offset.numpy(), rtol=1e-6)


def test_scan_over_nothing_to_stack_and_of_many_dtypes() -> None:
    def function(x):
        return raxis.scan(lambda c, i: ((c[0] + i, c[1] ^ (i > 3)), ()), (x[0] * 0, x[0] > 9), x)

    check(function, raxis.arange(20))
    check(function, raxis.arange(20, dtype=raxis.int16))
