"""Errors about values in compiled functions: those of the function without `compile`, before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import raxis
from raxis.compiler import CompileError
from raxis.func import vmap
from raxis.linalg import LinAlgError
from raxis.nn import functional as F

ONES = raxis.ones(2)
GOOD = raxis.tensor([[4.0, 2.0], [2.0, 3.0]])
NAN = GOOD * float("nan")
MANY = raxis.stack([GOOD, GOOD * 2, GOOD])
MANY_BAD = raxis.stack([GOOD, GOOD * 0, GOOD * 0])


class Case(NamedTuple):
    function: Callable[[Any], Any]
    good: Any
    bad: Any


CASES = {
    "inv": Case(raxis.linalg.inv, GOOD, GOOD * 0),
    "inv of many": Case(raxis.linalg.inv, MANY, MANY_BAD),
    "inv_ex": Case(lambda a: raxis.linalg.inv_ex(a, check_errors=True)[0], GOOD, GOOD * 0),
    "solve": Case(lambda a: raxis.linalg.solve(a, ONES), GOOD, GOOD * 0),
    "cholesky": Case(raxis.linalg.cholesky, GOOD, -GOOD),
    "cholesky of many": Case(raxis.linalg.cholesky, MANY, MANY_BAD),
    "lu_factor": Case(lambda a: raxis.linalg.lu_factor(a)[0], GOOD, GOOD * 0),
    "matrix_power": Case(lambda a: raxis.linalg.matrix_power(a, -2), GOOD, GOOD * 0),
    "eigvalsh": Case(raxis.linalg.eigvalsh, GOOD, NAN),
    "svdvals": Case(raxis.linalg.svdvals, GOOD, NAN),
    "binary_cross_entropy": Case(lambda p: F.binary_cross_entropy(p, ONES), ONES, ONES * 1.5),
    "bernoulli": Case(raxis.bernoulli, ONES, ONES * float("nan")),
    "normal": Case(lambda std: raxis.normal(0.0, std), ONES, -ONES),
    "gaussian_nll_loss": Case(lambda var: F.gaussian_nll_loss(ONES, ONES * 2, var), ONES, -ONES),
    "one_hot": Case(lambda x: F.one_hot(x, 3), raxis.tensor([0, 2]), raxis.tensor([1, 7])),
    "one_hot below 0": Case(lambda x: F.one_hot(x, 3), raxis.tensor([0, 2]), raxis.tensor([1, -9])),
    "multinomial": Case(lambda w: raxis.multinomial(w, 2), ONES, raxis.tensor([1.0, float("inf")])),
    "multinomial of zeros": Case(lambda w: raxis.multinomial(w, 2, True), ONES, ONES * 0),
    "poisson": Case(raxis.poisson, ONES, -ONES),
    "quantile": Case(lambda q: raxis.quantile(GOOD, q), ONES / 2, ONES * 2),
    "cov": Case(lambda w: raxis.cov(GOOD, aweights=w), ONES, -ONES),
    "repeat_interleave": Case(
        lambda r: raxis.repeat_interleave(GOOD, r, 0, output_size=4),
        raxis.tensor([1, 3]),
        raxis.tensor([1, 4]),
    ),
    "repeat_interleave below 0": Case(
        lambda r: raxis.repeat_interleave(GOOD, r, 0, output_size=4),
        raxis.tensor([1, 3]),
        raxis.tensor([5, -1]),
    ),
    "masked_scatter": Case(
        lambda mask: ONES.masked_scatter(mask, raxis.tensor([5.0])),
        raxis.tensor([True, False]),
        raxis.tensor([True, True]),
    ),
    "get_total_norm": Case(
        lambda x: raxis.nn.utils.get_total_norm([x], error_if_nonfinite=True), ONES, ONES * float("inf")
    ),
    "embedding_bag": Case(
        lambda o: F.embedding_bag(raxis.arange(2), GOOD, o), raxis.tensor([0, 1]), raxis.tensor([1, 1])
    ),
    "segment_reduce": Case(
        lambda n: raxis.segment_reduce(raxis.ones(4), "sum", lengths=n),
        raxis.tensor([1, 3]),
        raxis.tensor([1, 2]),
    ),
    "ctc_loss": Case(
        lambda n: F.ctc_loss(MANY[:2].log_softmax(2), raxis.tensor([[1], [1]]), n, raxis.tensor([1, 1])),
        raxis.tensor([2, 2]),
        raxis.tensor([2, 9]),
    ),
    "masked.median": Case(
        lambda mask: raxis.masked.median(raxis.tensor([1, 2, 3]), 0, mask=mask),
        raxis.tensor([True, True, True]),
        raxis.tensor([False, False, False]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_errors_are_those_without_compile(name: str) -> None:
    function, good, bad = CASES[name]
    with pytest.raises(Exception) as known:
        function(bad)
    compiled = raxis.compile(function)
    for _ in range(2):
        raxis.manual_seed(0)
        expected = function(good)
        raxis.manual_seed(0)
        np.testing.assert_allclose(compiled(good).numpy(), expected.numpy(), rtol=1e-6)
    assert compiled.misses()[-1].kept is None
    others = (raxis.compile(function), raxis.compile(function, on_break="eager"))
    for call in (compiled, *others):
        with pytest.raises(type(known.value)) as found:
            call(bad)
        assert str(found.value) == str(known.value)
    raxis.manual_seed(0)
    np.testing.assert_allclose(compiled(good).numpy(), expected.numpy(), rtol=1e-6)


def test_errors_name_what_torch_names() -> None:
    with pytest.raises(torch.linalg.LinAlgError) as known:
        torch.linalg.inv(torch.from_numpy(MANY_BAD.numpy().copy()))
    with pytest.raises(LinAlgError) as found:
        raxis.compile(raxis.linalg.inv)(MANY_BAD)
    assert "(Batch element 1): The diagonal element 1 is zero" in str(known.value)
    assert "(Batch element 1): The diagonal element 1 is zero" in str(found.value)


def test_nothing_is_written_before_an_error() -> None:
    raxis.manual_seed(0)
    model = raxis.nn.Linear(3, 3)
    optimizer = raxis.optim.Adam(model.parameters(), lr=0.1)
    x, var = raxis.randn(4, 3), raxis.ones(4, 3)

    @raxis.compile
    def step(x: Any, var: Any) -> Any:
        optimizer.zero_grad()
        loss = F.gaussian_nll_loss(model(x), x, var)
        loss = loss + raxis.linalg.cholesky(model.weight @ model.weight.mT + raxis.eye(3)).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = [step(x, var).item() for _ in range(4)]
    assert losses[-1] < losses[0]
    states = [parameter.detach().clone() for parameter in model.parameters()]
    states += [value.clone() for state in optimizer.state.values() for value in state.values()]
    with pytest.raises(ValueError, match="negative"):
        step(x, -var)
    after = [parameter.detach() for parameter in model.parameters()]
    after += [value for state in optimizer.state.values() for value in state.values()]
    assert all(bool((before == now).all()) for before, now in zip(states, after, strict=True))
    assert step(x, var).item() < losses[-1]


def test_a_check_is_made_though_only_gradients_are_asked_for() -> None:
    gradient = raxis.compile(raxis.func.grad(lambda a: raxis.linalg.inv(a).sum()))
    a = GOOD.numpy().astype(np.float64)
    inverse = np.linalg.inv(a)
    expected = -(inverse.T @ np.ones((2, 2)) @ inverse.T)
    np.testing.assert_allclose(gradient(GOOD).numpy(), expected, rtol=1e-5)
    with pytest.raises(LinAlgError):
        gradient(GOOD * 0)


def test_weights_that_change() -> None:
    weight = GOOD.clone()
    compiled = raxis.compile(lambda x: x @ raxis.linalg.inv(weight))
    with raxis.no_grad():
        for _ in range(2):
            np.testing.assert_allclose(compiled(GOOD).numpy(), np.eye(2), atol=1e-6)
        weight.zero_()
        with pytest.raises(LinAlgError):
            compiled(GOOD)


def test_results_that_require_grad() -> None:
    compiled = raxis.compile(lambda a: raxis.linalg.solve(a, ONES).sum())
    reference = torch.from_numpy(GOOD.numpy().copy()).requires_grad_()
    torch.linalg.solve(reference, torch.ones(2)).sum().backward()
    for _ in range(2):
        a = GOOD.clone().requires_grad_()
        compiled(a).backward()
        np.testing.assert_allclose(a.grad.numpy(), reference.grad.numpy(), rtol=1e-5)
    with pytest.raises(LinAlgError):
        compiled((GOOD * 0).requires_grad_())


def test_vmap_inside() -> None:
    compiled = raxis.compile(vmap(raxis.linalg.inv))
    np.testing.assert_allclose(compiled(MANY).numpy(), np.linalg.inv(MANY.numpy()), rtol=1e-5)
    with pytest.raises(LinAlgError, match=r"Batch element 1"):
        compiled(MANY_BAD)


def test_many_numbers_of_rows() -> None:
    compiled = raxis.compile(raxis.linalg.inv, dynamic=True)
    with raxis.no_grad():
        for rows in (5, 6, 7):
            np.testing.assert_allclose(
                compiled(GOOD.expand(rows, 2, 2).contiguous())[-1].numpy(),
                np.linalg.inv(GOOD.numpy()),
                rtol=1e-5,
            )
        assert compiled.rows() == (
            "numbers of rows are rounded up to powers of two, since rows are kept apart",
        )
        bad = GOOD.expand(7, 2, 2).clone()
        bad[6] = 0
        with pytest.raises(LinAlgError, match=r"Batch element 6"):
            compiled(bad)


def test_checks_of_all_rows_end_the_proof() -> None:
    compiled = raxis.compile(lambda x: x * raxis.linalg.inv(x.T @ x).sum(), dynamic=True)
    with raxis.no_grad():
        for rows in (5, 6):
            compiled(raxis.randn(rows, 2))
    assert "each number of rows has its own program" in compiled.rows()[0]


def test_index_errors_of_the_user_stay() -> None:
    compiled = raxis.compile(lambda x, i: raxis.linalg.inv(x)[i])
    compiled(GOOD, raxis.tensor([0]))
    for number in (-(1 << 62), -(1 << 63), -3, 2):
        with pytest.raises(IndexError, match=f"index {number} is out of bounds for dimension 0 with size 2"):
            compiled(GOOD, raxis.tensor([number]))


def test_regions_have_no_checks() -> None:
    compiled = raxis.compile(lambda a: raxis.cond(a.sum() > 0, lambda: raxis.linalg.inv(a), lambda: a * 1))
    with pytest.raises(CompileError, match=r"inside a function given to raxis\.cond"):
        compiled(GOOD)


def test_one_hot_needs_the_number_of_classes() -> None:
    with pytest.raises(CompileError, match="one_hot was not given num_classes"):
        raxis.compile(F.one_hot)(raxis.tensor([0, 2]))


@pytest.mark.parametrize("function", [raxis.nonzero, raxis.unique, raxis.bincount, lambda x: x[x > 0]])
def test_shapes_that_depend_on_values(function: Any) -> None:
    with pytest.raises(CompileError, match="the elements of a tensor were asked for"):
        raxis.compile(function)(raxis.tensor([0, 2]))


@pytest.mark.parametrize("size", [0, 1, 3, 9])
@pytest.mark.parametrize("given", [[[0, 1], [2, 0]], [1, 0, 1], 5])
def test_nonzero_static(size: int, given: Any) -> None:
    expected = torch.nonzero_static(torch.tensor(given), size=size, fill_value=-3).numpy()
    function = raxis.compile(lambda x: raxis.nonzero_static(x, size=size, fill_value=-3))
    for found in (
        function(raxis.tensor(given)),
        raxis.nonzero_static(raxis.tensor(given), size=size, fill_value=-3),
    ):
        np.testing.assert_array_equal(found.numpy(), expected)
        assert found.dtype is raxis.int64


def test_functions_without_kernels_give_tensors() -> None:
    compiled = raxis.compile(lambda x: (x.new_empty((2, 0)), raxis.empty(3)[1:]))
    for _ in range(2):
        nothing, part = compiled(ONES)
        assert nothing.numpy().shape == (2, 0)
        assert part.numpy().shape == (2,)
