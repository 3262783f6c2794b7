"""`raxis.cond`, `while_loop`, `scan` and `map`: values and gradients of plain Python, eager and compiled."""

from __future__ import annotations

import math

import numpy as np
import pytest

import raxis
from raxis import nn
from raxis.compiler import CompileError
from raxis.utils._pytree import tree_flatten

torch = pytest.importorskip("torch")


def arrays(results) -> list[np.ndarray]:
    return [leaf.detach().numpy() for leaf in tree_flatten(results)[0]]


def primitives(compiled) -> list[str]:
    """The instructions of the last program, after the passes."""
    return [item.primitive for item in compiled.replays()[-1].artifact.program.instructions]


def check(function, *arguments, again=()) -> raxis.compiler.Compiled:
    """Eager, recorded, repeated and interpreted results are equal, also for other arguments of the same kind."""
    compiled, interpreted = raxis.compile(function), raxis.compile(function, backend="reference")
    for given in (arguments, arguments, *again):
        expected = function(*given)
        for one in (compiled(*given), interpreted(*given)):
            assert tree_flatten(one)[1] == tree_flatten(expected)[1]
            for found, wanted in zip(arrays(one), arrays(expected), strict=True):
                assert found.shape == wanted.shape
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert len(compiled.misses()) == 1
    return compiled


# ---- cond -------------------------------------------------------------------------------------------


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


# ---- gradients --------------------------------------------------------------------------------------


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


# ---- while_loop -------------------------------------------------------------------------------------


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


# ---- scan and map -----------------------------------------------------------------------------------


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


# ---- nested -----------------------------------------------------------------------------------------


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


# ---- random numbers ---------------------------------------------------------------------------------


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


# ---- mistakes ---------------------------------------------------------------------------------------


def test_writes_to_tensors_outside_are_refused() -> None:
    state, x = raxis.zeros(2), raxis.ones(2)

    def branch():
        return state.add_(1)  # the line

    line = branch.__code__.co_firstlineno + 1
    with pytest.raises(CompileError, match=rf"test_control\.py:{line}: .* writes in place .* from outside"):
        raxis.compile(lambda x: raxis.cond(x[0] > 0, branch, lambda: x))(x)
    assert state.tolist() == [0.0, 0.0]
    with pytest.raises(CompileError, match="writes in place"):
        raxis.compile(lambda x: raxis.scan(lambda c, row: (c.add_(row), c), raxis.zeros(()), x))(x)

    def inner(x):
        y = x * 2
        return raxis.while_loop(lambda z: z.sum() < 9, lambda z: (z + y.mul_(2),), (x,))

    with pytest.raises(CompileError, match="writes in place"):
        raxis.compile(inner)(x)
    assert (x + 1).tolist() == [2.0, 2.0]


def test_what_is_left_behind_is_refused() -> None:
    kept = []
    leaf = raxis.ones(2, requires_grad=True)

    def keep(x):
        kept.append(x * 2)
        return x

    def backward(x):
        (leaf * x).sum().backward()
        return x

    for branch, message in ((keep, "keeps a tensor"), (backward, "leaves gradients")):
        with pytest.raises(CompileError, match=message):
            raxis.compile(lambda x, branch=branch: raxis.cond(x[0] > 0, branch, lambda x: x, (x,)))(
                raxis.ones(2)
            )
    assert leaf.grad is None


def test_values_inside_of_functions() -> None:
    def function(x):
        y = x + 1
        return raxis.cond(y.sum() > 0, lambda: y * y[0].item(), lambda: y) + 1

    with pytest.raises(
        CompileError, match=r"test_control\.py:\d+: .* inside a function given to raxis\.cond"
    ):
        raxis.compile(function)(raxis.ones(2))
    lenient = raxis.compile(function, on_break="eager")
    for _ in range(2):
        assert lenient(raxis.ones(2)).tolist() == [5.0, 5.0]
    assert lenient.misses()[0].kept is not None


def test_mismatches_are_sentences() -> None:
    x, flag = raxis.ones(2), raxis.tensor(True)

    def compiled(function):
        return raxis.compile(function)

    with pytest.raises(CompileError, match=r"\(float32\[2\]\) if true, \(float32\[1\]\) if false"):
        compiled(lambda f, x: raxis.cond(f, lambda: x * 1, lambda: x[:1] * 1))(flag, x)
    with pytest.raises(CompileError, match="return different things"):
        compiled(lambda f, x: raxis.cond(f, lambda: x * 1, lambda: (x * 1,)))(flag, x)
    with pytest.raises(CompileError, match="return different things"):
        compiled(lambda f, x: raxis.cond(f, lambda: x * 1, lambda: 1))(flag, x)
    for run in (lambda function: function, compiled):
        with pytest.raises(
            RuntimeError, match=r"like the first one, \(int64\[\]\).* but got \(float32\[\]\)"
        ):
            run(lambda x: raxis.while_loop(lambda i: i < 3, lambda i: (i + 0.5,), (x,)))(raxis.tensor(0))
        with pytest.raises(RuntimeError, match="return a tuple of the carried values, but got Tensor"):
            run(lambda x: raxis.while_loop(lambda i: i < 3, lambda i: i + 1, (x,)))(raxis.tensor(0))
        with pytest.raises(RuntimeError, match="carried_inputs to be tensors, but got int"):
            run(lambda x: raxis.while_loop(lambda i: x.sum() < 3, lambda i: (i + 1,), (3,)))(x)
        with pytest.raises(
            RuntimeError, match=r"scan expected combine_fn to return a carry like the first one"
        ):
            run(lambda x: raxis.scan(lambda c, y: (c.reshape(1), y), raxis.tensor(0.0), x))(x)
        with pytest.raises(RuntimeError, match="return a pair"):
            run(lambda x: raxis.scan(lambda c, y: c + y, raxis.tensor(0.0), x))(x)
        with pytest.raises(
            RuntimeError, match=r"scan expected tensors with one size along dim 0, .* float32\[0\]"
        ):
            run(lambda x: raxis.scan(lambda c, y: (c, y), x.sum(), x))(raxis.ones(0))
        with pytest.raises(
            RuntimeError, match=r"map expected tensors with one size .* float32\[2\], float32\[3\]"
        ):
            run(lambda x: raxis.map(lambda y: y[0], (x, raxis.ones(3))))(x)
        with pytest.raises(RuntimeError, match="what is stacked to be tensors, but got int"):
            run(lambda x: raxis.map(lambda y: 1, x))(x)
    with pytest.raises(CompileError, match="cond_fn of while_loop returned True"):
        compiled(lambda x: raxis.while_loop(lambda x: True, lambda x: (x,), (x,)))(x)


def test_errors_of_functions_pass_and_leave_all_as_it_was() -> None:
    x, state = raxis.ones(2), raxis.zeros(2)

    def function(x):
        state.add_(1)
        return raxis.cond(x[0] > 0, lambda: x @ raxis.ones(3), lambda: x)

    with pytest.raises(RuntimeError, match="3"):
        raxis.compile(function)(x)
    assert state.tolist() == [1.0, 1.0]
    assert raxis.compile(lambda x: x + state)(x).tolist() == [2.0, 2.0]
