"""`grad`, `vjp`, `jvp`, `linearize` and their nesting, against `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis.func import grad, jvp, linearize, vjp
from tests.func.agreement import agree, numbers

x0 = numbers(0, 3)
X = numbers(1, 4, 3)
W = numbers(2, 3, 3)


def _scalar(m: Any, w: Any) -> Callable[[Any], Any]:
    return lambda x: (w @ x.sin()).exp().sum()


def _vector(m: Any, w: Any) -> Callable[[Any], Any]:
    return lambda x: (w @ x.sin()).exp()


NESTED: dict[str, Callable[..., Any]] = {
    "grad": lambda m, func, x, rows, w: func.grad(_scalar(m, w))(x),
    "grad of grad": lambda m, func, x, rows, w: func.grad(lambda x: func.grad(_scalar(m, w))(x).sum())(x),
    "three times": lambda m, func, x, rows, w: func.grad(func.grad(func.grad(lambda x: x**4)))(x[0]),
    "vmap of grad": lambda m, func, x, rows, w: func.vmap(func.grad(_scalar(m, w)))(rows),
    "per-example gradient of what is shared": lambda m, func, x, rows, w: func.vmap(
        lambda row: func.grad(lambda w: _scalar(m, w)(row))(w)
    )(rows),
    "grad of vmap": lambda m, func, x, rows, w: func.grad(lambda w: func.vmap(_scalar(m, w))(rows).sum())(w),
    "grad of vmap of grad": lambda m, func, x, rows, w: func.grad(
        lambda w: (func.vmap(func.grad(_scalar(m, w)))(rows) ** 2).sum()
    )(w),
    "vmap of vmap of grad": lambda m, func, x, rows, w: func.vmap(
        func.vmap(func.grad(lambda a, b: (a * b).sin().sum(), (0, 1)), (0, None)), (None, 0), 1
    )(x, rows),
    "jvp": lambda m, func, x, rows, w: func.jvp(_vector(m, w), (x,), (x * 2,)),
    "jvp of vmap": lambda m, func, x, rows, w: func.jvp(func.vmap(_vector(m, w)), (rows,), (rows * 2,)),
    "vmap of jvp": lambda m, func, x, rows, w: func.vmap(
        lambda row: func.jvp(_vector(m, w), (row,), (row * 2,))
    )(rows),
    "vmap of tangents": lambda m, func, x, rows, w: func.vmap(
        lambda tangent: func.jvp(_vector(m, w), (x,), (tangent,))[1]
    )(rows),
    "jvp of jvp": lambda m, func, x, rows, w: func.jvp(
        lambda x: func.jvp(_vector(m, w), (x,), (x * 2,))[1], (x,), (x,)
    ),
    "jvp of grad": lambda m, func, x, rows, w: func.jvp(func.grad(_scalar(m, w)), (x,), (x,)),
    "grad of jvp": lambda m, func, x, rows, w: func.grad(
        lambda x: func.jvp(_scalar(m, w), (x,), (x * 2,))[1]
    )(x),
    "vmap of cotangents": lambda m, func, x, rows, w: func.vmap(func.vjp(_vector(m, w), x)[1])(rows),
    "vjp in vmap": lambda m, func, x, rows, w: func.vmap(
        lambda row, cotangent: func.vjp(_vector(m, w), row)[1](cotangent)[0], (0, None)
    )(rows, x),
    "vjp in vjp": lambda m, func, x, rows, w: func.vjp(lambda x: func.vjp(_vector(m, w), x)[1](x)[0], x)[1](
        x
    ),
    "closures of closures": lambda m, func, x, rows, w: func.grad(
        lambda x: func.grad(lambda y: (x * y * y).sum())(x * 2).sum()
    )(x),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested(name: str) -> None:
    agree(NESTED[name], x0, X, W)


def test_trees_and_argnums_and_aux() -> None:
    def body(state: Any, y: Any) -> Any:
        return (state["a"] * y).sum() + state["b"][0].sum() * 0.5, {"kept": state["b"][0] * 3}

    given = ({"a": x0, "b": [X]}, x0)
    agree(lambda m, func, state, y: func.grad_and_value(body, argnums=(0, 1), has_aux=True)(state, y), *given)
    agree(lambda m, func, state, y: func.grad_and_value(body, argnums=(1, 0), has_aux=True)(state, y), *given)
    agree(lambda m, func, state, y: func.grad(body, argnums=-1, has_aux=True)(state, y), *given)
    agree(lambda m, func, state, y: func.grad(lambda s, y: body(s, y)[0], argnums=(0,))(state, y), *given)
    agree(lambda m, func, x: func.vjp(lambda x: (x * 2, x.sum()), x, has_aux=True)[::2], x0)
    agree(lambda m, func, x: func.jvp(lambda x: (x * 2, x.sum()), (x,), (x,), has_aux=True), x0)


def test_unused_arguments_and_constant_results() -> None:
    agree(lambda m, func, x, y: func.grad(lambda x, y: y.sum())(x, y), x0, X)
    agree(lambda m, func, x: func.vjp(lambda x: m.ones(2), x)[1](m.ones(2)), x0)
    agree(lambda m, func, x: func.jvp(lambda x: m.ones(2), (x,), (x,)), x0)
    agree(lambda m, func, x: func.jvp(lambda x: (x * 2, x > 0), (x,), (x,)), x0)
    agree(
        lambda m, func, x, rows: func.vmap(lambda row: func.grad(lambda x, y: y.sum())(x, row))(rows), x0, X
    )


def test_several_primals_and_results() -> None:
    def body(x: Any, y: Any) -> Any:
        return {"product": x * y, "pair": (x.sum(), y.exp())}

    def pulled(m: Any, func: Any, x: Any, y: Any) -> Any:
        output, pull = func.vjp(body, x, y)
        return output, pull({"product": x, "pair": (x[0], y)})

    agree(pulled, x0, x0 * 2)
    agree(lambda m, func, x, y: func.jvp(body, (x, y), (y, x)), x0, x0 * 2)


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")
def test_linearize() -> None:
    def body(m: Any, func: Any, x: Any) -> Any:
        output, push = func.linearize(lambda x: x**3, x)
        return output, push(x), push(x * 2)

    agree(body, x0)


def test_a_vjp_can_be_asked_for_again() -> None:
    def body(m: Any, func: Any, x: Any) -> Any:
        _, pull = func.vjp(m.exp, x)
        return pull(x), pull(x * 2)

    agree(body, x0)


# ---- the tape outside ----------------------------------------------------------------------------------


def test_results_are_on_the_tape_only_where_it_leads_outside() -> None:
    tracked = W.clone().requires_grad_()
    for given in ((x0, W), (x0.clone().requires_grad_(), W), (x0, tracked)):
        agree(lambda m, func, x, w: func.grad_and_value(_scalar(m, w))(x), *given)
        agree(lambda m, func, x, w: func.vjp(_vector(m, w), x)[0], *given)
        agree(lambda m, func, x, w: func.jvp(_vector(m, w), (x,), (x,)), *given)


def test_each_result_by_itself_is_on_the_tape_or_not() -> None:
    tracked = W.clone().requires_grad_()

    def body(x: Any, y: Any, w: Any) -> Any:
        return (w @ x).sum() + (y**2).sum(), (y * 2, x * 3, w * 4)

    agree(lambda m, func, x, y, w: func.grad(lambda *a: body(*a)[0], (0, 1, 2))(x, y, w), x0, x0, tracked)
    agree(
        lambda m, func, x, y, w: func.grad(lambda x, y: body(x, y, w), (0, 1), has_aux=True)(x, y),
        x0,
        x0,
        tracked,
    )
    agree(lambda m, func, x, y, w: func.vjp(lambda x, y: body(x, y, w)[1], x, y)[0], x0, x0, tracked)
    agree(lambda m, func, x, y, w: func.jvp(lambda x, y: body(x, y, w)[1], (x, y), (y, x)), x0, x0, tracked)
    agree(lambda m, func, x, y, w: func.jvp(lambda y: y**2, (y,), (w[0],)), x0, x0, tracked)


def test_backward_through_transforms() -> None:
    def body(m: Any, func: Any, x: Any, w: Any) -> Any:
        gradient = func.grad(_scalar(m, w))(x)
        (gradient.sum() + func.jvp(_scalar(m, w), (x,), (x,))[1]).backward()
        return x.grad, w.grad

    agree(body, x0.clone().requires_grad_(), W.clone().requires_grad_())


def test_no_grad_outside_is_no_matter_inside() -> None:
    def body(m: Any, func: Any, x: Any) -> Any:
        with m.no_grad():
            return func.grad(lambda x: func.grad(lambda x: x**3)(x))(x)

    agree(body, x0[0])
    agree(body, x0[0].clone().requires_grad_())


def test_no_grad_inside_counts() -> None:
    def body(m: Any, func: Any, x: Any) -> Any:
        def cube(x: Any) -> Any:
            with m.no_grad():
                shift = x**3
            return x - shift

        return func.grad(cube)(x)

    agree(body, x0[0])


def test_arguments_get_no_grad() -> None:
    x = raxis.ones(2, requires_grad=True)
    grad(lambda x: (x * x).sum())(x)
    assert x.grad is None


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
def test_dtypes(dtype: str) -> None:
    def body(m: Any) -> Any:
        x = m.tensor([1.0, 2.0], dtype=getattr(m, dtype))
        return m.func.grad(lambda x: (x * x).abs().sum() if x.is_complex() else (x * x).sum())(x)

    found, wanted = body(raxis), body(torch)
    assert str(found.dtype).split(".")[-1] == str(wanted.dtype).split(".")[-1]
    assert found.tolist() == pytest.approx(wanted.tolist(), rel=1e-6)


# ---- errors --------------------------------------------------------------------------------------------

ERRORS: dict[str, Callable[[Any, Any], Any]] = {
    "integers": lambda m, func: func.grad(lambda x: x.sum())(m.arange(2)),
    "no tensor": lambda m, func: func.grad(lambda x: x)(3.0),
    "no scalar": lambda m, func: func.grad(lambda x: x)(m.ones(2)),
    "no tensor returned": lambda m, func: func.grad(lambda x: 3.0)(m.ones(2)),
    "tuple returned": lambda m, func: func.grad(lambda x: (x.sum(), x))(m.ones(2)),
    "no pair with aux": lambda m, func: func.grad(lambda x: x.sum(), has_aux=True)(m.ones(2)),
    "argnums beyond": lambda m, func: func.grad(lambda x: x.sum(), argnums=1)(m.ones(2)),
    "argnums twice": lambda m, func: func.grad(lambda x, y: x.sum(), argnums=(0, 0))(m.ones(2), m.ones(2)),
    "argnums empty": lambda m, func: func.grad(lambda x: x.sum(), argnums=())(m.ones(2)),
    "argnums of another type": lambda m, func: func.grad(lambda x: x.sum(), argnums="a")(m.ones(2)),
    "vjp returns number": lambda m, func: func.vjp(lambda x: 3.0, m.ones(2)),
    "vjp structure": lambda m, func: func.vjp(lambda x: x, m.ones(2))[1]((m.ones(2), m.ones(2))),
    "vjp shape": lambda m, func: func.vjp(lambda x: x, m.ones(2))[1](m.ones(3)),
    "jvp no tuples": lambda m, func: func.jvp(lambda x: x, m.ones(2), m.ones(2)),
    "jvp structure": lambda m, func: func.jvp(lambda x: x, (m.ones(2),), (m.ones(2), m.ones(2))),
    "jvp shape": lambda m, func: func.jvp(lambda x: x, (m.ones(2),), (m.ones(3),)),
    "jvp of a number": lambda m, func: func.jvp(lambda x: x, (3.0,), (3.0,)),
    "jvp strict": lambda m, func: func.jvp(lambda x: m.ones(2), (m.ones(2),), (m.ones(2),), strict=True),
    "write to an argument": lambda m, func: func.grad(lambda x: x.mul_(2).sum())(m.ones(2)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_the_classes_of_pytorch(name: str) -> None:
    with pytest.raises(Exception) as wanted:
        ERRORS[name](torch, torch.func)
    with pytest.raises(type(wanted.value)) as found:
        ERRORS[name](raxis, raxis.func)
    assert type(found.value).__name__ == type(wanted.value).__name__


def test_jvp_is_exact_at_large_and_small_numbers() -> None:
    x = raxis.tensor([1e150, 1e-150], dtype=raxis.float64)
    _, tangent = jvp(lambda x: x * 3, (x,), (x,))
    assert tangent.tolist() == pytest.approx([3e150, 3e-150], rel=1e-14, abs=0)
    _, pull = vjp(lambda x: x * 3, x)
    assert pull(x)[0].tolist() == pytest.approx([3e150, 3e-150], rel=1e-14, abs=0)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(
    "function", [lambda x: x * x, lambda x: (x * x).sum(), lambda x: 2 * x.reshape(3, 1)]
)
def test_tangents_of_other_dtypes(name: str, function: Callable[[Any], Any]) -> None:
    primal, tangent = np.array([1.0, -2.0, 0.5], np.float32), [1.0, 0.25, -2.0]
    if name.startswith("complex"):
        tangent = [1.0 + 2j, 0.25 - 1j, -2.0j]
    _, expected = torch.func.jvp(
        function, (torch.from_numpy(primal),), (torch.tensor(tangent).to(getattr(torch, name)),)
    )
    given = raxis.tensor(tangent).to(getattr(raxis, name))
    _, found = jvp(function, (raxis.from_numpy(primal),), (given,))
    _, push = linearize(function, raxis.from_numpy(primal))
    for result in (found, push(given), push(given)):
        assert str(result.dtype).split(".")[1] == str(expected.dtype).split(".")[1]
        np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-6)


def test_tangents_of_constants_and_integers() -> None:
    x, wide = raxis.ones(2), raxis.ones(2, dtype=raxis.complex128)
    assert jvp(lambda x: raxis.ones(3), (x,), (wide,))[1].tolist() == [0, 0, 0]
    for function in (lambda t: jvp(raxis.sin, (x,), (t,)), lambda t: linearize(raxis.sin, x)[1](t)):
        with pytest.raises(
            ValueError, match=r"tangent to be floating point or complex, but got: raxis\.int64"
        ):
            function(raxis.ones(2, dtype=raxis.int64))


def test_gradients_of_wide_tangents() -> None:
    def pushed(t: Any) -> Any:
        return jvp(lambda x: x**3, (raxis.tensor([2.0]),), (t,))[1].abs().sum()

    assert grad(pushed)(raxis.ones(1, dtype=raxis.float64)).tolist() == [12.0]
