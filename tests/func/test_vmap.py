"""`vmap` against `torch.func.vmap`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis.func import grad, vmap
from raxis.ops.table import OPS
from tests.func.agreement import agree, numbers

X = numbers(0, 4, 3)
W = numbers(1, 3, 3)
INDEX = torch.tensor([[0, 2], [1, 1], [2, 0], [0, 0]])
IMAGES = numbers(2, 5, 2, 6, 6)

ONE_ARGUMENT: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda m, x: x.sum(),
    "elementwise": lambda m, x: (x * 2 + 1).sin().exp(),
    "softmax": lambda m, x: m.softmax(x, 0),
    "where": lambda m, x: m.where(x > 0, x, 0.0),
    "masked_fill": lambda m, x: x.masked_fill(x > 0, 0.0),
    "sort": lambda m, x: tuple(m.sort(x)),
    "topk": lambda m, x: tuple(m.topk(x, 2)),
    "cumsum": lambda m, x: m.cumsum(x, 0).flip(0),
    "cat": lambda m, x: m.cat([x, m.ones(2, dtype=x.dtype), x]),
    "stack": lambda m, x: m.stack([x, x.flip(0)], 1),
    "outer": lambda m, x: m.outer(x, x),
    "inverse": lambda m, x: m.linalg.inv(m.outer(x, x) + m.eye(3, dtype=x.dtype)),
    "svdvals": lambda m, x: m.linalg.svdvals(m.outer(x, x) + m.eye(3, dtype=x.dtype)),
    "solve": lambda m, x: m.linalg.solve(m.outer(x, x) + m.eye(3, dtype=x.dtype), x),
    "matrix_exp": lambda m, x: m.linalg.matrix_exp(m.outer(x, x)),
    "fft": lambda m, x: m.fft.fft(x).abs(),
    "complex": lambda m, x: m.view_as_real(m.complex(x, x * 2) * 1j),
    "windows": lambda m, x: x.unfold(0, 2, 1) * x.as_strided((2, 2), (1, 1)),
    "views": lambda m, x: x.view(3, 1).expand(3, 2).t().reshape(-1)[1:4],
    "moments": lambda m, x: (x.std(), x.var(), x.logsumexp(0), x.norm(), x.prod()),
    "same for all": lambda m, x: (m.arange(3), m.ones(2, 2)),
    "indices": lambda m, x: x[m.tensor([2, 0])],
    "argmax": lambda m, x: (x.argmax(), x.max()),
    "bool": lambda m, x: ((x > 0).any(), (x > 0).sum()),
    "casts": lambda m, x: (x.to(m.float32), x.long(), x.half()),
}


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_one_argument(name: str) -> None:
    body = ONE_ARGUMENT[name]
    agree(lambda m, func, x: func.vmap(lambda row: body(m, row))(x), X)


SEVERAL: dict[str, tuple[Callable[..., Any], Any, tuple[Any, ...]]] = {
    "matrix and vectors": (lambda m, w, x: w @ x, (None, 0), (W, X)),
    "vectors and matrix": (lambda m, x, w: x @ w, (0, None), (X, W)),
    "matrices both": (lambda m, x, w: x @ w, (0, 1), (numbers(3, 4, 2, 3), numbers(4, 3, 4, 5))),
    "einsum": (lambda m, x, w: m.einsum("i,ij->j", x, w), (0, None), (X, W)),
    "gather": (lambda m, x, i: x.gather(0, i), 0, (X, INDEX)),
    "index both": (lambda m, x, i: x[i], 0, (X, INDEX)),
    "index shared": (lambda m, x, i: x[i], (0, None), (X, INDEX[0])),
    "index of shared": (lambda m, x, i: x[i], (None, 0), (X, INDEX)),
    "index_add": (lambda m, x, i: m.zeros(3, dtype=x.dtype).index_add(0, i, x[:2]), 0, (X, INDEX)),
    "scatter_add": (lambda m, x, i: m.zeros(3, dtype=x.dtype).scatter_add(0, i, x[:2]), 0, (X, INDEX)),
    "embedding": (lambda m, w, i: m.nn.functional.embedding(i, w), (None, 0), (W, INDEX)),
    "one_hot": (lambda m, i: m.nn.functional.one_hot(i, 4), 0, (INDEX,)),
    "ensemble of embeddings": (
        lambda m, w, i: m.nn.functional.embedding(i, w), (0, None), (numbers(5, 4, 3, 2), INDEX[0])
    ),
    "conv of images": (
        lambda m, x, w: m.nn.functional.conv2d(x.unsqueeze(0), w, padding=1), (0, None),
        (IMAGES, numbers(6, 4, 2, 3, 3)),
    ),
    "conv of weights": (
        lambda m, x, w: m.nn.functional.conv1d(x, w, groups=2, stride=2), (None, 0),
        (numbers(7, 2, 4, 6), numbers(8, 3, 6, 2, 2)),
    ),
    "conv of both": (
        lambda m, x, w: m.nn.functional.conv1d(x, w, groups=2, stride=2), 0,
        (numbers(7, 3, 2, 4, 6), numbers(8, 3, 6, 2, 2)),
    ),
    "conv_transpose": (
        lambda m, x, w: m.nn.functional.conv_transpose2d(x, w), 0,
        (numbers(9, 2, 1, 3, 4, 4), numbers(10, 2, 3, 2, 2, 2)),
    ),
    "bilinear": (
        lambda m, x: m.nn.functional.interpolate(x.unsqueeze(0), scale_factor=2, mode="bilinear"), 0, (IMAGES,)
    ),
    "batch norm": (
        lambda m, x: m.nn.functional.batch_norm(x.unsqueeze(0), None, None, training=True), 0, (IMAGES,)
    ),
    "attention": (
        lambda m, q: m.nn.functional.scaled_dot_product_attention(q, q, q), 0, (numbers(11, 3, 2, 4, 5),)
    ),
    "containers": (
        lambda m, state, pair: {"out": state["w"] @ pair[0] + pair[1]}, ({"w": None}, (0, 1)),
        ({"w": W}, (X, X.T.contiguous())),
    ),
    "last dimension": (lambda m, x: x * 2, -1, (X,)),
    "not contiguous": (lambda m, x: x.T @ x, 2, (numbers(12, 4, 6, 5)[:, ::2],)),
    "NaN": (lambda m, x: (x.max(), x.nansum()), 0, (torch.tensor([[1.0, float("nan")], [2.0, 3.0]]),)),
    "no elements": (lambda m, x: (x.sum(), x * 2), 0, (torch.zeros(3, 0),)),
    "no examples": (lambda m, x, w: (w @ x).sin().sum(), (0, None), (X[:0], W)),
    "0-d": (lambda m, x: x * x + 1, 0, (X[:, 0],)),
    "one example": (lambda m, x: x.sum(), 0, (X[:1],)),
    "huge numbers": (lambda m, x: m.logsumexp(x * 1e300, 0), 0, (X,)),
}  # fmt: skip


@pytest.mark.parametrize("name", SEVERAL)
def test_arguments(name: str) -> None:
    body, in_dims, given = SEVERAL[name]
    agree(lambda m, func, *args: func.vmap(lambda *one: body(m, *one), in_dims)(*args), *given)


def test_out_dims() -> None:
    agree(lambda m, func, x: func.vmap(lambda row: (row, row.sum(), row), out_dims=(1, 0, -1))(x), X)
    agree(lambda m, func, x: func.vmap(lambda row: {"a": (row, row * 2)}, out_dims={"a": (1, 0)})(x), X)
    agree(lambda m, func, x: func.vmap(lambda row: (row, m.ones(2), 3), out_dims=(0, None, None))(x), X)


def test_nested() -> None:
    agree(
        lambda m, func, x, y: func.vmap(func.vmap(lambda a, b: a * b, (0, None)), (None, 0), 1)(x, y), X[0], X
    )
    agree(lambda m, func, x, w: func.vmap(lambda a: func.vmap(lambda b: (a * b) @ w)(x))(x), X, W)


def test_keyword_arguments_are_the_same_for_all() -> None:
    agree(lambda m, func, x, w: func.vmap(lambda row, weight: weight @ row)(x, weight=w), X, W)


@pytest.mark.parametrize("chunk_size", [1, 3, 4, 9])
def test_chunks(chunk_size: int) -> None:
    agree(lambda m, func, x: func.vmap(lambda row: (row.sum(), row), 0, (0, 1), chunk_size=chunk_size)(x), X)


# ---- writes in place -----------------------------------------------------------------------------------


def test_writes_to_what_is_made_inside() -> None:
    def body(x: Any) -> Any:
        made = x.new_zeros(4)
        made[1:] = x
        made[0] = x.sum()
        return made.mul_(2).add_(made)

    agree(lambda m, func, x: func.vmap(body)(x), X)
    agree(lambda m, func, x: func.vmap(func.grad(lambda row: (body(row) ** 3).sum()))(x), X)
    agree(lambda m, func, x: func.grad(lambda rows: (func.vmap(body)(rows) ** 3).sum())(x), X)


def test_writes_to_examples_are_seen_outside() -> None:
    def body(m: Any, func: Any, x: Any) -> Any:
        result = func.vmap(lambda row: row.mul_(2).sum())(x)
        return result, x

    agree(body, X.clone().T)


def test_a_write_to_a_default_tensor_gives_each_example_its_own() -> None:
    made = vmap(lambda row: raxis.zeros(3).add_(row))(raxis.ones(2, 3))
    assert made.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


def test_a_write_to_a_tensor_from_outside_is_refused() -> None:
    shared = raxis.zeros(3)
    with pytest.raises(RuntimeError, match="inplace"):
        vmap(shared.add_)(raxis.ones(2, 3))
    assert shared.tolist() == [0.0, 0.0, 0.0]


def test_a_write_to_examples_that_require_grad_outside_is_refused() -> None:
    x = raxis.ones(2, 3, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="in place"):
        vmap(lambda row: row.mul_(2))(x)
    assert x.tolist() == [[1.0] * 3] * 2


def test_saved_tensors_that_are_overwritten_outside_are_noticed() -> None:
    x = raxis.ones(2, 3, requires_grad=True)
    y = vmap(raxis.exp)(x)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# ---- the tape outside ----------------------------------------------------------------------------------


def test_backward_through_vmap_to_arguments_and_closures() -> None:
    def body(m: Any, func: Any, x: Any, w: Any) -> Any:
        func.vmap(lambda row: ((w @ row) ** 3).sum())(x).sum().backward()
        return x.grad, w.grad

    agree(body, X.clone().requires_grad_(), W.clone().requires_grad_())


def test_backward_through_vmap_of_grad() -> None:
    def body(m: Any, func: Any, x: Any, w: Any) -> Any:
        func.vmap(func.grad(lambda row: ((w @ row) ** 3).sum()))(x).sum().backward()
        return x.grad, w.grad

    agree(body, X.clone().requires_grad_(), W.clone().requires_grad_())


def test_no_grad_inside_and_outside() -> None:
    def inside(m: Any, func: Any, x: Any) -> Any:
        def body(row: Any) -> Any:
            with m.no_grad():
                return row * 2

        return func.vmap(body)(x)

    def outside(m: Any, func: Any, x: Any) -> Any:
        with m.no_grad():
            return func.vmap(lambda row: row * 2)(x)

    agree(inside, X.clone().requires_grad_())
    agree(outside, X.clone().requires_grad_())


def test_custom_functions() -> None:
    class Cube(raxis.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x, w)
            return w * x**3

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            x, w = ctx.saved_tensors
            return gradient * w * 3 * x**2, gradient * x**3

    x, w = raxis.arange(6.0).reshape(2, 3).requires_grad_(), raxis.tensor([1.0, 2.0, 3.0], requires_grad=True)
    vmap(lambda row: Cube.apply(row, w))(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.arange(6.0).reshape(2, 3) ** 2 * [1, 2, 3])
    np.testing.assert_allclose(w.grad.numpy(), (np.arange(6.0).reshape(2, 3) ** 3).sum(0))


# ---- random numbers ------------------------------------------------------------------------------------


def test_random_functions_are_an_error_by_default() -> None:
    for body in (lambda row: row + raxis.rand(3), lambda row: raxis.dropout(row, 0.5, True), raxis.rand_like):
        with pytest.raises(RuntimeError, match="randomness"):
            vmap(body)(raxis.ones(2, 3))


@pytest.mark.parametrize(
    "body", [lambda row: raxis.rand(50), lambda row: raxis.rand_like(row), raxis.Tensor.normal_]
)
def test_different_and_same_random_numbers(body: Callable[[Any], Any]) -> None:
    raxis.manual_seed(3)
    different = vmap(body, randomness="different")(raxis.ones(4, 50)).numpy()
    assert len({row.tobytes() for row in different}) == 4
    following = vmap(body, randomness="different")(raxis.ones(4, 50)).numpy()
    assert not np.isin(following, different).any()
    same = vmap(lambda row: body(row.clone()), randomness="same")(raxis.ones(4, 50)).numpy()
    assert len({row.tobytes() for row in same}) == 1


def test_the_same_random_numbers_in_all_chunks() -> None:
    found = vmap(lambda row: row + raxis.rand(2), randomness="same", chunk_size=2)(raxis.zeros(5, 2)).numpy()
    assert len({row.tobytes() for row in found}) == 1


def test_different_random_numbers_of_a_seed_are_repeated() -> None:
    def draw() -> Any:
        raxis.manual_seed(5)
        return vmap(lambda row: raxis.randn(3) + row, randomness="different")(raxis.zeros(4, 3))

    assert bool((draw() == draw()).all())


# ---- errors --------------------------------------------------------------------------------------------

ERRORS: dict[str, Callable[[Any, Any], Any]] = {
    "no inputs": lambda m, func: func.vmap(lambda: m.ones(2))(),
    "list of in_dims": lambda m, func: func.vmap(m.sin, [0])(m.ones(2)),
    "structure of in_dims": lambda m, func: func.vmap(m.add, (0,))(m.ones(2), m.ones(2)),
    "nothing mapped": lambda m, func: func.vmap(m.sin, (None,))(m.ones(2)),
    "no tensor": lambda m, func: func.vmap(lambda x: x)(3.0),
    "in_dim out of range": lambda m, func: func.vmap(m.sin, 2)(m.ones(2, 2)),
    "0-d argument": lambda m, func: func.vmap(m.sin)(m.tensor(1.0)),
    "in_dim of another type": lambda m, func: func.vmap(m.sin, ("a",))(m.ones(2)),
    "sizes differ": lambda m, func: func.vmap(m.add)(m.ones(2), m.ones(3)),
    "number returned": lambda m, func: func.vmap(lambda x: 3.0)(m.ones(2)),
    "nothing returned": lambda m, func: func.vmap(lambda x: None)(m.ones(2)),
    "out_dim out of range": lambda m, func: func.vmap(lambda x: x, out_dims=5)(m.ones(2, 3)),
    "out_dims None for examples": lambda m, func: func.vmap(lambda x: x, out_dims=None)(m.ones(2, 3)),
    "structure of out_dims": lambda m, func: func.vmap(lambda x: x, out_dims=(0, 0))(m.ones(2, 3)),
    "out_dim of another type": lambda m, func: func.vmap(lambda x: x, out_dims="a")(m.ones(2, 3)),
    "randomness": lambda m, func: func.vmap(m.sin, randomness="no")(m.ones(2)),
    "chunk_size": lambda m, func: func.vmap(m.sin, chunk_size=0)(m.ones(2)),
    "item": lambda m, func: func.vmap(lambda x: x * x.sum().item())(m.ones(2, 3)),
    "truth": lambda m, func: func.vmap(lambda x: x if x.sum() > 0 else -x)(m.ones(2, 3)),
    "nonzero": lambda m, func: func.vmap(m.nonzero)(m.ones(2, 3)),
    "shapes": lambda m, func: func.vmap(m.matmul)(m.ones(2, 3), m.ones(2, 4)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_the_classes_of_pytorch(name: str) -> None:
    with pytest.raises(Exception) as wanted:
        ERRORS[name](torch, torch.func)
    with pytest.raises(type(wanted.value)) as found:
        ERRORS[name](raxis, raxis.func)
    assert type(found.value).__name__ == type(wanted.value).__name__
    assert raxis.get_default_device().depth == 0


def test_elements_that_are_the_same_for_all_can_be_looked_at() -> None:
    assert vmap(lambda row: row * raxis.tensor(3.0).item())(raxis.ones(2)).tolist() == [3.0, 3.0]


def test_moving_to_another_kind_of_device() -> None:
    def body(row: Any) -> Any:
        shadow = row.to("meta")
        assert shadow.is_meta
        assert raxis.ones(3).to(shadow.device).is_meta
        assert shadow.to(device="meta") is shadow
        return shadow + shadow.new_ones(3)

    found = vmap(body)(raxis.ones(2, 3))
    assert found.is_meta
    assert found.shape == (2, 3)


def test_printing_shows_all_examples() -> None:
    texts = []
    vmap(vmap(lambda x: texts.append(repr(x)) or x))(raxis.tensor([[1, 2], [3, 4]]))
    assert texts == ["BatchedTensor(lvl=2, value=\n    tensor([[1, 2],\n            [3, 4]])\n)"]


def test_a_tensor_of_another_call_is_refused() -> None:
    kept = []
    vmap(lambda row: kept.append(row) or row)(raxis.ones(2, 3))
    with pytest.raises(RuntimeError):
        vmap(lambda row: row + kept[0])(raxis.ones(4, 3))


def test_singular_matrix_among_the_examples() -> None:
    given = raxis.stack([raxis.eye(2), raxis.zeros(2, 2)])
    with pytest.raises(raxis.linalg.LinAlgError):
        vmap(raxis.linalg.inv)(given)


def test_the_next_call_finds_its_plans() -> None:
    mapped = vmap(grad(lambda x: (x.sin() @ x).exp()))
    first, second = raxis.ones(2, 7), raxis.zeros(2, 7)
    mapped(first)
    before = {name: len(op.plans) for name, op in OPS.items()}
    mapped(second)
    assert {name: len(op.plans) for name, op in OPS.items()} == before


def test_threads_do_not_see_each_others_levels() -> None:
    def work(size: int) -> Any:
        return vmap(lambda row: (row * raxis.arange(3)).sum())(raxis.ones(size, 3)).tolist()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, [1, 2, 3, 4] * 8))
    assert found == [[3.0] * size for size in [1, 2, 3, 4] * 8]


def test_profiled() -> None:
    with raxis.profiler.profile() as profile:
        found = vmap(lambda row: (row * 2).sum())(raxis.ones(2, 3))
    assert found.tolist() == [6.0, 6.0]
    assert "mul" in {event.key for event in profile.key_averages()}


def test_vmap_is_a_name_of_the_main_module() -> None:
    assert raxis.vmap is vmap
    assert grad(lambda x: x * x)(raxis.tensor(3.0)).item() == 6.0


def test_devices_named_inside() -> None:
    def body(row: Any) -> Any:
        assert row.device.type == "cpu"
        assert str(row.device) == "cpu"
        moved = row.to("cpu").cpu().to(raxis.device("cpu"))
        assert moved is row
        return moved + raxis.ones(3, device=row.device) + raxis.zeros(3, device="cpu")

    assert vmap(body)(raxis.ones(2, 3)).tolist() == [[2.0] * 3] * 2


@pytest.mark.parametrize(
    "draw", [raxis.poisson, lambda rate: raxis.binomial(rate * 4, raxis.full_like(rate, 0.25))]
)
def test_draws_by_rejection(draw: Callable[[Any], Any]) -> None:
    """Loops of their own: different for each example, and all of the distribution, whose mean is `rate`."""
    raxis.manual_seed(0)
    rates = raxis.tensor([15.0, 40.0]).repeat_interleave(1000)
    different = vmap(draw, randomness="different")(rates)
    for rate, drawn in ((15, different[:1000]), (40, different[1000:])):
        assert abs(drawn.mean().item() - rate) < 5 * (rate / 1000) ** 0.5
        assert drawn.unique().numel() > 10
    nested = vmap(vmap(draw, randomness="different"), randomness="different")(rates.view(20, 100))
    assert not (nested[0] == nested[1]).all()
    same = vmap(draw, randomness="same")(raxis.full((3, 500), 20.0))
    assert (same[0] == same[1]).all()
    assert (same[0] == same[2]).all()
    assert abs(same[0].mean().item() - 20) < 5 * (20 / 500) ** 0.5
