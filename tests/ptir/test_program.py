"""Structure of programs: equality, builder, text form, verifier."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings

from raxis import dtypes
from raxis.ptir import (
    Builder,
    Instruction,
    Parameter,
    ParseError,
    PrimitiveError,
    Program,
    Region,
    TensorType,
    Value,
    VerificationError,
    parse,
    to_text,
    verify,
)
from tests.ptir.random_programs import programs

VECTOR = TensorType(dtypes.float32, (3,))
INDEX = TensorType(dtypes.int64, (3,))
SCALAR = TensorType(dtypes.float32, ())
FLAG = TensorType(dtypes.bool_, ())


@settings(max_examples=150)
@given(programs())
def test_text_round_trip(program: Program) -> None:
    verify(program)
    text = to_text(program)
    again = parse(text)
    assert again == program
    assert hash(again) == hash(program)
    assert to_text(again) == text
    assert str(program) == text


@settings(max_examples=40)
@given(programs(), programs())
def test_equality_is_equality_of_texts(first: Program, second: Program) -> None:
    assert (first == second) == (to_text(first) == to_text(second))


def constant_program(value: object, dtype: dtypes.DType = dtypes.float32, **attributes: object) -> Program:
    builder = Builder("constant")
    return builder.build([builder.constant(value, dtype)], attributes)


def test_attributes_are_compared_exactly() -> None:
    nan = float("nan")
    assert constant_program(0.0) != constant_program(-0.0)
    assert constant_program(nan) == constant_program(-nan)
    assert constant_program(1) == constant_program(1.0)  # a float32 constant is a float
    for first, second in ((1, 1.0), (1, True), (0.0, -0.0), (1.0, 1.0 + 0j), ((1,), (1.0,)), ("1", 1)):
        assert constant_program(0, note=first) != constant_program(0, note=second)
    assert constant_program(0, note=[1, (2, nan)]) == constant_program(0, note=(1, [2, nan]))
    assert constant_program(0) != "constant"


def test_ids_do_not_matter_but_order_does() -> None:
    def difference(waste: int, swapped: bool) -> Program:
        builder = Builder("sub")
        x, y = builder.parameter(VECTOR), builder.parameter(VECTOR)
        for _ in range(waste):
            builder.emit("neg", x)
        return builder.build([builder.emit("sub", y, x) if swapped else builder.emit("sub", x, y)])

    assert difference(0, False) == difference(3, False)
    assert difference(0, False) != difference(0, True)


def test_builder_drops_what_no_result_needs() -> None:
    builder = Builder("dead")
    x = builder.parameter(VECTOR)
    builder.emit("neg", x)
    kept = builder.emit("exp", x)
    assert [instruction.primitive for instruction in builder.build([kept]).instructions] == ["exp"]
    assert builder.build([x]).instructions == ()


def test_builder_gives_a_tuple_for_primitives_with_several_results() -> None:
    builder = Builder()
    x = builder.parameter(VECTOR)
    values, indices = builder.emit("sort", x, dim=0, descending=False, stable=True)
    assert (values.type, indices.type) == (VECTOR, TensorType(dtypes.int64, (3,)))
    assert len(builder.emit("composite", x, name="same", regions=[Region((x,), (), (x,))])) == 1


def test_instructions_are_immutable() -> None:
    program = constant_program(1.0)
    with pytest.raises(TypeError):
        program.instructions[0].attributes["value"] = 2.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        program.name = "other"  # type: ignore[misc]


def test_types() -> None:
    assert str(TensorType(dtypes.bfloat16, (2, 0))) == "bf16[2,0]"
    assert (str(SCALAR), SCALAR.rank, SCALAR.size) == ("f32[]", 0, 1)
    assert pickle.loads(pickle.dumps(VECTOR)) == VECTOR


@pytest.mark.parametrize(
    ("primitive", "types", "attributes", "message"),
    [
        ("add", [VECTOR, SCALAR], {}, r"same dtype and shape, but got f32\[3\], f32\[\]"),
        ("add", [VECTOR], {}, "expected 2 operands, but got 1"),
        ("exp", [TensorType(dtypes.int64, ())], {}, '"exp" not implemented for int64'),
        ("exp", [VECTOR], {"dim": 0}, "unknown: dim"),
        ("cumsum", [VECTOR], {}, "missing: dim"),
        ("cumsum", [VECTOR], {"dim": 1}, r"range \[0, 1\), but got 1"),
        ("cumsum", [VECTOR], {"dim": -1}, "but got -1"),
        ("cumsum", [VECTOR], {"dim": 1.0}, "of kind int, but got 1.0"),
        ("reduce_sum", [VECTOR], {"dims": (0, 0)}, "distinct"),
        ("broadcast", [VECTOR], {"shape": (2, 4), "dims": (1,)}, "or 1, but got"),
        ("reshape", [VECTOR], {"shape": (2,)}, "number of elements differs"),
        ("reshape", [VECTOR], {"shape": (-3,)}, "non-negative"),
        ("transpose", [VECTOR], {"permutation": (1,)}, "permutation"),
        ("slice", [VECTOR], {"start": (2,), "stop": (1,), "step": (1,)}, "start <= stop"),
        ("concatenate", [], {"dim": 0}, "at least one"),
        ("pad", [VECTOR, SCALAR], {"low": (-2,), "high": (-2,), "interior": (0,)}, "crops more"),
        ("unfold", [VECTOR], {"dim": 0, "size": 2, "step": 1, "dilation": 3}, "windows within"),
        ("constant", [], {"value": 256, "dtype": dtypes.uint8, "shape": ()}, r"in \[0, 256\)"),
        ("constant", [], {"value": (1, 2), "dtype": dtypes.uint8, "shape": (3,)}, "but got 2"),
        ("iota", [], {"shape": (2,), "dtype": dtypes.bool_, "dim": 0}, '"iota" not implemented for bool'),
        ("take", [VECTOR, VECTOR], {"dim": 0}, "indices of type i64"),
        ("scatter", [VECTOR, INDEX, SCALAR], {"dim": 0, "reduce": "add"}, "shape of the index"),
        ("scatter", [VECTOR, INDEX, VECTOR], {"dim": 0, "reduce": "mean"}, "one of set, add"),
        ("select", [VECTOR, VECTOR, VECTOR], {}, "condition of dtype bool"),
        ("cond", [VECTOR], {}, "expected 2 regions"),
    ],
)  # fmt: skip
def test_what_a_primitive_does_not_admit(
    primitive: str, types: list[TensorType], attributes: dict[str, object], message: str
) -> None:
    builder = Builder()
    with pytest.raises(PrimitiveError, match=message):
        builder.emit_all(primitive, [builder.parameter(type) for type in types], attributes)


def test_unknown_primitive_and_bad_attribute() -> None:
    with pytest.raises(PrimitiveError, match="the table is closed"):
        Builder().emit("gelu")
    with pytest.raises(TypeError, match="attribute must be"):
        Builder().emit("iota", shape={2}, dtype=dtypes.int64, dim=0)
    with pytest.raises(ValueError, match="must have rank 0"):
        Builder().parameter(VECTOR, by_value=True)


def sample() -> Program:
    """``sum(exp(x))`` with a cond on a flag."""
    double = Builder()
    inner = double.parameter(SCALAR)
    doubled = double.region([double.emit("add", inner, inner)])
    same = Builder()
    unchanged = same.region([same.parameter(SCALAR)])
    builder = Builder("sample")
    x, flag = builder.parameter(VECTOR), builder.parameter(FLAG, by_value=True, name="flag")
    total = builder.emit("reduce_sum", builder.emit("exp", x), dims=(0,))
    return builder.build(builder.emit("cond", flag, total, regions=[doubled, unchanged]))


def with_instruction(
    program: Program, position: int, change: Callable[[Instruction], Instruction]
) -> Program:
    instructions = list(program.instructions)
    instructions[position] = change(instructions[position])
    return replace(program, instructions=tuple(instructions))


def _first_operand(instruction: Instruction, value: Value) -> Instruction:
    return replace(instruction, operands=(value, *instruction.operands[1:]))


CORRUPTIONS: dict[str, tuple[Callable[[Program], Program], str]] = {
    "use before definition": (lambda p: replace(p, instructions=p.instructions[::-1]), "not defined before"),
    "missing definition": (lambda p: replace(p, instructions=p.instructions[1:]), "not defined before"),
    "undefined result": (lambda p: replace(p, results=(Value(99, SCALAR),)), "not defined before"),
    "an impostor with a known id": (
        lambda p: with_instruction(p, 0, lambda i: _first_operand(i, Value(i.operands[0].id, VECTOR))),
        "not defined before",
    ),
    "defined twice": (lambda p: replace(p, instructions=(p.instructions[0], *p.instructions)), "defined twice"),
    "unknown primitive": (lambda p: with_instruction(p, 0, lambda i: replace(i, primitive="gelu")), "no primitive"),
    "wrong result type": (
        lambda p: with_instruction(p, 2, lambda i: replace(i, results=(Value(i.results[0].id, VECTOR),))),
        "results are declared",
    ),
    "too few results": (lambda p: with_instruction(p, 2, lambda i: replace(i, results=())), "results are declared"),
    "missing attribute": (lambda p: with_instruction(p, 1, lambda i: replace(i, attributes={})), "missing: dims"),
    "wrong kind of attribute": (
        lambda p: with_instruction(p, 1, lambda i: replace(i, attributes={"dims": 0})),
        "of kind ints",
    ),
    "mutable attribute": (
        lambda p: with_instruction(p, 1, lambda i: replace(i, attributes={"dims": [0]})),
        "no valid value",
    ),
    "wrong program attribute": (lambda p: replace(p, attributes={"key": object()}), "no valid value"),
    "missing region": (lambda p: with_instruction(p, 2, lambda i: replace(i, regions=i.regions[:1])), "2 regions"),
    "region results differ": (
        lambda p: with_instruction(
            p, 2, lambda i: replace(i, regions=(i.regions[0], replace(i.regions[1], results=())))
        ),
        "region with results",
    ),
    "region parameters differ": (
        lambda p: with_instruction(p, 2, lambda i: replace(i, regions=(i.regions[0], Region((), (), ())))),
        "region with parameters",
    ),
    "region sees a value outside": (
        lambda p: with_instruction(
            p, 2, lambda i: replace(i, regions=(i.regions[0], replace(i.regions[1], results=(Value(77, SCALAR),))))
        ),
        "not defined before",
    ),
    "by-value parameter with dimensions": (
        lambda p: replace(p, parameters=(p.parameters[0], p.parameters[1], Parameter(50, VECTOR, True))),
        "must have rank 0",
    ),
    "negative size": (
        lambda p: replace(p, parameters=(*p.parameters, Parameter(50, TensorType(dtypes.float32, (-1,))))),
        "negative size",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_verifier_rejects(kind: str) -> None:
    corrupt, message = CORRUPTIONS[kind]
    verify(sample())
    with pytest.raises(VerificationError, match=message):
        verify(corrupt(sample()))


def test_verifier_wants_canonical_constants() -> None:
    program = constant_program(1.0)
    with pytest.raises(VerificationError, match="numbers of type float"):
        verify(with_instruction(program, 0, lambda i: replace(i, attributes={**i.attributes, "value": 1})))


TEXT = """ptir 1.0
program "sample"(%0: f32[3], %1 "flag": scalar bool[]) {
  %2 = exp(%0) : f32[3]
  %3 = reduce_sum(%2) {dims=[0]} : f32[]
  %4 = cond(%1, %3) : f32[]
    region(%0: f32[]) {
      %1 = add(%0, %0) : f32[]
      return %1
    }
    region(%0: f32[]) {
      return %0
    }
  return %4
}
"""


def test_text_by_hand() -> None:
    assert to_text(sample()) == TEXT
    assert parse(TEXT) == sample()
    assert parse(TEXT.replace("\n", "\r\n").replace(" ", "  ")) == sample()


def test_values_in_text() -> None:
    builder = Builder()
    value = builder.constant((0.1, float("nan"), -0.0, float("-inf")), dtypes.float64, (4,))
    program = builder.build([value], {"note": (1 + 2j, 'a"b\n', True, -3)})
    text = to_text(program)
    assert "value=[0x1.999999999999ap-4, nan, -0x0.0p+0, -inf]" in text
    assert 'with {note=[complex(0x1.0000000000000p+0, 0x1.0000000000000p+1), "a\\"b\\n", true, -3]}' in text
    assert parse(text) == program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "starts with a line 'ptir"),
        (TEXT.split("\n", 1)[1], "starts with a line 'ptir"),
        (TEXT.replace("ptir 1.0", "ptir 2.0"), "version 2.0"),
        (TEXT.replace("%2 = exp(%0)", "%2 = exp(%9)"), "line 3: value %9 is not defined"),
        (TEXT.replace("%3 =", "%2 ="), "line 4: value %2 is defined twice"),
        (TEXT.replace("f32[3]", "f31[3]"), "line 2: there is no dtype 'f31'"),
        (TEXT.replace("[0]", "[$]"), "line 4: unexpected character"),
        (TEXT.replace("[0]", "zero"), "line 4: expected an attribute value"),
        (TEXT.replace("{dims=[0]}", "{dims=[0], dims=[0]}"), "line 4: an attribute is given twice"),
        (TEXT.rstrip()[:-1], "expected '}'"),
        (TEXT + "}", "expected the end"),
        (TEXT.replace("(%0)", "(%0"), "expected"),
    ],
)
def test_malformed_text(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse(text)


def test_well_formed_text_of_an_invalid_program() -> None:
    with pytest.raises(VerificationError, match="no primitive 'gelu'"):
        parse(TEXT.replace("exp", "gelu"))
    with pytest.raises(VerificationError, match="results are declared"):
        parse(TEXT.replace("%2 = exp(%0) : f32[3]", "%2 = exp(%0) : f64[3]"))


def test_newer_minor_versions_are_read() -> None:
    assert parse(TEXT.replace("ptir 1.0", "ptir 1.7")) == sample()
