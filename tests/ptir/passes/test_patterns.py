"""Composites are found again in flattened programs, and only where the program is that composite."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import log_softmax as scipy_log_softmax

import raxis
import raxis.nn.functional as F
from raxis import float32
from raxis.ops.patterns import patterns
from raxis.ops.trace import Tracer, tracing
from raxis.ptir import Instruction, Program, verify
from raxis.ptir.passes import optimise, pipeline
from tests.ptir.harness import execute

KNOWN = patterns({"softmax", "log_softmax", "_attention"})
HEADS = (2, 6, 3, 4)


def traced(function: Callable[..., object], *shapes: tuple[int, ...]) -> Program:
    tracer = Tracer("traced", raxis.device("cpu"))
    with tracing(tracer):
        results = function(*(tracer.parameter(float32, shape) for shape in shapes))
    results = results if isinstance(results, tuple) else (results,)
    return tracer.builder.build([result._value for result in results])


def recognised(program: Program) -> Program:
    return optimise(program, passes=pipeline(patterns=KNOWN), verify=True)


def composites(program: Program) -> list[Instruction]:
    return [item for item in program.instructions if item.primitive == "composite"]


def names(program: Program) -> list[str]:
    return [item.attributes["name"] for item in composites(program)]


def assert_same_results(program: Program, other: Program) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(each.type.shape).astype(np.float32) for each in program.parameters]
    for one, expected in zip(execute(other, arrays), execute(program, arrays), strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-6)


def by_hand(x: raxis.Tensor, dim: int) -> raxis.Tensor:
    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("write", [by_hand, lambda x, dim: x.softmax(dim), lambda x, dim: F.softmax(x, dim)])
def test_softmax(write: Callable[..., object], dim: int) -> None:
    program = traced(lambda x: write(x, dim), (3, 4, 5))
    found = recognised(program)
    assert [dict(item.attributes) for item in composites(found)] == [{"name": "softmax", "dim": dim}]
    assert len(found.instructions) == 1
    assert_same_results(program, found)


def test_log_softmax() -> None:
    found = recognised(traced(lambda x: x.log_softmax(1), (3, 4)))
    assert names(found) == ["log_softmax"]
    data = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_allclose(execute(found, [data])[0], scipy_log_softmax(data, 1), rtol=1e-5)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.exp() / x.exp().sum(1, keepdim=True),
        lambda x: (
            (x - x.amax(0, keepdim=True)).exp() / (x - x.amax(0, keepdim=True)).exp().sum(1, keepdim=True)
        ),
        lambda x: (
            (x - x.amin(1, keepdim=True)).exp() / (x - x.amin(1, keepdim=True)).exp().sum(1, keepdim=True)
        ),
        lambda x: ((x - x.amax(1, keepdim=True)).exp(), x.softmax(1)),
    ],
    ids=["no shift", "other dims", "least", "used outside"],
)
def test_what_is_no_softmax(write: Callable[..., object]) -> None:
    assert names(recognised(traced(write, (4, 4)))) == []


def attention(q: raxis.Tensor, k: raxis.Tensor, v: raxis.Tensor) -> raxis.Tensor:
    """As in many scripts: heads beside features in memory, moved before the product."""
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    weights = ((q @ k.transpose(-2, -1)) * 0.5).softmax(-1)
    return (weights @ v).transpose(1, 2)


def test_attention_by_hand() -> None:
    program = traced(attention, HEADS, HEADS, HEADS)
    found = recognised(program)
    assert [dict(item.attributes) for item in composites(found)] == [
        {"dropout": 0.0, "is_causal": False, "name": "_attention", "scale": 0.5}
    ]
    assert_same_results(program, found)


@pytest.mark.parametrize("is_causal", [False, True])
def test_flattened_attention(is_causal: bool) -> None:
    def write(q: raxis.Tensor, k: raxis.Tensor, v: raxis.Tensor) -> raxis.Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, scale=0.3)

    program = traced(write, (2, 5, 4), (2, 7, 4), (2, 7, 3))
    found = recognised(program)
    assert [dict(item.attributes) for item in composites(found)] == [
        {"dropout": 0.0, "is_causal": is_causal, "name": "_attention", "scale": 0.3}
    ]
    assert_same_results(program, found)


def test_weights_used_elsewhere_stay() -> None:
    def write(q: raxis.Tensor, k: raxis.Tensor, v: raxis.Tensor) -> tuple[raxis.Tensor, raxis.Tensor]:
        weights = ((q @ k.transpose(-2, -1)) * 0.5).softmax(-1)
        return weights @ v, weights

    found = recognised(traced(write, (5, 4), (7, 4), (7, 3)))
    assert names(found) == ["softmax"]
    verify(found)


def test_only_what_is_claimed_is_looked_for() -> None:
    program = traced(lambda x: x.softmax(1), (3, 4))
    assert names(optimise(program, passes=pipeline(patterns=patterns({"_attention"})))) == []
    assert names(optimise(program)) == []
