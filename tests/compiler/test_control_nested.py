"""Control flow inside of control flow, and random numbers in it: eager and compiled."""

from __future__ import annotations

import numpy as np
import pytest

import raxis
from raxis import nn
from raxis.compiler import CompileError
from tests.compiler.control_checks import arrays, check, primitives

torch = pytest.importorskip("torch")


def test_nested_control_flow() -> None:
    def function(x, w):
        def inner(c, item):
            step = raxis.cond(item > 0, lambda c: c + item * w.sum(), lambda c: c * 0.5, (c,))
            halved = raxis.while_loop(lambda v: v.abs().sum() > w[0], lambda v: (v / 2,), (step,))[0]
            return halved, step

        def outer(c, row):
            total, steps = raxis.scan(inner, c, row)
            return total, steps.sum()

        return raxis.scan(outer, w.sum() * 0, x)

    x, w = raxis.randn(18, 17), raxis.tensor([2.0, 0.5])
    compiled = check(function, x, w, again=[(-x, w)])
    assert primitives(compiled).count("scan") == 1
    carry, sums = np.float32(0), []
    for row in x.numpy():
        steps = []
        for item in row:
            step = np.float32(carry + item * 2.5 if item > 0 else carry * 0.5)
            carry = step
            while abs(carry) > 2.0:
                carry /= 2
            steps.append(step)
        sums.append(np.sum(steps))
    np.testing.assert_allclose(compiled(x, w)[1].numpy(), sums, rtol=1e-4, atol=1e-5)


def test_derivatives_inside_of_a_body() -> None:
    def function(x):
        def newton(x, _):
            with raxis.enable_grad():
                point = x.detach().requires_grad_()
                value = (point**3 - 2).sum()
                (slope,) = raxis.autograd.grad(value, point)
            return x - (x**3 - 2) / slope, value.detach()

        return raxis.scan(newton, x, raxis.zeros(20))[0]

    with raxis.no_grad():
        compiled = check(function, raxis.tensor([1.0, 2.0]))
    assert "scan" in primitives(compiled)
    np.testing.assert_allclose(compiled(raxis.tensor([1.0, 2.0])).numpy(), [2 ** (1 / 3)] * 2, rtol=1e-6)


def test_modules_inside_of_a_body() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

    def function(x):
        return raxis.scan(lambda h, row: (model(h) + row, h), x[0], x)

    with raxis.no_grad():
        compiled = check(function, raxis.randn(20, 3))
        assert "scan" in primitives(compiled)
        model[0].weight.mul_(2)
        x = raxis.randn(20, 3)
        np.testing.assert_allclose(arrays(compiled(x))[0], arrays(function(x))[0], rtol=1e-4, atol=1e-6)


def random_function(rng: np.random.Generator, depth: int):
    """A function of three vectors that gives three: a few random steps, some of which are control flow."""
    steps = [random_step(rng, depth) for _ in range(int(rng.integers(1, 4)))]

    def function(a, b, c):
        for step in steps:
            a, b, c = b, c, step(a, b, c)
        return a, b, c

    return function


def random_step(rng: np.random.Generator, depth: int):
    simple = {
        "add": lambda a, b, c: (a + b).tanh(),
        "mul": lambda a, b, c: (a * c - 0.25).sin(),
        "flip": lambda a, b, c: c.flip(0) * 0.5 + b[:1],
        "write": written,
        "constant": lambda a, b, c: a - raxis.tensor([0.1, 0.2, 0.3]),
    }
    kinds = list(simple) + ["cond", "scan", "while", "map"] * (2 if depth else 0)
    kind = str(rng.choice(kinds))
    if kind in simple:
        return simple[kind]
    one, other = random_function(rng, depth - 1), random_function(rng, depth - 1)
    length, turns = int(rng.choice([3, 18])), float(rng.integers(0, 5))
    if kind == "cond":
        return lambda a, b, c: raxis.cond(
            a.sum() > 0, lambda a, b: one(a, b, c)[2], lambda a, b: other(b, a, c)[0], (a, b)
        )
    if kind == "while":
        return lambda a, b, c: raxis.while_loop(
            lambda i, v: i < turns, lambda i, v: (i + 1, one(v, b, c)[2]), (a[0] * 0, a)
        )[1]
    if kind == "map":
        return lambda a, b, c: raxis.map(lambda row: one(row, b, c)[2], b.expand(length, 3) * c[0]).mean(0)
    return lambda a, b, c: raxis.scan(lambda v, row: (one(v, row, c)[2], v), a, b.repeat(length, 1))[1][-1]


def written(a, b, c):
    a = a.clone()
    a[1:] = b[:2]
    return a.mul_(0.5)


@pytest.mark.parametrize("case", range(12))
def test_random_functions(case: int, rng: np.random.Generator) -> None:
    function = random_function(rng, 2)
    points = [raxis.tensor(rng.standard_normal((3, 3)).astype(np.float32)).unbind(0) for _ in range(2)]
    if case % 2:
        check(function, *points[0], again=[points[1]])
        return
    compiled = raxis.compile(function)
    for given in (points[0], *points):
        found = []
        for run in (function, compiled):
            leaves = [item.clone().requires_grad_() for item in given]
            sum(((result**2).sum() for result in run(*leaves)), leaves[0].sum()).backward()
            found.append([np.zeros(3) if leaf.grad is None else leaf.grad.numpy() for leaf in leaves])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_values_asked_for_after_control_flow() -> None:
    def function(x, factor):
        y = raxis.cond(x.sum() > 0, lambda: x * factor + raxis.rand(2), lambda: x - raxis.rand(2))
        z = raxis.scan(lambda c, row: (c + row * factor,) * 2, y, raxis.ones(20, 2))[1]
        return z * z[0, 0].item()

    compiled = raxis.compile(function, on_break="eager", dynamic=True)
    for factor in (2.0, 3.0):
        raxis.manual_seed(1)
        expected = function(raxis.ones(2), factor)
        raxis.manual_seed(1)
        np.testing.assert_allclose(compiled(raxis.ones(2), factor).numpy(), expected.numpy(), rtol=1e-6)


def test_backward_reads_what_control_flow_left() -> None:
    def function(x, w):
        scale = raxis.while_loop(lambda s: s.sum() < 20, lambda s: (s * 2,), (x.detach().abs() + 1,))[0]
        return (raxis.cond(scale[0] > 9, lambda s: s + 1, lambda s: -s, (scale,)) * w).exp().sum()

    compiled = raxis.compile(function)
    for value in (0.1, 0.2, 3.0):
        found = []
        for run in (function, compiled):
            w = raxis.full((2,), 0.1, requires_grad=True)
            run(raxis.full((2,), value), w).backward()
            found.append(w.grad.numpy())
        np.testing.assert_allclose(*found, rtol=1e-5)
    assert len(compiled.misses()) == 1


def both(function, *arguments, calls: int = 3) -> None:
    compiled, interpreted = raxis.compile(function), raxis.compile(function, backend="reference")
    runs = []
    for run in (function, compiled, interpreted):
        raxis.manual_seed(5)
        runs.append([arrays(run(*arguments)) for _ in range(calls)] + [arrays(raxis.rand(3))])
    for other in runs[1:]:
        for one, two in zip(runs[0], other, strict=True):
            for found, expected in zip(two, one, strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert not np.array_equal(runs[0][0][0], runs[0][1][0])


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("flag", [True, False])
def test_branches_that_draw_as_much(grad: bool, flag: bool) -> None:
    def function(flag, x):
        before = raxis.rand(2)
        y = raxis.cond(
            flag,
            lambda x: nn.functional.dropout(x, 0.5) + raxis.rand(4),
            lambda x: x + raxis.rand(4) * raxis.rand(4),
            (x,),
        )
        return y.detach(), before, raxis.rand(2)

    both(function, raxis.tensor(flag), raxis.ones(4, requires_grad=grad))


@pytest.mark.parametrize("length", [3, 20])
def test_scans_draw_anew_in_each_step(length: int) -> None:
    def function(x):
        return raxis.scan(lambda c, row: (c + raxis.rand(2), raxis.rand(())), raxis.zeros(2), x)

    both(function, raxis.ones(length))


def test_random_numbers_outside_of_the_body() -> None:
    def function(x):
        noise = raxis.rand(2)
        return raxis.while_loop(lambda y: y.sum() < 9, lambda y: (y + noise,), (x,))

    both(function, raxis.ones(2))


@pytest.mark.parametrize("length", [4, 20])
def test_numbers_and_random_numbers_in_nested_functions(length: int) -> None:
    def function(x, rate):
        def step(c, row):
            c = raxis.cond(
                row.sum() > 0, lambda c: c * rate + raxis.rand(2), lambda c: c - raxis.rand(2) * rate, (c,)
            )
            grown = raxis.while_loop(
                lambda i, v: i < 3 * rate,
                lambda i, v: (i + 1, raxis.cond(v[0] > rate, lambda v: v / 2, lambda v: v + rate, (v,))),
                (raxis.tensor(0.0), c),
            )[1]
            return c, raxis.map(lambda v: v * rate + c, row.expand(17, 2)).sum(0) + grown

        return raxis.scan(step, raxis.zeros(2), x)

    x, compiled = raxis.randn(length, 2), raxis.compile(function, dynamic=True)
    for rate in (0.5, 2.0, 1.5):
        found = []
        for run in (function, compiled):
            raxis.manual_seed(3)
            found.append([*arrays(run(x, rate)), raxis.rand(1).numpy()])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert len(compiled.misses()) == 1


def test_random_numbers_that_would_be_wrong_are_refused() -> None:
    x, flag = raxis.ones(2), raxis.tensor(True)
    state = raxis.get_rng_state().tolist()
    with pytest.raises(CompileError, match="different amounts of random numbers"):
        raxis.compile(lambda x: raxis.cond(x[0] > 0, lambda: x + raxis.rand(2), lambda: x))(x)
    with pytest.raises(CompileError, match="same in every turn"):
        raxis.compile(
            lambda x: raxis.while_loop(lambda x: x.sum() < 9, lambda x: (x + raxis.rand(2),), (x,))
        )(x)
    assert raxis.get_rng_state().tolist() == state

    def seeded(flag):
        raxis.rand(1)
        raxis.manual_seed(1)
        return raxis.cond(flag, lambda: raxis.rand(2), lambda: raxis.randn(2))

    with pytest.raises(CompileError, match="seed"):
        raxis.compile(seeded)(flag)
