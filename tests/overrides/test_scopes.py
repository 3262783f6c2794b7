"""Which policy holds where, and that nothing else changes."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
from typing import Any

import pytest

import raxis
import raxis.nn.functional as F
from raxis import nn, overrides
from raxis.overrides import registry


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was called of two implementations of softsign, which are right."""
    seen: list[str] = []

    def named(name: str) -> Any:
        def function(input: Any) -> Any:
            seen.append(name)
            return input / (1 + input.abs())

        return function

    overrides.functionals()
    for name in ("left", "right"):
        monkeypatch.setitem(
            registry._all().setdefault("softsign", {}), name, registry.Implementation(named(name))
        )
    return seen


def test_functions_are_the_tables_own_outside_of_scopes() -> None:
    F.softmax(raxis.ones(2), 0)
    before = raxis.softmax.__code__, inspect.signature(raxis.softmax)
    with overrides.use(softmax="composed"):
        assert inspect.signature(raxis.softmax) == before[1]
        assert raxis.softmax.__code__ is not before[0]
    assert (raxis.softmax.__code__, inspect.signature(raxis.softmax)) == before


def test_all_ways_to_call() -> None:
    x = raxis.tensor([0.0, 1.0], requires_grad=True)
    with overrides.use(softmax="composed"):
        names = {
            result.grad_fn.name()
            for result in (
                F.softmax(x, 0),
                raxis.softmax(x, 0),
                x.softmax(0),
                nn.Softmax(0)(x),
                x.softmax(dim=0),
            )
        }
        out = raxis.empty(2)
        assert raxis.softmax(x.detach(), 0, out=out) is out
    assert names == {"DivBackward0"}
    assert out.tolist() == raxis.softmax(x.detach(), 0).tolist()


def test_the_innermost_scope_decides(calls: list[str]) -> None:
    x = raxis.ones(2)
    with overrides.use(softsign="left"):
        F.softsign(x)
        with overrides.use(softsign="right"):
            F.softsign(x)
            with overrides.use({"softsign": "default"}):
                F.softsign(x)
            with overrides.use(softmax="composed"):
                F.softsign(x)
        F.softsign(x)
    F.softsign(x)
    assert calls == ["left", "right", "right", "left"]


def test_force_is_another_word(calls: list[str]) -> None:
    with overrides.use(softsign="force=left"):
        assert overrides.policies() == {"softsign": "left"}
        F.softsign(raxis.ones(1))
    assert calls == ["left"]


def test_a_scope_ends_with_an_error(calls: list[str]) -> None:
    scope = overrides.use(softsign="left")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), scope:
            raise ZeroDivisionError
        F.softsign(raxis.ones(1))
    assert calls == []


def test_scopes_are_of_their_thread(calls: list[str]) -> None:
    with overrides.use(softsign="left"):
        thread = threading.Thread(target=lambda: F.softsign(raxis.ones(2)))
        thread.start()
        thread.join()
    assert calls == []


def test_many_threads_in_scopes() -> None:
    x = raxis.randn(4, 3, requires_grad=True)
    wrong = []

    def work(policy: str, expected: str) -> None:
        for _ in range(200):
            with overrides.use(softmax=policy):
                name = F.softmax(x, 1).grad_fn.name()
            if name != expected:
                wrong.append((policy, name))

    pairs = [("composed", "DivBackward0"), ("default", "SoftmaxBackward0")] * 2
    threads = [threading.Thread(target=work, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_implementation_may_call_the_ops_own(monkeypatch: pytest.MonkeyPatch) -> None:
    item = registry.Implementation(lambda input: -F.softsign(-input))
    monkeypatch.setitem(registry._all().setdefault("softsign", {}), "mirrored", item)
    with overrides.use(softsign="mirrored"):
        assert F.softsign(raxis.tensor([1.0])).tolist() == [0.5]


def test_models(calls: list[str]) -> None:
    x, model = raxis.ones(2), nn.Sequential(nn.Softsign(), nn.Softsign())
    overrides.scope(model, {"softsign": "left"})
    model(x)
    assert calls == ["left"] * 2
    with overrides.use(softsign="right"):  # the user wins from outside
        model(x)
    assert calls == ["left"] * 2 + ["right"] * 2
    calls.clear()
    inner = copy.deepcopy(model)
    overrides.scope(inner[0], {"softsign": "default"})
    inner(x)
    assert calls == ["left"]
    pickle.loads(pickle.dumps(inner))(x)
    overrides.scope(model, {})
    model(x)
    assert calls == ["left"] * 2
    assert list(model.state_dict()) == []


def test_what_a_user_enters_inside_of_a_model_wins(calls: list[str]) -> None:
    class Model(nn.Module):
        def forward(self, input: Any) -> Any:
            with overrides.use(softsign="right"):
                return F.softsign(input)

    model = Model()
    overrides.scope(model, {"softsign": "left"})
    model(raxis.ones(1))
    assert calls == ["right"]


def test_compiled_functions_follow_scopes() -> None:
    double = raxis.compile(lambda x: F.layer_norm(x, (2,)))
    x = raxis.ones(2)

    double(x), double(x)
    with overrides.use(layer_norm="composed"):
        double(x), double(x)
    own, composed = [replay.artifact.linked.program for replay in double.replays()]
    assert own != composed
    double(x)
    with overrides.use(layer_norm="composed"):
        assert double(x).tolist() == [0.0, 0.0]
    with overrides.use(layer_norm="default"):
        double(x)
    assert len(double.misses()) == 3


def test_compiled_functions_follow_models_and_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Softmax(0)
    call = raxis.compile(lambda x: model(x))
    x = raxis.ones(2)
    call(x), call(x)
    overrides.scope(model, {"softmax": "composed"})
    call(x), call(x)
    assert len(call.misses()) == 2
    overrides.scope(model, {})
    monkeypatch.setenv("RAXIS_OVERRIDES", "softmax=composed")
    overrides.refresh()
    call(x), call(x)
    assert len(call.misses()) == 3


@pytest.mark.parametrize(
    ("policies", "sentence"),
    [
        ({"softmx": "composed"}, "no functional 'softmx'.*Did you mean 'softmax'"),
        ({"softmax": "compsed"}, "no implementation 'compsed'.*Did you mean 'composed'"),
        ({"softmax": "measure"}, "Did you mean 'measured'"),
        ({"relu_": "default"}, "no functional 'relu_'.*Did you mean 'relu'"),
        ({"attention": "default", "scaled_dot_product_attention": "default"}, "two policies"),
    ],
)
def test_unknown_names(policies: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        overrides.use(policies)
    with pytest.raises(ValueError, match=sentence):
        overrides.scope(nn.Softmax(0), policies)


def test_policies_are_strings() -> None:
    with pytest.raises(TypeError, match="must be a string"):
        overrides.use(softmax=3)  # type: ignore[arg-type]


def test_what_an_implementation_does_not_support() -> None:
    image, kernel = raxis.ones(1, 2, 4, 4), raxis.ones(2, 1, 3, 3)
    with (
        overrides.use(conv2d="gemm"),
        pytest.raises(RuntimeError, match=r"'gemm'.*float32\[1, 2, 4, 4\].*groups=2"),
    ):
        F.conv2d(image, kernel, groups=2)


def test_registering() -> None:
    with pytest.raises(ValueError, match="reserved"):
        overrides.register("softmax", "measured", lambda input: input)
    with pytest.raises(ValueError, match="taken by raxis-core"):
        overrides.register("softmax", "composed", lambda input: input)
    with pytest.raises(ValueError, match="no functional"):
        overrides.register("sotfmax", "mine", lambda input: input)


def test_kernels_of_other_ops_are_not_overridden() -> None:
    query = raxis.randn(1, 2, 3)
    with overrides.use(softmax="composed"):
        own = F.scaled_dot_product_attention(query, query, query)
    assert (own == F.scaled_dot_product_attention(query, query, query)).all()
