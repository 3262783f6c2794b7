"""`raxis.compile`: what is repeated, what is recorded anew, and what cannot be compiled."""

from __future__ import annotations

import math
import threading
from collections import namedtuple

import numpy as np
import pytest

import raxis
import raxis.nn.functional as F
from raxis import nn
from raxis.compiler import CompileError


def reasons(compiled) -> list[str]:
    return [miss.reason for miss in compiled.misses()]


# ---- values -----------------------------------------------------------------------------------------


def test_repeats_for_new_values_of_one_kind() -> None:
    runs = []

    @raxis.compile
    def double(x):
        runs.append(1)
        return x * 2 + 1

    for value in (1.0, 2.0, float("nan")):
        np.testing.assert_array_equal(
            double(raxis.full((3,), value)).numpy(), np.full(3, value * 2 + 1, np.float32)
        )
    assert len(runs) == len(double.misses()) == 1
    assert double(raxis.ones(2, 2)).shape == (2, 2)
    assert double(raxis.ones(3, dtype=raxis.float64)).dtype is raxis.float64
    assert double(raxis.ones(0)).shape == (0,)
    assert double(raxis.tensor(3.0)).item() == 7.0
    assert len(runs) == 5


def test_views_in_and_out() -> None:
    @raxis.compile
    def parts(x):
        return x[1:, ::2], x.t(), x.flatten()[2], x.unsqueeze(0).expand(2, -1, -1)

    for seed in range(3):
        raxis.manual_seed(seed)
        x = raxis.randn(4, 6)
        array = x.numpy()
        expected = (array[1:, ::2], array.T, array.flatten()[2], np.broadcast_to(array, (2, 4, 6)))
        for one, other in zip(parts(x), expected, strict=True):
            np.testing.assert_array_equal(one.numpy(), other)
    x = raxis.zeros(4, 6)
    parts(x)[1][0, 0] = 5.0  # results that are views of an argument share its memory
    assert x[0, 0].item() == 5.0


def test_arguments_at_any_place_of_their_memory() -> None:
    total = raxis.compile(lambda x: x.sum() + x[0])
    data = raxis.arange(20.0)
    for start in range(0, 16, 4):
        part = data[start : start + 4]
        assert total(part).item() == part.numpy().sum() + start
    assert len(total.misses()) == 1
    assert total(data[::5]).item() == 30.0  # other strides: recorded anew
    assert len(total.misses()) == 2


def test_writes_to_arguments_are_seen() -> None:
    @raxis.compile
    def change(x, y):
        x[1:] += y
        x[0] = 7
        y.mul_(2)
        return x.sum()

    for _ in range(3):
        x, y = raxis.ones(3), raxis.tensor([1.0, 2.0])
        version = x._version
        assert change(x, y).item() == 12.0
        assert x.tolist() == [7.0, 2.0, 3.0]
        assert y.tolist() == [2.0, 4.0]
        assert x._version > version
    memory = np.ones(3, np.float32)
    change(raxis.from_numpy(memory), raxis.tensor([1.0, 2.0]))
    assert memory.tolist() == [7.0, 2.0, 3.0]


def test_one_memory_as_two_arguments() -> None:
    @raxis.compile
    def add(x, y):
        x += 1
        return x + y

    base = raxis.zeros(4)
    assert add(base[:2], base[2:]).tolist() == [1.0, 1.0]
    assert base.tolist() == [1.0, 1.0, 0.0, 0.0]
    whole = raxis.zeros(2)
    assert add(whole, whole).tolist() == [2.0, 2.0]
    other, same = raxis.zeros(2), raxis.full((2,), 5.0)
    assert add(other, same).tolist() == [6.0, 6.0]
    overlapping = raxis.zeros(3)
    assert add(overlapping[:2], overlapping[1:]).tolist() == [1.0 + 1.0, 1.0]


def test_state_outside() -> None:
    count, weight = raxis.zeros(()), raxis.ones(3)

    @raxis.compile
    def call(x):
        count.add_(1)
        return x @ weight

    for number in range(1, 5):
        assert call(raxis.ones(3)).item() == 3.0 * number
        assert count.item() == number
        weight.add_(1.0)
    weight.data = raxis.zeros(3)
    assert call(raxis.ones(3)).item() == 0.0
    assert "other memory" in reasons(call)[-1]


def test_containers() -> None:
    Pair = namedtuple("Pair", ["first", "second"])

    @raxis.compile
    def swap(pair, options):
        return {"pair": Pair(pair.second, pair.first * options["scale"]), "list": [pair.first, None, "text"]}

    for value in (1.0, 2.0):
        result = swap(Pair(raxis.full((2,), value), raxis.zeros(1)), {"scale": raxis.tensor(3.0)})
        assert type(result["pair"]) is Pair
        assert result["pair"].second.tolist() == [3 * value] * 2
        assert result["list"][0].tolist() == [value] * 2
        assert result["list"][1:] == [None, "text"]
    assert len(swap.misses()) == 1


# ---- numbers, modes, modules ------------------------------------------------------------------------


def test_numbers_become_inputs() -> None:
    scaled = raxis.compile(lambda x, s: x * s + (s * 2 - 1) / 4)
    for s in (0.5, 1.5, 2.5, -3.0, math.inf):
        np.testing.assert_allclose(
            scaled(raxis.ones(2), s).numpy(), np.full(2, s + (s * 2 - 1) / 4, np.float32)
        )
    assert len(scaled.misses()) == 2
    eager = raxis.compile(lambda x, s: x * s, dynamic=True)
    assert [eager(raxis.ones(1), s).item() for s in (1, 2, 3)] == [1.0, 2.0, 3.0]
    assert len(eager.misses()) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda x, n: x.reshape(n, -1) if n > 1 else x,
        lambda x, n: x * math.sqrt(n),
        lambda x, n: x.sum() + raxis.zeros(n).sum() + n,
        lambda x, n: x[:n] * 2,
        lambda x, n: x.expand(n, -1),
        lambda x, n: sum([x] * int(n)),
    ],
)
def test_numbers_whose_value_is_looked_at(use) -> None:
    compiled = raxis.compile(use)
    x = raxis.arange(12.0)
    for n in (2, 3, 4, 2, 6, 3):
        expected, found = use(x, n), compiled(x, n)
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def test_static_arguments() -> None:
    @raxis.compile(static_argnums=(1,))
    def power(x, how):
        return x ** how["exponent"] if isinstance(how, dict) else x ** len(how)

    assert power(raxis.tensor(3.0), (1, 2)).item() == 9.0
    assert power(raxis.tensor(3.0), (1, 2, 3)).item() == 27.0
    with pytest.raises(TypeError, match="dict"):
        power(raxis.tensor(3.0), {"exponent": 2})
    with pytest.raises(TypeError, match="ndarray"):
        raxis.compile(lambda x: x)(np.ones(2))


def test_modes_and_modules() -> None:
    network = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    compiled = raxis.compile(lambda x: network(x))
    x = raxis.ones(2, 3)
    assert compiled(x).requires_grad
    with raxis.no_grad():
        assert not compiled(x).requires_grad
    with raxis.inference_mode():
        assert compiled(x).is_inference()
    network.eval()
    np.testing.assert_allclose(compiled(x).detach().numpy(), network(x).detach().numpy(), rtol=1e-6)
    assert "training=True to training=False" in reasons(compiled)[-1]
    network[0].weight.requires_grad_(False)
    compiled(x).sum().backward()
    assert network[0].weight.grad is None
    assert network[0].bias.grad.tolist() == [2.0, 2.0, 2.0]


def test_compiled_modules() -> None:
    network = nn.Linear(3, 2)
    compiled = raxis.compile(network)
    assert compiled.weight is network.weight
    assert compiled.in_features == 3
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert not compiled.eval().training
    assert not network.training
    with pytest.raises(AttributeError, match="absent"):
        _ = compiled.absent
    np.testing.assert_allclose(
        compiled(raxis.ones(1, 3)).detach().numpy(), network(raxis.ones(1, 3)).detach().numpy()
    )


def test_random_numbers_differ_from_call_to_call_as_in_eager() -> None:
    def noise(x):
        return F.dropout(x, 0.5) + raxis.rand(4) + raxis.randn(4)

    compiled, x = raxis.compile(noise), raxis.ones(4)
    raxis.manual_seed(5)
    eager = [noise(x).tolist() for _ in range(4)]
    raxis.manual_seed(5)
    found = [compiled(x).tolist() for _ in range(4)]
    np.testing.assert_allclose(found, eager, rtol=1e-6)
    assert len({tuple(row) for row in found}) == 4
    generator = raxis.Generator().manual_seed(1)
    drawn = raxis.compile(lambda: raxis.rand(2, generator=generator))
    assert drawn().tolist() != drawn().tolist()


# ---- breaks, errors, limits -------------------------------------------------------------------------


BREAKS = {
    "item": lambda x: x * x.sum().item(),
    "bool": lambda x: x if x.sum() > 0 else -x,
    "nonzero": lambda x: x.nonzero(),
    "mask": lambda x: x[x > 0],
    "numpy": lambda x: x + float(x.numpy().sum()),
    "print": lambda x: (str(x), x)[1],
}


@pytest.mark.parametrize("name", BREAKS)
def test_values_inside(name: str) -> None:
    function, x = BREAKS[name], raxis.tensor([1.0, 0.0, 2.0])
    with pytest.raises(CompileError, match=r"test_compile\.py:\d+.*inside a compiled function"):
        raxis.compile(function)(x)
    eager = raxis.compile(function, on_break="eager")
    for _ in range(3):
        np.testing.assert_array_equal(eager(x).numpy(), function(x).numpy())
    assert raxis.ones(2).sum().item() == 2.0  # nothing is recorded any more


def test_writes_before_a_break_are_done() -> None:
    @raxis.compile
    def step(x):
        x.add_(1)
        return x.item()

    x = raxis.tensor(1.0)
    with pytest.raises(CompileError):
        step(x)
    assert x.item() == 2.0
    assert raxis.compile(step._function, on_break="eager")(x) == 3.0


def test_errors_of_the_function_pass_through() -> None:
    @raxis.compile
    def wrong(x, fail):
        x.mul_(3)
        if fail:
            raise KeyError("mine")
        return x @ raxis.ones(5)

    x = raxis.ones(3)
    with pytest.raises(KeyError, match="mine"):
        wrong(x, True)
    assert x.tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(RuntimeError):
        wrong(x, False)
    assert x.tolist() == [9.0, 9.0, 9.0]
    assert (x + 1).tolist() == [10.0, 10.0, 10.0]


def test_tensors_that_stay_behind() -> None:
    kept = []

    @raxis.compile
    def remember(x):
        kept.append(x * 2)
        return x + 1

    for number in range(4):
        assert remember(raxis.full((1,), float(number))).item() == number + 1
        assert kept[-1].item() == number * 2
    assert "stayed behind" in remember.misses()[0].kept


def test_signatures_that_never_settle_run_op_by_op() -> None:
    kept = []
    compiled = raxis.compile(lambda x: kept.append(x * 2))
    for _ in range(8):
        compiled(raxis.ones(1))
    with pytest.warns(UserWarning, match="op by op"):
        compiled(raxis.ones(1))
    compiled(raxis.ones(1))
    assert len(kept) == 10
    assert kept[-1].item() == 2.0


def test_dtype_views_and_shared_arrays() -> None:
    array = np.arange(3, dtype=np.float32)
    compiled = raxis.compile(lambda x: x + raxis.from_numpy(array))
    assert compiled(raxis.zeros(3)).tolist() == [0.0, 1.0, 2.0]
    array[:] = 5
    assert compiled(raxis.zeros(3)).tolist() == [5.0, 5.0, 5.0]
    literal = raxis.compile(lambda x: x + raxis.tensor([1.0, 2.0, 3.0]))
    assert [literal(raxis.zeros(3)).tolist() for _ in range(2)] == [[1.0, 2.0, 3.0]] * 2
    changed = raxis.compile(lambda x: raxis.tensor([1.0, 2.0]).add_(x))
    assert [changed(raxis.ones(2)).tolist() for _ in range(3)] == [[2.0, 3.0]] * 3
    bits = raxis.compile(lambda x: (x * 2).view(raxis.int32), on_break="eager")
    for _ in range(2):
        assert bits(raxis.ones(2)).tolist() == np.full(2, 2, np.float32).view(np.int32).tolist()


def test_compiled_inside_compiled() -> None:
    inner = raxis.compile(lambda x: x * 2)
    outer = raxis.compile(lambda x: inner(x) + inner(x))
    assert [outer(raxis.full((1,), v)).item() for v in (1.0, 2.0)] == [4.0, 8.0]
    assert not inner.misses()


def test_gradient_functions_inside() -> None:
    def slope(x):
        x = x.detach().requires_grad_()
        (grad,) = raxis.autograd.grad((x**3).sum(), x, create_graph=True)
        (second,) = raxis.autograd.grad(grad.sum(), x)
        return grad.detach(), second

    compiled = raxis.compile(slope)
    for value in (1.0, 2.0, -3.0):
        grad, second = compiled(raxis.tensor([value]))
        assert grad.item() == pytest.approx(3 * value**2)
        assert second.item() == pytest.approx(6 * value)


def test_threads() -> None:
    compiled = raxis.compile(lambda x, y: (x @ y).relu().sum(0))
    x, y = raxis.randn(20, 30), raxis.randn(30, 10)
    expected = (x @ y).relu().sum(0).numpy()
    failures = []

    def work() -> None:
        for _ in range(30):
            found = compiled(x, y).numpy()
            eager = (x @ y).relu().sum(0).numpy()
            if not (np.allclose(found, expected, rtol=1e-4) and np.allclose(eager, expected, rtol=1e-4)):
                failures.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_another_thread_runs_eagerly_while_one_records() -> None:
    inside, done = threading.Event(), threading.Event()

    @raxis.compile
    def slow(x):
        inside.set()
        assert done.wait(20)
        return x + 1

    found = []
    thread = threading.Thread(target=lambda: found.append(slow(raxis.ones(2)).tolist()))
    thread.start()
    assert inside.wait(20)
    other = raxis.ones(2)
    for _ in range(3):
        other = (other * 2).add_(1)
    assert other.tolist() == [15.0, 15.0]
    done.set()
    thread.join()
    assert found == [[2.0, 2.0]]


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="on_break"):
        raxis.compile(lambda x: x, on_break="maybe")
    with pytest.raises(ValueError, match="backend"):
        raxis.compile(lambda x: x, backend="inductor")
    with pytest.raises(TypeError, match="function or a module"):
        raxis.compile(3)
    function = abs
    assert raxis.compile(function, disable=True) is function
    reference = raxis.compile(lambda x: x.exp(), backend="reference")
    np.testing.assert_allclose(reference(raxis.ones(2)).numpy(), np.exp(np.ones(2)), rtol=1e-6)


# ---- derived weights --------------------------------------------------------------------------------


def _inference_network() -> nn.Module:
    raxis.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 16, 2)
    )
    network[1].running_mean.uniform_(-1, 1)
    network[1].running_var.uniform_(0.5, 2)
    return network.eval()


def test_folded_weights_are_made_anew_after_writes() -> None:
    network = _inference_network()
    compiled, x = raxis.compile(network), raxis.randn(2, 3, 6, 6)
    with raxis.no_grad():
        for change in (
            lambda: None,
            lambda: network[0].weight.mul_(2),
            lambda: network[1].running_var.add_(1),
            lambda: network[0].weight[0].zero_(),
            lambda: network.load_state_dict(
                {k: v * 0.5 for k, v in network.state_dict().items()}, strict=False
            ),
            lambda: setattr(network[0].weight, "data", raxis.ones(4, 3, 3, 3)),
        ):
            change()
            for _ in range(2):
                np.testing.assert_allclose(compiled(x).numpy(), network(x).numpy(), rtol=2e-4, atol=1e-5)
    (replay, *_) = compiled.compiled.replays()
    assert replay.artifact.weights is not None
    assert "rsqrt" not in [item.primitive for item in replay.artifact.program.instructions]


def test_weights_that_the_host_can_write_are_not_folded() -> None:
    network = _inference_network()
    array = network[0].weight.detach().numpy()
    compiled, x = raxis.compile(network), raxis.randn(2, 3, 6, 6)
    with raxis.no_grad():
        for factor in (1.0, 2.0, 3.0):
            array *= factor
            np.testing.assert_allclose(compiled(x).numpy(), network(x).numpy(), rtol=2e-4, atol=1e-5)


def test_store_of_derived_weights_keeps_to_its_budget() -> None:
    from raxis.compiler.derived_weights import WeightStore

    store, sources = WeightStore(budget=100), [raxis.zeros(1)._storage for _ in range(3)]
    for number, storage in enumerate(sources):
        store.put(number, f"weight {number}", 40, [storage])
    assert [store.get(number) for number in range(3)] == [None, "weight 1", "weight 2"]
    assert store.nbytes == 80
    sources[1].version += 1
    assert store.get(1) is None
    del storage, sources[2]
    assert store.get(2) is None


# ---- modules that keep statistics or change weights -----------------------------------------------------


def test_batch_norm_that_averages_all_batches() -> None:
    torch = pytest.importorskip("torch")
    own, theirs = nn.BatchNorm1d(3, momentum=None), torch.nn.BatchNorm1d(3, momentum=None)
    compiled = raxis.compile(own)
    rng = np.random.default_rng(0)
    for _ in range(4):
        x = rng.normal(2.0, 3.0, (6, 3)).astype(np.float32)
        expected = theirs(torch.tensor(x)).detach().numpy()
        np.testing.assert_allclose(compiled(raxis.tensor(x)).detach().numpy(), expected, 1e-4, 1e-5)
        np.testing.assert_allclose(own.running_mean.numpy(), theirs.running_mean.numpy(), 1e-5)
        np.testing.assert_allclose(own.running_var.numpy(), theirs.running_var.numpy(), 1e-5)
    assert own.num_batches_tracked.item() == 4
    assert len(compiled.misses()) == 1


def test_embedding_with_a_greatest_norm() -> None:
    weights = np.arange(12.0, dtype=np.float32).reshape(4, 3)
    embedding = nn.Embedding.from_pretrained(raxis.tensor(weights), max_norm=5.0)
    compiled = raxis.compile(embedding)
    for row, length in ((1, 5.0), (0, math.sqrt(5.0)), (3, 5.0)):
        found = compiled(raxis.tensor([row, row])).numpy()
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), [length] * 2, 1e-6)
    np.testing.assert_array_equal(embedding.weight.numpy()[2], weights[2])
    assert len(compiled.misses()) == 1
