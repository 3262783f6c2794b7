"""The policy measured: real runs, a choice per signature, kept in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raxis
import raxis.nn.functional as F
from raxis import overrides
from raxis.overrides import choices, measuring, registry


class Candidates:
    """Implementations of softsign, of which one is made slow by a clock of the test's own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.calls: list[str] = []
        self._patch = monkeypatch
        monkeypatch.setattr(measuring.time, "perf_counter", lambda: self.now)
        monkeypatch.setitem(registry._all(), "softsign", {})

    def add(self, name: str, seconds: float, **options: Any) -> None:
        def function(input: Any) -> Any:
            self.calls.append(name)
            self.now += seconds
            return options.get("function", _softsign)(input)

        item = registry.Implementation(function, options.get("supports"), options.get("origin", "test 1.0"))
        registry._all()["softsign"][name] = item


def _softsign(input: Any) -> Any:
    return input / (1 + input.abs())


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch) -> Candidates:
    found = Candidates(monkeypatch)
    found.add("slow", 2.0)
    found.add("slower", 3.0)
    return found


def files(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((folder / "cache" / "overrides").glob("*"))]


def test_the_fastest_runs_and_is_kept(candidates: Candidates, outside: Path) -> None:
    x = raxis.tensor([1.0, -3.0])
    with overrides.use(softsign="measured"):
        assert F.softsign(x).tolist() == [0.5, -0.75]
        assert set(candidates.calls) == {"slow", "slower"}
        candidates.calls.clear()
        F.softsign(x)
    assert candidates.calls == []  # the op's own takes no time by this clock
    (stored,) = files(outside)
    assert stored["choice"] == "default"
    assert stored["microseconds"] == {"default": 0.0, "slow": 2e6, "slower": 3e6}


def test_choices_are_per_signature(candidates: Candidates, outside: Path) -> None:
    x = raxis.ones(2, 3)
    with overrides.use(softsign="measured"):
        for operand in (x, x.t(), x.double(), raxis.ones(2, 3, requires_grad=True), x):
            F.softsign(operand)
    assert len(files(outside)) == 4


def test_a_stored_choice_is_used(candidates: Candidates, outside: Path) -> None:
    x = raxis.ones(2)
    with overrides.use(softsign="measured"):
        F.softsign(x)
        (path,) = (outside / "cache" / "overrides").glob("*")
        path.write_text(json.dumps({**json.loads(path.read_text()), "choice": "slower"}))
        measuring._known.clear()
        candidates.calls.clear()
        F.softsign(x)
    assert candidates.calls == ["slower"]


@pytest.mark.parametrize("change", ["version", "implementation", "damage"])
def test_a_choice_ends(change: str, candidates: Candidates, outside: Path) -> None:
    x = raxis.ones(2)
    with overrides.use(softsign="measured"):
        F.softsign(x)
        measuring._known.clear()
        candidates.calls.clear()
        if change == "version":
            candidates.add("slow", 2.0, origin="test 1.1")
        elif change == "implementation":
            candidates.add("new", 1.0)
        else:
            (path,) = (outside / "cache" / "overrides").glob("*")
            path.write_text("{")
        F.softsign(x)
    assert "slower" in candidates.calls


def test_those_that_do_not_support_the_arguments_are_left_out(candidates: Candidates, outside: Path) -> None:
    candidates.add("matrices", 1.0, supports=lambda input: input.ndim == 2)
    with overrides.use(softsign="measured"):
        F.softsign(raxis.ones(2))
    assert "matrices" not in candidates.calls
    assert files(outside)[0]["case"]["implementations"] == ["default", "slow", "slower"]


def test_gradients_are_measured_and_flow(candidates: Candidates) -> None:
    x = raxis.tensor([1.0, 3.0], requires_grad=True)
    with overrides.use(softsign="measured"):
        F.softsign(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1 / 4, 1 / 16])


def test_recording_uses_what_is_stored(candidates: Candidates, outside: Path) -> None:
    compiled = raxis.compile(lambda x: F.softsign(x))
    x = raxis.ones(2)
    with overrides.use(softsign="measured"):
        compiled(x)
        assert candidates.calls == []
        assert not files(outside)
        F.softsign(x)
        (path,) = (outside / "cache" / "overrides").glob("*")
        path.write_text(json.dumps({**json.loads(path.read_text()), "choice": "slow"}))
        measuring._known.clear()
        candidates.calls.clear()
        raxis.compile(lambda x: F.softsign(x))(x)
    assert candidates.calls == ["slow"]


def test_meta_is_not_measured(candidates: Candidates, outside: Path) -> None:
    with overrides.use(softsign="measured"):
        assert F.softsign(raxis.ones(2, device="meta")).shape == (2,)
    assert candidates.calls == []
    assert not files(outside)


def test_another_result_is_refused(candidates: Candidates) -> None:
    candidates.add("wide", 1.0, function=lambda input: _softsign(input).double())
    with (
        overrides.use(softsign="measured"),
        pytest.raises(RuntimeError, match=r"'wide' gives \['float64\[2\]'\]"),
    ):
        F.softsign(raxis.ones(2))


def test_a_failure_is_named(candidates: Candidates) -> None:
    candidates.add("broken", 1.0, function=lambda input: input.reshape(7))
    with (
        overrides.use(softsign="measured"),
        pytest.raises(RuntimeError, match="'broken' failed while it was measured"),
    ):
        F.softsign(raxis.ones(2))


def test_arguments_and_random_state_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def writes(input: Any) -> Any:
        input.mul_(2)
        return raxis.rand(2) * 0 + _softsign(input / 2)

    monkeypatch.setitem(registry._all(), "softsign", {"writes": registry.Implementation(writes)})
    x = raxis.ones(2)
    raxis.manual_seed(5)
    expected = raxis.rand(3).tolist()
    raxis.manual_seed(5)
    with overrides.use(softsign="measured"):
        F.softsign(x)
    assert raxis.rand(3).tolist() == expected
    assert x.tolist() == [1.0, 1.0]


def test_without_a_cache(candidates: Candidates, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAXIS_CACHE", "off")
    with overrides.use(softsign="measured"):
        F.softsign(raxis.ones(2))
    assert not files(outside)
    assert list(choices.stored("softsign")) == []


@pytest.mark.parametrize("functional", ["softmax", "attention", "layer_norm", "conv2d"])
def test_core_implementations(functional: str) -> None:
    x = raxis.randn(1, 2, 5, 6, requires_grad=True)
    calls: dict[str, Any] = {
        "softmax": lambda: F.softmax(x, -1),
        "attention": lambda: F.scaled_dot_product_attention(x, x, x, is_causal=True),
        "layer_norm": lambda: F.layer_norm(x, (6,)),
        "conv2d": lambda: F.conv2d(x, raxis.ones(3, 2, 2, 2)),
    }
    expected = calls[functional]()
    with overrides.use({functional: "measured"}):
        result = calls[functional]()
    np.testing.assert_allclose(result.detach().numpy(), expected.detach().numpy(), 1e-5, 1e-6)
