"""Faults planted in a backend are found, in the first instruction that shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raxis
from raxis.backends.api import Executable, Strides
from raxis.backends.reference import ReferenceBackend
from raxis.ptir import Builder, Program, Region, TensorType, bisect, bisect_passes, run
from raxis.ptir.comparing import Tolerance
from raxis.ptir.passes.record import Pass
from raxis.ptir.program import Instruction, Value
from raxis.ptir.running import run_on
from raxis.ptir.tools.command_line import main

F32 = TensorType(raxis.float32, (4,))
Rewrite = Callable[[Builder, Instruction, Sequence[Value]], "tuple[Value, ...]"]


class Faulty(ReferenceBackend):
    """The reference, with instructions rewritten before they are compiled.

    Args:
        rewrite: emits what stands for an instruction.
        applies: whether a program, as it came, is rewritten.
    """

    def __init__(self, rewrite: Rewrite, applies: Callable[[Program], bool] = lambda program: True) -> None:
        self._rewrite = rewrite
        self._applies = applies
        self.compiled = 0

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        self.compiled += 1
        if self._applies(program):
            program = self._rewritten(program)
        return super().compile(program, inputs, outputs, in_place=in_place, disjoint=disjoint)

    def _rewritten(self, program: Program) -> Program:
        builder = Builder(program.name)
        values: dict[Value, Value] = {
            each: builder.parameter(each.type, each.by_value) for each in program.parameters
        }
        for item in program.instructions:
            operands = [values[operand] for operand in item.operands]
            values.update(zip(item.results, self._rewrite(builder, item, operands), strict=True))
        return builder.build([values[result] for result in program.results])


def as_it_is(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
    return builder.emit_all(item.primitive, operands, item.attributes, item.regions)


def wrong_for_negative(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
    """Adds one too much where the first operand is negative."""
    results = as_it_is(builder, item, operands)
    if item.primitive != "add":
        return results
    type = operands[0].type
    zero, one = (builder.constant(number, type.dtype, type.shape) for number in (0, 1))
    extra = builder.emit("select", builder.emit("lt", operands[0], zero), one, zero)
    return builder.emit_all("add", (results[0], extra), {})


def chain(*primitives: str) -> Program:
    """One primitive after another on %0; binary ones take %0 again."""
    builder = Builder("chain")
    x = builder.parameter(F32)
    value: Value = x
    for name in primitives:
        operands = (value, x) if name in ("add", "sub", "mul") else (value,)
        (value,) = builder.emit_all(name, operands, {})
    return builder.build([value])


NEGATIVE = np.array([1.0, -2.0, 0.5, -0.25], np.float32)


def test_no_fault(tmp_path: Path) -> None:
    program = chain("exp", "add", "mul", "neg")
    assert bisect(program, [NEGATIVE], folder=tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    assert bisect(Builder("empty").build([]), []) is None


def test_a_wrong_primitive(tmp_path: Path) -> None:
    program = chain("neg", "mul", "add", "exp", "add", "tanh")
    found = bisect(program, [NEGATIVE], backend=Faulty(wrong_for_negative), folder=tmp_path)
    assert found is not None
    assert (found.position, found.instruction.primitive, found.context) == (2, "add", 0)
    assert found.text == "%3 = add(%2, %0) : f32[4]"
    assert found.operands == ("f32[4]", "f32[4]")
    assert found.mismatch.error == 1.0
    assert found.mismatch.count == 4  # -x * x is negative everywhere
    assert "differs alone" in str(found)
    assert str(found.files[0]) in str(found)


def test_the_fault_needs_its_values() -> None:
    program = chain("exp", "add")
    assert bisect(program, [NEGATIVE], backend=Faulty(wrong_for_negative)) is None


def test_the_reproducer(tmp_path: Path) -> None:
    program = chain("neg", "mul", "add", "exp")
    found = bisect(program, [NEGATIVE], backend=Faulty(wrong_for_negative), folder=tmp_path / "new")
    assert found is not None
    saved = Program.load(found.files[0])
    assert saved == found.reproducer
    assert [item.primitive for item in saved.instructions] == ["add"]
    with np.load(found.files[1]) as archive:
        inputs, expected = [archive["0"], archive["1"]], archive["expected_0"]
    np.testing.assert_array_equal(run(saved, inputs)[0], expected)
    np.testing.assert_array_equal(inputs[1], NEGATIVE)


def stale(name: str, after: str) -> Faulty:
    """`name` reads what its operand's operand was, if `after` was computed and the operand is no result.

    So does a memory planner that gives a buffer away too soon.
    """
    made: dict[Value, Value] = {}

    def applies(program: Program) -> bool:
        primitives = [item.primitive for item in program.instructions]
        if after not in primitives or name not in primitives:
            return False
        reader = program.instructions[primitives.index(name)]
        return reader.operands[0] not in program.results

    def rewrite(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
        if item.primitive == name:
            operands = (made.get(operands[0], operands[0]), *operands[1:])
        results = as_it_is(builder, item, operands)
        if item.operands:
            made.update(dict.fromkeys(results, operands[0]))
        return results

    return Faulty(rewrite, applies)


def test_a_stale_buffer(tmp_path: Path) -> None:
    """Seen only while the value stays inside of the program, so not when every value is a result."""
    program = chain("exp", "neg", "sqrt", "tanh", "abs", "floor")
    builder = Builder("stale")
    x = builder.parameter(F32)
    names = ["exp", "neg", "abs", "tanh", "floor", "cos", "sin"]
    value: Value = x
    for name in names:
        (value,) = builder.emit_all(name, (value,), {})
    program = builder.build([value])
    found = bisect(program, [NEGATIVE], backend=stale("floor", "abs"), folder=tmp_path)
    assert found is not None
    assert found.instruction.primitive == "floor"
    assert found.context > 0
    assert "differs only together with" in str(found)
    assert {item.primitive for item in found.reproducer.instructions} >= {"abs", "floor"}


def test_a_wrong_kernel_of_a_composite(tmp_path: Path) -> None:
    body = chain("exp", "neg")
    region = Region(body.parameters, body.instructions, body.results)
    builder = Builder("outer")
    x = builder.parameter(F32)
    (inner,) = builder.emit_all("composite", (builder.emit("abs", x),), {"name": "negexp"}, (region,))
    program = builder.build([builder.emit("tanh", inner)])

    def kernel(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
        return (
            builder.emit_all("exp", operands, {})
            if item.primitive == "composite"
            else as_it_is(builder, item, operands)
        )

    found = bisect(program, [NEGATIVE], backend=Faulty(kernel), folder=tmp_path)
    assert found is not None
    assert found.position == 1
    assert "decomposition of composite 'negexp' agrees" in found.note

    def exponential(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
        if item.primitive == "composite":
            return builder.emit_all("exp", operands, {})
        return as_it_is(
            builder, replace(item, primitive="log") if item.primitive == "exp" else item, operands
        )

    found = bisect(program, [NEGATIVE], backend=Faulty(exponential), folder=tmp_path)
    assert found is not None
    assert "differs, too" in found.note


def test_a_wrong_fused_kernel(tmp_path: Path) -> None:
    """A multiplication and an addition that become one kernel lose a sign."""

    def fused(program: Program) -> bool:
        products = {item.results[0] for item in program.instructions if item.primitive == "mul"}
        return any(
            item.primitive == "sub" and item.operands[0] in products - set(program.results)
            for item in program.instructions
        )

    def rewrite(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
        return as_it_is(
            builder, replace(item, primitive="add") if item.primitive == "sub" else item, operands
        )

    program = chain("exp", "neg", "mul", "sub", "tanh", "sub")
    found = bisect(program, [NEGATIVE], backend=Faulty(rewrite, fused), folder=tmp_path)
    assert found is not None
    assert (found.position, found.instruction.primitive, found.context) == (3, "sub", 1)


def test_a_program_of_many_instructions_takes_few_runs(tmp_path: Path) -> None:
    program = chain(*["neg"] * 200, "exp", *["neg"] * 100, "floor", *["abs"] * 100)
    backend = stale("floor", "exp")
    found = bisect(program, [NEGATIVE], backend=backend, folder=tmp_path)
    assert found is not None
    assert found.instruction.primitive == "floor"
    assert backend.compiled < 30


def test_by_value_parameters_and_integers(tmp_path: Path) -> None:
    builder = Builder("numbers")
    x = builder.parameter(TensorType(raxis.int64, (3,)))
    factor = builder.parameter(TensorType(raxis.int64, ()), by_value=True)
    factors = builder.emit("broadcast", factor, shape=(3,), dims=())
    program = builder.build([builder.emit("add", builder.emit("mul", x, factors), x)])
    inputs = [np.array([2**53, -1, 0]), 1]
    found = bisect(program, inputs, backend=Faulty(wrong_for_negative), folder=tmp_path)
    assert found is not None
    mismatch = found.mismatch
    assert (mismatch.error, mismatch.index, mismatch.expected, mismatch.given) == (1.0, (1,), -2, -1)


def ill_conditioned() -> Program:
    """``d / (abs(d) + 1e-12)`` with d = sum(x - mean(x)), which is nothing but rounding."""
    builder = Builder("noise")
    x = builder.parameter(TensorType(raxis.float32, (64, 33)))
    total = builder.emit("reduce_sum", x, dims=(1,))
    mean = builder.emit("div", total, builder.constant(33.0, raxis.float32, (64,)))
    centred = builder.emit("sub", x, builder.emit("broadcast", mean, shape=(64, 33), dims=(0,)))
    noise = builder.emit("reduce_sum", centred, dims=(1,))
    size = builder.emit("add", builder.emit("abs", noise), builder.constant(1e-12, raxis.float32, (64,)))
    return builder.build([builder.emit("div", noise, size)])


def backwards(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
    """Adds the elements of every sum in the opposite order."""
    if item.primitive == "reduce_sum":
        operands = (builder.emit("reverse", operands[0], dims=item.attributes["dims"]),)
    return as_it_is(builder, item, operands)


def test_roundings_that_grow_are_no_fault(seed: int, tmp_path: Path) -> None:
    program, array = ill_conditioned(), np.random.default_rng(seed).normal(size=(64, 33)).astype(np.float32)
    other = Faulty(backwards)
    results = [run_on(backend, 0, program, [array])[0] for backend in (ReferenceBackend(), other)]
    assert np.abs(results[0] - results[1]).max() > 0.1
    assert bisect(program, [array], backend=other) is None

    def wrong(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
        return backwards(
            builder, replace(item, primitive="add") if item.primitive == "sub" else item, operands
        )

    found = bisect(program, [array], backend=Faulty(wrong), folder=tmp_path)
    assert found is not None
    assert found.instruction.primitive == "sub"


def test_inputs_are_checked() -> None:
    with pytest.raises(TypeError, match="1 parameters, but got 0 inputs"):
        bisect(chain("neg"), [])


# ---- tolerance -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "given", "differs"),
    [
        ([np.nan, np.inf, -np.inf], [np.nan, np.inf, -np.inf], 0),
        ([np.nan, np.inf, 1.0], [1.0, -np.inf, np.nan], 3),
        ([1.0, 1e-30], [1.0 + 1e-5, 0.0], 0),
        ([1.0, 2.0], [1.0, 2.01], 1),
        ([], [], 0),
    ],
)
def test_tolerance(expected: list[float], given: list[float], differs: int) -> None:
    arrays = np.array(expected, np.float32), np.array(given, np.float32)
    found = Tolerance().mismatch(raxis.float32, *arrays)
    assert (0 if found is None else found.count) == differs
    exact = Tolerance(0.0, 0.0).mismatch(raxis.float32, arrays[0], arrays[0])
    assert exact is None


def test_cancellation_is_no_fault() -> None:
    large = np.array([1e4], np.float32)
    difference = np.array([0.0], np.float32), np.array([1e-3], np.float32)
    assert Tolerance().mismatch(raxis.float32, *difference, [large]) is None
    assert Tolerance().mismatch(raxis.float32, *difference) is not None


@pytest.mark.parametrize("dtype", [raxis.float16, raxis.bfloat16, raxis.complex64, raxis.bool, raxis.uint8])
def test_other_dtypes(dtype: Any) -> None:
    array = np.array([0, 1, 1]).astype(dtype.numpy)
    other = np.array([0, 1, 0]).astype(dtype.numpy)
    assert Tolerance().mismatch(dtype, array, array) is None
    found = Tolerance().mismatch(dtype, array, other)
    assert found is not None
    assert (found.error, found.index, found.count) == (1.0, (2,), 1)


# ---- passes ----------------------------------------------------------------------------------------------


def test_a_wrong_pass(tmp_path: Path) -> None:
    def negations_are_lost(program: Program, _: Any) -> Program:
        backend = Faulty(
            lambda builder, item, operands: (
                tuple(operands) if item.primitive == "neg" else as_it_is(builder, item, operands)
            )
        )
        return backend._rewritten(program)

    wrong = Pass("lose-negations", "Loses negations.", negations_are_lost)
    program = chain("exp", "neg", "tanh")
    found = bisect_passes(program, [NEGATIVE], (wrong,), folder=tmp_path)
    assert found is not None
    assert found.name == "01-lose-negations"
    assert found.before == program
    assert found.mismatch.count == 4
    assert all(path.exists() for path in found.files)
    assert "lose-negations changes what program 'chain' computes" in str(found)
    assert bisect_passes(program, [NEGATIVE]) is None


# ---- compiled functions ----------------------------------------------------------------------------------


def test_a_compiled_function(tmp_path: Path) -> None:
    def function(x: Any, w: Any) -> Any:
        y = x.matmul(w)
        z = y + w.sum(0)  # here
        return z.tanh()

    x, w = raxis.tensor([[1.0, -2.0]]), raxis.tensor([[1.0, -1.0], [3.0, 0.5]])
    compiled = raxis.compile(function, backend=Faulty(wrong_for_negative))
    found = compiled.bisect(x, w, folder=tmp_path)
    assert found is not None
    assert found.instruction.primitive == "add"
    start = function.__code__.co_firstlineno
    assert found.line == f"{__file__}:{start + 2}"
    assert found.line in str(found)
    assert raxis.compile(function).bisect(x, w) is None


def test_a_training_step(tmp_path: Path) -> None:
    model = raxis.nn.Sequential(
        raxis.nn.Linear(3, 4), raxis.nn.Tanh(), raxis.nn.Dropout(0.5), raxis.nn.Linear(4, 1)
    )
    optimizer = raxis.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = raxis.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    x, y = raxis.randn(5, 3), raxis.randn(5, 1)
    assert raxis.compile(step).bisect(x, y, folder=tmp_path) is None

    def no_tanh(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(operands) if item.primitive == "tanh" else as_it_is(builder, item, operands)

    found = raxis.compile(step, backend=Faulty(no_tanh)).bisect(x, y, folder=tmp_path)
    assert found is not None
    assert found.instruction.primitive == "tanh"


def test_the_backward_half(tmp_path: Path) -> None:
    x = raxis.tensor([1.0, -2.0], requires_grad=True)

    def cosine(builder: Builder, item: Instruction, operands: Sequence[Value]) -> tuple[Value, ...]:
        return (
            builder.emit_all("sin", operands, {})
            if item.primitive == "cos"
            else as_it_is(builder, item, operands)
        )

    found = raxis.compile(lambda x: x.sin() * 2, backend=Faulty(cosine)).bisect(x, folder=tmp_path)
    assert found is not None
    assert found.instruction.primitive == "cos"
    assert found.program.endswith("backward")


def test_what_is_no_program() -> None:
    kept = []
    with pytest.raises(RuntimeError, match="is no program"):
        raxis.compile(lambda x: kept.append(x * 2)).bisect(raxis.ones(2))


# ---- the command -----------------------------------------------------------------------------------------


def test_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chain.ptir"
    chain("neg", "add", "exp").save(path)
    for flags in ([], ["--optimise"], ["--rtol", "0.1", "--atol", "0"]):
        assert main(["bisect", str(path), "--device", "cpu", *flags]) == 0
        assert "No instruction" in capsys.readouterr().out
    np.savez(tmp_path / "in.npz", NEGATIVE)
    monkeypatch.setattr("raxis.ptir.bisecting.registry.resolve", lambda _: (Faulty(wrong_for_negative), 0))
    options = ["--inputs", str(tmp_path / "in.npz"), "--folder", str(tmp_path / "found")]
    assert main(["bisect", str(path), *options]) == 1
    assert "Instruction 1 of program 'chain' differs on cpu: %2 = add(%1, %0)" in capsys.readouterr().out
    assert (tmp_path / "found" / "reproducer.npz").exists()
