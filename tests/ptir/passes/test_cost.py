"""Costs, lifetimes and rematerialisation, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from raxis import dtypes
from raxis.ptir import Builder, Program, TensorType, parse, verify
from raxis.ptir.passes import Context, optimise
from raxis.ptir.passes.cost import Machine, cost
from raxis.ptir.passes.liveness import Liveness
from raxis.ptir.passes.rematerialisation import rematerialisation
from tests.ptir.harness import execute
from tests.ptir.interpreter import outcome
from tests.ptir.passes.special import assert_same_bits
from tests.ptir.random_programs import SEEDS, announce, arguments, programs

DOT = {"lhs_batch": (), "rhs_batch": (), "lhs_contract": (1,), "rhs_contract": (0,)}


def test_cost_of_a_fused_chain_is_one_kernel() -> None:
    program = parse("""ptir 1.0
program "p"(%0: f32[100], %1: f32[100]) {
  %2 = exp(%0) : f32[100]
  %3 = mul(%2, %1) : f32[100]
  %4 = add(%3, %2) : f32[100]
  return %4
}""")
    found = cost(program)
    assert (found.operations, found.kernels, found.peak_bytes) == (300, 1, 0)
    assert (found.bytes_read, found.bytes_written, found.result_bytes, found.parameter_bytes) == (
        800,
        400,
        400,
        800,
    )
    machine = Machine(operations_per_second=300, bytes_per_second=600, launch_seconds=0.5)
    assert found.seconds(machine) == 2.5


def layers(count: int, size: int = 8) -> Program:
    """A net of products and tanh, and the product of all activations in reverse, as in a backward pass."""
    builder = Builder("layers")
    x = builder.parameter(TensorType(dtypes.float32, (size, size)))
    weight = builder.parameter(TensorType(dtypes.float32, (size, size)))
    activations, sums = [], []
    for _ in range(count):
        sums.append(builder.emit("dot_general", x, weight, **DOT))
        x = builder.emit("tanh", sums[-1])
        activations.append(x)
    grad = x
    for activation, total in zip(reversed(activations), reversed(sums), strict=True):
        grad = builder.emit("dot_general", activation, grad, **DOT)
        grad = builder.emit("mul", grad, total)
    return builder.build([grad])


def test_peak_of_a_forward_and_backward_pass() -> None:
    program = layers(4)
    size = 8 * 8 * 4
    # Every sum and every activation, and the last activation is both operands of the first product backward.
    assert max(Liveness(program).live_bytes()) == 9 * size
    assert cost(program).operations == 8 * 2 * 8**3 + 8 * 64


def test_rematerialisation_recomputes_activations() -> None:
    program, size = layers(6), 8 * 8 * 4
    before = cost(program).peak_bytes
    smaller = rematerialisation(9 * size).run(program, Context())
    verify(smaller)
    assert cost(smaller).peak_bytes <= 9 * size < before
    assert [item.primitive for item in smaller.instructions].count("tanh") > 6
    data = [np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32) for _ in range(2)]
    assert_same_bits(execute(smaller, data)[0], execute(program, data)[0])


def test_rematerialisation_leaves_what_fits() -> None:
    program = layers(3)
    assert rematerialisation(cost(program).peak_bytes).run(program, Context()) is program


@settings(max_examples=100)
@given(programs(14), SEEDS)
def test_rematerialised_programs_compute_the_same(program: Program, seed: int) -> None:
    announce(program, seed)
    smaller = optimise(program, passes=[rematerialisation(0)], verify=True)
    assert cost(smaller).peak_bytes <= cost(program).peak_bytes
    before = outcome(lambda: execute(program, arguments(program, seed)))
    after = outcome(lambda: execute(smaller, arguments(smaller, seed)))
    if isinstance(before, tuple) or isinstance(after, tuple):
        assert after == before
        return
    for one, other in zip(after, before, strict=True):
        assert_same_bits(one, other)
