"""Compiled functions do what the functions do, also where memory, tape, modules and numbers are used in odd ways."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from itertools import pairwise

import numpy as np
import pytest

import raxis
from raxis import nn
from raxis.utils.checkpoint import checkpoint
from tests.compiler.agreement import Case, agree


def drawn(*shape: int) -> raxis.Tensor:
    return raxis.randn(*shape)


def leaf(*shape: int) -> raxis.Tensor:
    return raxis.randn(*shape, requires_grad=True)


def _square_of_first(result, arguments):
    leaf, argument = arguments[0], arguments[1]
    (argument**2).sum().backward()
    return leaf.grad


# ---- arguments --------------------------------------------------------------------------------------


def written_argument_on_the_tape() -> Case:
    def function(leaf, x, y):
        x.mul_(y)
        return x

    def arguments(number):
        first = leaf(3)
        return first, first * 1.0, drawn(3)

    return Case(function, arguments, _square_of_first)


def argument_comes_onto_the_tape() -> Case:
    weight = leaf(3)

    def after(result, arguments):
        return raxis.autograd.grad((arguments[0] ** 2).sum(), weight)

    return Case(lambda x: [x.mul_(weight)][1:], lambda _: (drawn(3),), after)


def backward_to_arguments() -> Case:
    def function(x):
        (x**2).sum().backward()
        return x.sum().detach()

    def arguments(number):
        x = leaf(3)
        if number != 1:
            x.grad = drawn(3)
        return (x,)

    return Case(function, arguments)


def argument_and_what_it_was_made_from() -> Case:
    def arguments(number):
        x = leaf(3)
        return x, x * 2

    return Case(lambda x, y: (x * y).sum(), arguments, lambda result, _: result.backward())


def outside_result_and_what_it_was_made_from() -> Case:
    weight = leaf(3)
    double = weight * 2

    def after(result, arguments):
        return raxis.autograd.grad(result, weight, retain_graph=True)

    return Case(lambda x: (x * double * weight).sum(), lambda _: (drawn(3),), after)


def outside_view() -> Case:
    weight = leaf(3, 3)
    row = weight[0]

    def after(result, arguments):
        return raxis.autograd.grad(result, weight, retain_graph=True)

    return Case(lambda x: (x * row).sum(), lambda _: (drawn(3),), after)


def argument_is_now_and_then_a_weight() -> Case:
    weight = leaf(3)

    def after(result, arguments):
        return raxis.autograd.grad(result, weight)

    return Case(lambda x: (x * weight).sum(), lambda number: (weight if number != 1 else leaf(3),), after)


def argument_shows_state() -> Case:
    state = raxis.ones(4)

    def function(x):
        state.add_(1)
        x.mul_(2)
        return x * 2 + state.sum()

    return Case(function, lambda number: (state[:2] if number % 2 else drawn(2),), lambda *_: state.clone())


def arguments_overlap_elsewhere() -> Case:
    def function(x, y):
        x.add_(1)
        return y * 2

    def arguments(number):
        base = drawn(8)
        return base[:4], base[number : number + 4]

    return Case(function, arguments)


def more_of_an_argument_than_it_shows() -> Case:
    return Case(lambda x: x.as_strided((4,), (2,), 0) * 2, lambda _: (drawn(8)[:4],))


def two_parts_of_outside_memory() -> Case:
    whole = drawn(6)
    part = whole[:2].detach()
    return Case(lambda x: (part * x, whole.sum()), lambda _: (drawn(2),))


def gradients_in_one_buffer() -> Case:
    flat = raxis.zeros(6)
    first, second = leaf(3), leaf(3)
    first.grad, second.grad = flat[:3], flat[3:]

    def function(x):
        ((first + second * 2) * x).sum().backward()
        return flat.sum()

    return Case(function, lambda _: (drawn(3),), lambda *_: flat.clone())


def resized_result() -> Case:
    def function(x):
        return raxis.add(x, 1, out=raxis.empty(0))

    return Case(function, lambda _: (drawn(3),))


def requires_grad_inside() -> Case:
    def function(x):
        x.requires_grad_()
        y = (x**2).sum()
        y.backward()
        return y.detach()

    return Case(function, lambda _: (drawn(3),))


# ---- results ----------------------------------------------------------------------------------------


def numbers_returned() -> Case:
    return Case(
        lambda x, s: {"product": x * s, "numbers": [s, s * 2]}, lambda number: (drawn(3), float(number))
    )


def one_tensor_twice() -> Case:
    def function(x):
        y = x * 2
        return y, y

    return Case(function, lambda _: (drawn(3),), lambda result, _: result[0] is result[1])


def used_view_returned() -> Case:
    def function(x):
        row = x[0]
        return row, row + 1, x.data, x.detach() * 2

    return Case(function, lambda _: (drawn(3, 3),))


def views_of_a_result_are_written() -> Case:
    def after(result, arguments):
        result[1].mul_(3)
        (result[0] ** 2).sum().backward()

    def function(x):
        y = x * 2
        return y, y[0]

    return Case(function, lambda _: (leaf(2, 2),), after)


def views_of_a_hidden_base_are_written() -> Case:
    def after(result, arguments):
        result[1].mul_(3)
        (result[0] ** 2).sum().backward()

    def function(x):
        y = x * 2
        return y[:2], y[1:]

    return Case(function, lambda _: (leaf(3),), after)


def view_of_an_argument_is_written() -> Case:
    def after(result, arguments):
        result.mul_(3)
        return _square_of_first(result, arguments)

    def arguments(number):
        first = leaf(2, 2)
        return first, first * 1.0

    return Case(lambda _, x: x[0], arguments, after)


def empty_views() -> Case:
    return Case(
        lambda x: (x.sum(), x * 2, raxis.cat([x, x]), x.t()),
        lambda _: (leaf(0, 3),),
        lambda result, _: result[3].sum().backward(),
    )


def inference_inside() -> Case:
    def function(x):
        with raxis.inference_mode():
            return x * 2, x.t()

    return Case(function, lambda _: (drawn(2, 2),))


def leaf_made_inside() -> Case:
    def function(x):
        y = x.detach().requires_grad_()
        return y, (y * 2).sum()

    def after(result, arguments):
        result[1].backward()
        return result[0].grad

    return Case(function, lambda _: (drawn(3),), after)


def custom_function_of_a_view() -> Case:
    class Triple(raxis.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    return Case(lambda x: Triple.apply(x), lambda _: (leaf(3),), lambda result, _: result.sum().backward())


def other_dtypes_of_memory() -> Case:
    def function(x):
        x.real.mul_(2)
        return (
            x.imag * 2,
            raxis.view_as_real(x),
            raxis.view_as_complex(raxis.view_as_real(x) * 2),
            (x * 2).real,
        )

    return Case(function, lambda _: (raxis.randn(3, dtype=raxis.complex64),))


def bits_of_floats() -> Case:
    return Case(lambda x: (x.view(raxis.int32) + 1, (x * 2).view(raxis.uint8)), lambda _: (drawn(3),))


# ---- what lies outside ------------------------------------------------------------------------------


def _changing_module(make, *changes) -> Case:
    module = make()

    def arguments(number):
        if number:
            changes[number - 1](module)
        return (drawn(4, 3),)

    return Case(lambda x: module(x), arguments)


def module_attribute_changes() -> Case:
    return _changing_module(
        lambda: nn.Dropout(0.5),
        lambda module: setattr(module, "p", 0.25),
        lambda module: setattr(module, "p", 1.0),
        lambda module: setattr(module, "p", 0.5),
    )


def module_parts_change() -> Case:
    return _changing_module(
        lambda: nn.Sequential(nn.Linear(3, 3), nn.ReLU()),
        lambda module: module.__setitem__(1, nn.Sigmoid()),
        lambda module: setattr(module[0], "weight", nn.Parameter(raxis.ones(3, 3))),
        lambda module: module.append(nn.Tanh()),
    )


def module_hooks_change() -> Case:
    handles = []

    def add(module):
        handles.append(module.register_forward_hook(lambda module, arguments, result: result * 2))

    return _changing_module(lambda: nn.Linear(3, 3), add, add, lambda _: handles[0].remove())


def hooks_of_a_weight_change() -> Case:
    weight = leaf(3)

    def function(x):
        weight.grad = None
        (weight * x).sum().backward()
        return weight.grad

    def arguments(number):
        if number == 2:
            weight.register_hook(lambda gradient: gradient * 2)
        return (drawn(3),)

    return Case(function, arguments)


def hook_of_a_weight_and_backward_outside() -> Case:
    weight, arrived = leaf(3), []
    weight.register_hook(lambda gradient: (arrived.append(1), gradient * 2)[1])

    def after(result, arguments):
        weight.grad = None
        result.backward()
        return weight.grad, len(arrived)

    return Case(lambda x: (weight * x).sum(), lambda _: (drawn(3),), after)


def outside_shape_changes() -> Case:
    weight = drawn(2, 2)

    def arguments(number):
        if number:
            weight.t_()
        return (drawn(2, 2),)

    return Case(lambda x: x @ weight, arguments)


def seeded_inside() -> Case:
    def function(x):
        raxis.manual_seed(3)
        return x + raxis.rand(3)

    return Case(function, lambda _: (drawn(3),))


def checkpointed_dropout() -> Case:
    layer = nn.Linear(3, 3)

    def function(x):
        hidden = checkpoint(lambda y: nn.functional.dropout(layer(y).relu(), 0.5), x, use_reentrant=False)
        return (hidden + raxis.rand(3)).sum()

    def after(result, arguments):
        layer.weight.grad = None
        result.backward()
        return layer.weight.grad

    return Case(function, lambda _: (leaf(4, 3),), after)


BUILDERS = [
    value for name, value in list(globals().items()) if getattr(value, "__annotations__", {}).get("return") == "Case"
    and not name.startswith("_")
]  # fmt: skip


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_agrees(build) -> None:
    agree(build)


def test_differentiating_twice_is_refused_outside_and_works_inside() -> None:
    cube = raxis.compile(lambda x: (x**3).sum())
    cube(leaf(3))
    x = leaf(3)
    with pytest.raises(RuntimeError, match="create_graph"):
        raxis.autograd.grad(cube(x), x, create_graph=True)


NUMBERS = {
    "gradients": lambda x, s: x * s + (x / s).lerp(x, s) - raxis.sub(x, x * x, alpha=s),
    "arithmetic": lambda x, s: x * (s // 2 + 2**s - s % 3 + abs(-s)),
    "powers": lambda x, s: x.abs() ** s + s**x,
    "values": lambda x, s: (
        raxis.where(x > 0, x, s) + x.masked_fill(x > 0, s).index_fill(0, raxis.tensor([0]), s)
    ),
    "literals": lambda x, s: x * raxis.tensor(s) + raxis.tensor([s, 1.0, 2.0]) + raxis.full((3,), s),
    "looked at": lambda x, s: x * (round(s) if s < 9 else 3) * {1: 5}.get(s, 9) * len(str(s)),
    "its type": lambda x, s: x * (2 if isinstance(s, float) else 3) * (5 if isinstance(s, int) else 7),
    "compared in a gradient": lambda x, s: raxis.addmm(x, x.outer(x), x.outer(x), beta=s, alpha=s),
    "static": lambda x, s: nn.functional.layer_norm(x, (3,), eps=s) + nn.functional.leaky_relu(x, s),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("numbers", [(2, 1, 3, 4), (1.5, 1.0, 0.5, float("inf"), float("nan"))])
def test_numbers_that_change(name, numbers) -> None:
    def build() -> Case:
        return Case(
            NUMBERS[name],
            lambda number: (leaf(3), numbers[number]),
            lambda result, _: result.sum().backward(),
        )

    agree(build, calls=len(numbers))


# ---- copies ----------------------------------------------------------------------------------------


@raxis.compile
def doubled(x):
    return x * 2


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_copies(copied) -> None:
    network = raxis.compile(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))
    x = drawn(4, 3)
    network(x)
    other = copied(network)
    network.get_parameter("_orig_mod.0.weight").data.zero_()
    assert other.compiled.misses() == []
    assert not raxis.allclose(network(x), other(x))
    other.load_state_dict(network.state_dict())
    assert raxis.allclose(network(x), other(x))
    assert copy.deepcopy(doubled) is doubled


def test_anomaly_mode_looks_at_every_op() -> None:
    compiled = raxis.compile(lambda x: (x.sqrt() * 0).sum())
    compiled(leaf(2))
    for _ in range(2):
        x = raxis.zeros(2, requires_grad=True)
        with raxis.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="SqrtBackward0"):
            compiled(x).backward()


# ---- memory -----------------------------------------------------------------------------------------


def _backward_inside(x):
    (x * 2).sum().backward()
    return x.grad * 1


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: x * 2, lambda _: (drawn(3),)),
        (lambda x: (x[0], x.t(), x), lambda _: (drawn(3, 3),)),
        (lambda x: x.exp().sum(), lambda _: (leaf(3, 3),)),
        (lambda x: x.add_(1).sum(), lambda _: (drawn(3, 3),)),
        (_backward_inside, lambda _: (leaf(3),)),
        (lambda x, s: x * s, lambda number: (drawn(3), float(number))),
    ],
)
def test_nothing_of_a_call_is_kept(function, arguments) -> None:
    compiled, alive = raxis.compile(function), []
    for number in range(4):
        given = arguments(number)
        result = compiled(*given)
        results = result if isinstance(result, tuple) else (result,)
        tensors = [item for item in (*given, *results) if isinstance(item, raxis.Tensor)]
        alive += [weakref.ref(part) for item in tensors for part in (item, item._storage)]
        del given, result, results, tensors
    gc.collect()
    assert [reference() for reference in alive if reference() is not None] == []


def test_backward_lets_arguments_go() -> None:
    compiled, losses, alive = raxis.compile(lambda x: x.exp().sum()), [], []
    for _ in range(3):
        x = leaf(3)
        losses.append(compiled(x))
        losses[-1].backward()
        alive.append(weakref.ref(x))
        del x
    gc.collect()
    assert [reference() for reference in alive[1:] if reference() is not None] == []


def test_compiled_modules_are_not_kept() -> None:
    network = nn.Linear(3, 3)
    compiled = raxis.compile(network)
    for _ in range(3):
        compiled(drawn(2, 3)).sum().backward()
    reference = weakref.ref(network)
    del network, compiled
    gc.collect()
    assert reference() is None


def test_number_of_recordings_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr("raxis.compiler.compiled.MOST_SIGNATURES", 4)
    compiled = raxis.compile(lambda x: x * 2)
    for size in (1, 2, 3, 4, 5, 6, 1, 7, 1, 8, 1):
        np.testing.assert_array_equal(compiled(raxis.ones(size)).numpy(), np.full(size, 2, np.float32))
    assert len(compiled.replays()) == 4
    sizes = [int(miss.arguments[8:-1]) for miss in compiled.misses()]
    assert sizes == [1, 2, 3, 4, 5, 6, 1, 7, 8]
    assert all(one != other for one, other in pairwise(sizes))
