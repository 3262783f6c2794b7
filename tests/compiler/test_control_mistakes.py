"""Control flow that cannot be compiled as written is refused in sentences."""

from __future__ import annotations

import pytest

import raxis
from raxis.compiler import CompileError

torch = pytest.importorskip("torch")


def test_writes_to_tensors_outside_are_refused() -> None:
    state, x = raxis.zeros(2), raxis.ones(2)

    def branch():
        return state.add_(1)  # the line

    line = branch.__code__.co_firstlineno + 1
    with pytest.raises(
        CompileError, match=rf"test_control_mistakes\.py:{line}: .* writes in place .* from outside"
    ):
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
        CompileError, match=r"test_control_mistakes\.py:\d+: .* inside a function given to raxis\.cond"
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
