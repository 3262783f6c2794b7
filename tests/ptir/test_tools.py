"""Tools over programs: running, differences, statistics, drawings and the command line."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings

import raxis
from raxis import dtypes
from raxis.ptir import Builder, Program, TensorType, parse, run
from raxis.ptir.running import random_inputs
from raxis.ptir.tools.command_line import main
from raxis.ptir.tools.difference import difference
from raxis.ptir.tools.drawing import to_svg
from raxis.ptir.tools.layering import GAP, Edge, place
from raxis.ptir.tools.statistics import statistics
from tests.examples.test_documentation import run_block
from tests.ptir.harness import assert_identical, execute
from tests.ptir.random_programs import SEEDS, arrays, programs, random_program

ROOT = Path(__file__).resolve().parents[2]
CONSOLE, PYCON = (
    re.compile(rf"^```{language}\n(.*?)^```$", re.M | re.S) for language in ("console", "pycon")
)


def scaled(primitive: str = "exp", extra: bool = False) -> Program:
    builder = Builder("scaled")
    x = builder.parameter(TensorType(dtypes.float32, (2, 3)), name="x")
    factor = builder.parameter(TensorType(dtypes.float32, ()), by_value=True, name="factor")
    if extra:
        x = builder.emit("neg", x)
    factors = builder.emit("broadcast", factor, shape=(2, 3), dims=())
    return builder.build([builder.emit("mul", builder.emit(primitive, x), factors)])


def nested(primitive: str = "cos") -> Program:
    """A scan with a composite inside."""
    innermost, body, builder = Builder(), Builder(), Builder("nested")
    inside = innermost.region(
        [innermost.emit(primitive, innermost.parameter(TensorType(dtypes.float32, ())))]
    )
    element = body.parameter(TensorType(dtypes.float32, ()))
    region = body.region(body.emit("composite", element, name="wave", regions=[inside]))
    x = builder.parameter(TensorType(dtypes.float32, (3,)))
    return builder.build(builder.emit("scan", x, carry_count=0, regions=[region]))


@settings(max_examples=80)
@given(programs(), SEEDS)
def test_run_gives_what_the_backend_gives(program: Program, seed: int) -> None:
    inputs = arrays(program, seed)
    plain = [a.item() if p.by_value else a for p, a in zip(program.parameters, inputs, strict=True)]
    try:
        expected = execute(program, plain)
    except (IndexError, RuntimeError) as error:
        with pytest.raises(type(error)):
            run(program, inputs)
        return
    for one, other in zip(run(program, inputs), expected, strict=True):
        assert_identical(one, other)


def test_run_checks_its_inputs() -> None:
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(run(scaled("neg"), [x.T.copy().T, 2], "cpu:0"), [np.full((2, 3), -2)])
    with pytest.raises(TypeError, match="has 2 parameters, but got 1 inputs"):
        run(scaled(), [x])
    with pytest.raises(
        TypeError, match=r"is f32\[2,3\], but its input has dtype float64; convert it with astype"
    ):
        run(scaled(), [x.astype(float), 2.0])
    with pytest.raises(ValueError, match=r"is f32\[2,3\], but its input has shape \(3, 2\)"):
        run(scaled(), [x.T, 2.0])
    with pytest.raises(raxis.errors.BackendError):
        run(scaled(), [x, 2.0], "no_such_device")


def test_random_inputs_repeat() -> None:
    program = random_program(4, 8)
    for one, other, parameter in zip(
        random_inputs(program, 1), random_inputs(program, 1), program.parameters, strict=True
    ):
        assert_identical(one, other)
        assert one.shape == parameter.type.shape
    assert (random_inputs(scaled(), 1)[0] != random_inputs(scaled(), 2)[0]).all()


def test_a_difference_shows_what_changed_and_nothing_that_was_renumbered() -> None:
    assert difference(scaled(), scaled()) == []
    lines = difference(scaled(), scaled(extra=True))
    assert [line for line in lines if line[0] in "+-"][2:] == [
        "+  %+2 = neg(%0) : f32[2,3]",
        "-  %3 = exp(%0) : f32[2,3]",
        "+  %3 = exp(%+2) : f32[2,3]",
    ]


def test_a_difference_looks_into_regions() -> None:
    lines = difference(nested(), nested("sin"))
    assert [line for line in lines if line[0] in "+-"][2:] == [
        "-          %1 = cos(%0) : f32[]",
        "-          return %1",
        "+          %+1 = sin(%0) : f32[]",
        "+          return %+1",
    ]


@settings(max_examples=60)
@given(programs(), programs())
def test_differences_of_any_programs(first: Program, second: Program) -> None:
    assert difference(first, first) == []
    lines = difference(first, second)
    assert bool(lines) == (first != second)
    removed = [line[1:] for line in lines if not line.startswith(("+", "@", "---"))]
    assert set(removed) <= set(first.text().splitlines())


def test_a_difference_of_attributes_only() -> None:
    first = Builder("same").build([], {"note": 1})
    second = replace(first, attributes={"note": 1.0})
    assert len(difference(first, second)) > 2


def test_statistics_by_hand() -> None:
    found = statistics(scaled())
    assert (found.parameters, found.by_value, found.identified, found.results, found.depth) == (2, 1, 0, 1, 0)
    assert found.primitives == {"exp": 1, "broadcast": 1, "mul": 1}
    assert (found.cost.operations, found.cost.parameter_bytes, found.cost.result_bytes) == (12, 24, 24)
    assert "operations    12" in str(found)
    assert statistics(nested()).depth == 2


def test_layout_by_hand() -> None:
    found = place([10, 20, 10, 30], [Edge(0, 2), Edge(1, 2), Edge(2, 3), Edge(0, 3)])
    assert found.layers == [0, 0, 1, 2]
    assert found.centers[1] - found.centers[0] >= 15 + GAP
    assert [layer for _, layer in found.routes[3]] == [0, 1, 2]
    assert place([], []).width == 0


@settings(max_examples=60)
@given(programs())
def test_drawings_have_no_overlaps_and_lead_downwards(program: Program) -> None:
    tree = ElementTree.fromstring(to_svg(program))
    namespace = {"s": "http://www.w3.org/2000/svg"}
    drawn = 0
    for panel in tree.findall("s:g/s:g", namespace):
        boxes = [
            [float(box.get(name)) for name in ("x", "y", "width", "height")]
            for box in panel.findall("s:g/s:rect", namespace)
        ]
        drawn += len(boxes)
        for number, (x, y, width, height) in enumerate(boxes):
            assert x >= -0.1
            for other_x, other_y, other_width, other_height in boxes[:number]:
                apart = other_x >= x + width or x >= other_x + other_width
                assert apart or other_y >= y + height or y >= other_y + other_height
        for path in panel.findall("s:path", namespace):
            heights = [float(pair.split()[-1]) for pair in re.findall(r"[MCV]([^MCV]+)", path.get("d"))]
            assert heights == sorted(heights)
    assert drawn >= len(program.parameters) + len(program.instructions) + 1


def test_text_in_drawings_is_xml() -> None:
    program = Builder('<&"\0\ud800>').build([])
    assert ElementTree.fromstring(to_svg(program))[0].text == '<&"\ufffd\ufffd>'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with two programs in it."""
    monkeypatch.chdir(tmp_path)
    scaled().save("scaled.ptir")
    scaled("log").save("logarithm.json")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_print_and_convert(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "print", "scaled.ptir") == (0, scaled().text(), "")
    assert said(capsys, "print", "--json", "scaled.ptir") == (0, scaled().to_json(), "")
    assert said(capsys, "convert", "scaled.ptir", "scaled.ptirb") == (0, "", "")
    assert Program.load("scaled.ptirb") == scaled()


def test_verify(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.ptir").write_text(scaled().text().replace("exp", "gelu"))
    (folder / "text.ptirb").write_text("ptir 1.0")
    status, out, _ = said(capsys, "verify", "scaled.ptir", "broken.ptir", "text.ptirb", "logarithm.json")
    assert status == 1
    lines = out.splitlines()
    assert lines[0] == "scaled.ptir: valid"
    assert lines[1] == "broken.ptir: program 'scaled', gelu: there is no primitive 'gelu'."
    assert lines[2].startswith("text.ptirb: a binary program starts with the bytes")
    assert lines[3] == "logarithm.json: valid"


def test_run_with_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.savez("in.npz", x=x, factor=np.float32(2))
    status, out, _ = said(capsys, "run", "scaled.ptir", "--inputs", "in.npz", "--output", "out.npz")
    assert (status, out.splitlines()[0]) == (0, "f32[2,3]")
    with np.load("out.npz") as found:
        np.testing.assert_allclose(found["0"], np.exp(x.astype(float)) * 2, rtol=1e-6)
    np.savez("positions.npz", x, np.float32(2))
    assert said(capsys, "run", "scaled.ptir", "--inputs", "positions.npz")[:2] == (0, out)
    np.savez("missing.npz", x=x)
    status, _, err = said(capsys, "run", "scaled.ptir", "--inputs", "missing.npz")
    assert (status, err) == (
        2,
        "raxis.ptir: missing.npz has no array 'factor' or '1' for parameter 1, f32[].\n",
    )


def test_run_of_bfloat16_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = Builder("half")
    builder.build([builder.emit("neg", builder.parameter(TensorType(dtypes.bfloat16, (2,))))]).save(
        "half.ptir"
    )
    assert said(capsys, "run", "half.ptir", "--seed", "1", "--output", "out.npz")[0] == 0
    status, out, _ = said(capsys, "run", "half.ptir", "--inputs", "out.npz")
    expected = random_inputs(Program.load("half.ptir"), 1)[0]
    assert (status, out) == (0, f"bf16[2]\n{expected}\n")


def test_run_with_seeds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = [said(capsys, "run", "scaled.ptir", "--seed", seed)[1] for seed in ("3", "3", "4")]
    assert outputs[0] == outputs[1] != outputs[2]


def test_diff_stats_and_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "diff", "scaled.ptir", "scaled.ptir") == (0, "The programs are equal.\n", "")
    status, out, _ = said(capsys, "diff", "scaled.ptir", "logarithm.json")
    assert status == 1
    assert "+  %+3 = log(%0) : f32[2,3]" in out
    assert said(capsys, "stats", "scaled.ptir") == (0, f"{statistics(scaled())}\n", "")
    assert said(capsys, "graph", "scaled.ptir") == (0, "scaled.svg\n", "")
    assert said(capsys, "graph", "scaled.ptir", "other.svg")[1] == "other.svg\n"
    assert (folder / "other.svg").read_text(encoding="utf-8") == to_svg(scaled())


def test_optimise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = Builder("twice")
    x = builder.parameter(TensorType(dtypes.float32, (2,)))
    double = builder.emit("neg", builder.emit("neg", x))
    builder.build([builder.emit("exp", double)]).save("twice.ptir")
    status, out, err = said(capsys, "optimise", "twice.ptir")
    assert status == 0
    assert "exp(%0)" in out
    assert "canonicalise" in err
    assert said(capsys, "optimise", "twice.ptir", "less.ptirb", "--dump", "passes")[1] == ""
    assert Program.load("less.ptirb") == parse(out)
    assert list((folder / "passes").iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["print", "missing.ptir"], "No such file"),
        (["print", "scaled.txt"], "says no form of programs"),
        (["convert", "scaled.ptir", "scaled.txt"], "says no form of programs"),
        (["run", "scaled.ptir", "--inputs", "scaled.ptir"], "raxis.ptir: "),
        (["run", "scaled.ptir", "--device", "no_such_device"], "no_such_device"),
    ],
)
def test_errors(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    status, _, err = said(capsys, *arguments)
    assert status == 2
    assert message in err
    assert err.startswith("raxis.ptir: ")


def test_the_documentation_shows_what_the_command_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line ``$ python -m raxis.ptir ...`` of docs/ptir.md is followed by its output."""
    path = ROOT / "docs" / "ptir.md"
    text, names = path.read_text(encoding="utf-8"), {}
    for code in PYCON.findall(text):  # makes the files
        run_block("pycon", code, 0, path, names)
    capsys.readouterr()
    sessions = re.split(r"^\$ ", "".join(CONSOLE.findall(text)), flags=re.M)[1:]
    assert len(sessions) >= 6
    for session in sessions:
        command, _, expected = session.partition("\n")
        words = shlex.split(command)
        assert words[:3] == ["python", "-m", "raxis.ptir"]
        _, out, err = said(capsys, *words[3:])
        assert out + err == expected, command
