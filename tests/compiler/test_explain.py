"""Explanations of compiled functions, dumps of compilations, and what is logged."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

import raxis
from raxis import nn
from raxis.backends.reference.backend import ReferenceBackend
from raxis.backends.settings import Settings
from raxis.logs import listener
from raxis.ptir import Program, parse, run
from raxis.ptir.passes import Machine

MACHINE = Machine(operations_per_second=1e9, bytes_per_second=1e9, launch_seconds=1e-6)
NATIVE = os.environ["RAXIS_CPU"] == "plugin"


@pytest.fixture(autouse=True)
def without_variables(monkeypatch):
    for name in ("RAXIS_LOG", "RAXIS_DUMP", "RAXIS_DUMP_DIR"):
        monkeypatch.delenv(name, raising=False)


# ---- explanations ------------------------------------------------------------------------------------


def test_one_recording_per_signature():
    function = raxis.compile(lambda x: x.exp() + 1)
    assert function.explain().recordings == ()
    assert "not called yet" in str(function.explain())
    function(raxis.ones(2))
    function(raxis.ones(2, 3).T)
    with raxis.no_grad():
        function(raxis.ones(2))
    explained = function.explain(machine=MACHINE)
    signatures = [recording.signature for recording in explained.recordings]
    assert signatures == ["float32[2]", "float32[3, 2] strides [1, 3]", "float32[2], no_grad"]
    assert [miss.arguments for miss in explained.misses] == ["float32[2]", "float32[3, 2]", "float32[2]"]


def test_programs_compute_what_the_function_does():
    function = raxis.compile(lambda x: (x * 2 + x * 2).sum())
    result = function(raxis.ones(4))
    ((recording,), (program,)) = function.explain(machine=MACHINE).recordings, _programs(function)
    for each in (program.recorded, program.program):
        assert run(each, [raxis.ones(4).numpy()], device="cpu")[0] == result.item() == 16.0
    assert len(program.program.instructions) < len(program.recorded.instructions)
    assert program.report.rewrites > 0
    assert recording.guards == ()


def _programs(function):
    (recording,) = function.explain(machine=MACHINE).recordings
    return recording.programs


def test_forward_and_backward():
    function = raxis.compile(lambda x: (x * x).sum())
    function(raxis.ones(3, requires_grad=True))
    forward, backward = _programs(function)
    assert (forward.role, backward.role) == ("forward", "backward")
    assert function.explain(machine=MACHINE).recordings[0].signature == "float32[3] requires_grad"


def test_cost_is_compared_with_the_machine():
    function = raxis.compile(lambda x, w: x @ w)
    function(raxis.ones(4, 8), raxis.ones(8, 2))
    (program,) = _programs(function)
    assert program.cost.operations == 2 * 4 * 8 * 2
    assert (program.cost.parameter_bytes, program.cost.result_bytes) == (4 * (32 + 16), 4 * 8)
    moved = program.cost.bytes_read + program.cost.bytes_written
    assert program.launches == 1
    assert program.seconds == pytest.approx(max(128, moved) / 1e9 + 1e-6)
    assert "128 operations at 1e+09/s" in str(program)


def test_the_machine_is_measured_by_default():
    function = raxis.compile(lambda x: x + 1)
    function(raxis.ones(2))
    (program,) = function.explain().recordings[0].programs
    assert min(program.machine) > 0


def test_guards_in_words():
    model = nn.Linear(3, 2)
    function = raxis.compile(lambda x: model(x).sum())
    function(raxis.ones(1, 3))
    guards = function.explain(machine=MACHINE).recordings[0].guards
    assert "float32[2, 3] from outside keeps its memory and requires_grad=True" in guards
    assert any(guard.startswith("Linear is as it was, training=True") for guard in guards)


def test_compiled_modules():
    model = raxis.compile(nn.Linear(3, 2))
    model(raxis.ones(1, 3))
    explained = model.explain(machine=MACHINE)
    assert explained.name == "Linear"
    assert [program.role for program in explained.recordings[0].programs] == ["forward", "backward"]


def test_derived_weights_are_named():
    model = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3)).eval()
    compiled = raxis.compile(model)
    with raxis.no_grad():
        compiled(raxis.ones(1, 2, 4, 4))
    (program,) = compiled.explain(machine=MACHINE).recordings[0].programs
    assert program.derived_weights
    assert all(isinstance(each, Program) for each in program.derived_weights)
    assert program.derived_bytes >= 4 * 3 * 2
    assert "computed once and kept" in str(program)


def test_text_has_all_sections():
    function = raxis.compile(lambda x: x.softmax(-1))
    function(raxis.ones(3, 3))
    text = str(function.explain(machine=MACHINE))
    titles = [
        "Guards",
        "Program (call, after passes)",
        "Passes",
        "Kernels",
        "Memory",
        "Cost",
        "Derived weights",
    ]
    places = [text.index(f"\n  {title}\n") for title in titles]
    assert places == sorted(places)


def test_lines_of_instructions():
    def function(x, w):
        product = x @ w
        return product.exp()

    compiled = raxis.compile(function)
    compiled(raxis.ones(2, 3), raxis.ones(3, 2))
    (program,) = _programs(compiled)
    first = function.__code__.co_firstlineno
    assert [item.primitive for item in program.program.instructions] == ["dot_general", "exp"]
    assert program.lines == [f"{__file__}:{first + 1}", f"{__file__}:{first + 2}"]
    assert f"{__file__}:{first + 1}: dot_general" in str(program)


def test_a_backend_that_describes_nothing_shows_the_program():
    function = raxis.compile(lambda x: x + 1, backend=ReferenceBackend())
    function(raxis.ones(2))
    (program,) = _programs(function)
    assert program.description.text == program.program.text()
    assert program.description.arena_bytes is None
    assert program.launches == program.cost.kernels


@pytest.mark.skipif(not NATIVE, reason="describes what raxis-cpu runs")
def test_native_schedule_memory_and_sources():
    function = raxis.compile(lambda x, w: ((x @ w).exp() @ w).softmax(-1))
    function(raxis.ones(8, 8), raxis.ones(8, 8))
    (program,) = function.explain(machine=MACHINE, kernels=True).recordings[0].programs
    described = program.description
    assert described.text.count("library dot_general") == 2
    assert "reduce_sum" in described.text
    assert 0 < described.arena_bytes <= described.temporary_bytes
    assert described.arena_bytes % 64 == 0
    assert program.launches == described.steps
    assert described.sources
    assert all("define" in source for source in described.sources.values())
    assert not _programs(function)[0].description.sources


# ---- dumps -------------------------------------------------------------------------------------------


class Failing(ReferenceBackend):
    """Cannot compile."""

    def compile(self, program, inputs, outputs, **options):
        raise NotImplementedError("no kernels today.")


def test_a_failing_backend_leaves_the_program(monkeypatch, tmp_path):
    monkeypatch.setenv("RAXIS_DUMP_DIR", str(tmp_path / "dumps"))
    function = raxis.compile(lambda x: x + 1, backend=Failing())
    with pytest.raises(NotImplementedError, match="no kernels today") as caught:
        function(raxis.ones(2))
    assert "in its schedule and kernels. The program so far: " in str(caught.value)
    path = Path(str(caught.value).rsplit("The program so far: ", 1)[1])
    assert path.is_relative_to(tmp_path / "dumps")
    assert run(parse(path.read_text()), [raxis.ones(2).numpy()], device="cpu")[0].tolist() == [2.0, 2.0]


def test_a_failing_pass_is_named(monkeypatch, tmp_path):
    from raxis.ptir.passes import Pass

    def fail(program, context):
        raise ValueError("out of ideas.")

    monkeypatch.setenv("RAXIS_DUMP_DIR", str(tmp_path))
    backend = ReferenceBackend()
    backend.passes = {"fuse": [Pass("guess", "fails", fail)]}
    with pytest.raises(ValueError, match=r"out of ideas.*\n.*in its passes \(guess\)") as caught:
        raxis.compile(lambda x: x * 1 + 1, backend=backend)(raxis.ones(2))
    assert Path(str(caught.value).rsplit(": ", 1)[1]).parent.parent == tmp_path


def test_without_a_folder_a_temporary_one_is_made(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(NotImplementedError):
        raxis.compile(lambda x: x + 1, backend=Failing())(raxis.ones(2))
    assert [path.name for path in tmp_path.rglob("*.ptir")] == ["failed.ptir"]


def test_dumps_can_be_switched_off(monkeypatch, tmp_path):
    monkeypatch.setenv("RAXIS_DUMP_DIR", str(tmp_path))
    monkeypatch.setenv("RAXIS_DUMP", "off")
    with pytest.raises(NotImplementedError, match=r"^no kernels today\.$"):
        raxis.compile(lambda x: x + 1, backend=Failing())(raxis.ones(2))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_does_not_hide_the_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RAXIS_DUMP_DIR", str(tmp_path / "file"))
    with pytest.raises(NotImplementedError, match=r"no kernels today.*\n.*could not be written"):
        raxis.compile(lambda x: x + 1, backend=Failing())(raxis.ones(2))


def test_everything_on_request(monkeypatch, tmp_path):
    monkeypatch.setenv("RAXIS_DUMP", "all")
    monkeypatch.setenv("RAXIS_DUMP_DIR", str(tmp_path))
    function = raxis.compile(lambda x: x * 2 + x * 2)
    function(raxis.ones(2))
    (folder,) = tmp_path.iterdir()
    names = sorted(path.name for path in folder.iterdir())
    assert names[0] == "00-recorded.ptir"
    assert {"99-compiled.ptir", "kernels.txt"} < set(names)
    assert len([name for name in names if name.endswith(".ptir")]) > 2
    results = [
        run(parse(path.read_text()), [raxis.ones(2).numpy()], device="cpu")[0].tolist()
        for path in folder.glob("*.ptir")
    ]
    assert results == [[4.0, 4.0]] * len(results)
    assert any(name.endswith(".ll") for name in names) == NATIVE


# ---- logging -----------------------------------------------------------------------------------------


@pytest.fixture
def messages(caplog):
    caplog.set_level(logging.NOTSET, "raxis")
    yield caplog
    for name in ("", ".compile", ".guards", ".passes", ".kernels", ".plugins"):
        logging.getLogger(f"raxis{name}").setLevel(logging.NOTSET)


def test_nobody_listens_by_default():
    logging.getLogger("raxis").setLevel(logging.NOTSET)
    assert listener("compile") is None


def test_recordings_and_broken_guards_are_logged(monkeypatch, messages):
    monkeypatch.setenv("RAXIS_LOG", "compile,guards")
    weight = raxis.ones(2)

    def scaled(x):
        return x * weight

    function = raxis.compile(scaled)
    function(raxis.ones(2))
    weight.data = raxis.zeros(2)
    function(raxis.ones(2))
    found = [(record.name, record.getMessage()) for record in messages.records]
    assert found[0] == (
        "raxis.compile",
        "scaled(float32[2]) was recorded, since this is the first call with such arguments; kept",
    )
    assert found[1][0] == "raxis.guards"
    assert found[1][1].startswith("scaled: a recording is not repeated, since a tensor of shape [2] outside")
    assert found[2][1].startswith("scaled(float32[2]) was recorded, since a tensor of shape [2] outside")
    assert len(found) == 3


def test_passes_are_logged_with_details_when_debugging(monkeypatch, messages):
    monkeypatch.setenv("RAXIS_LOG", "debug")
    raxis.compile(lambda x: x * 1 + 1)(raxis.ones(2))
    found = [record for record in messages.records if record.name == "raxis.passes"]
    assert [record.levelname for record in found] == ["INFO", "DEBUG"]
    assert found[1].getMessage().startswith("pass ")


def test_levels_of_the_standard_library_work_too(messages):
    logging.getLogger("raxis.compile").setLevel(logging.INFO)
    assert listener("compile") is logging.getLogger("raxis.compile")
    assert listener("compile", detail=True) is None


def test_the_variable_is_strict():
    assert Settings({}).log_topics == frozenset()
    assert Settings({"RAXIS_LOG": "compile, kernels"}).log_topics == {"compile", "kernels"}
    with pytest.raises(ValueError, match=r"RAXIS_LOG='kernel' is not understood.*Did you mean 'kernels'"):
        _ = Settings({"RAXIS_LOG": "kernel"}).log_topics
    with pytest.raises(ValueError, match="RAXIS_DUMP='yes' is not understood"):
        _ = Settings({"RAXIS_DUMP": "yes"}).dump
