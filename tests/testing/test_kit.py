"""The kit's own rules: exclusions, verdicts, reports, the command, the pytest class, and new plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from raxis import dtypes
from raxis.backends.reference import ReferenceBackend
from raxis.dtypes import DType
from raxis.ptir import PRIMITIVES, verify
from raxis.testing import Case, Declined, Exclusion, Skipped, Subject, Verdict, collect, report, run, run_case
from raxis.testing.__main__ import main
from raxis.testing.applications import of_primitive
from raxis.testing.exclusions import read
from raxis.testing.new import create

ROOT = Path(__file__).parents[2]


def fails(_: Subject) -> None:
    raise ValueError("wrong")


def passes(_: Subject) -> None:
    """Nothing to complain about."""


def declines(_: Subject) -> None:
    raise Declined("It has no such unit.")


def skips(_: Subject) -> None:
    raise Skipped("it has no memory.")


def outcomes(*exclusions: Exclusion, **checks: object) -> dict[str, Verdict]:
    cases = [Case("level", name, check) for name, check in checks.items()]  # type: ignore[arg-type]
    return {outcome.case.id: outcome.verdict for outcome in run(Subject("cpu"), cases, exclusions)}


def test_verdicts() -> None:
    found = outcomes(a=passes, b=fails, c=declines, d=skips)
    assert list(found.values()) == [Verdict.PASSED, Verdict.FAILED, Verdict.DECLINED, Verdict.SKIPPED]


def test_exclusions_are_strict() -> None:
    rules = [Exclusion("level/a", "Known."), Exclusion("level/b", "Known."), Exclusion("level/c", "Known.")]
    assert outcomes(*rules, a=passes, b=fails) == {
        "level/a": Verdict.FAILED,  # it passes
        "level/b": Verdict.EXCLUDED,
        "exclusions/level/c": Verdict.FAILED,  # it matches nothing
    }


def test_brackets_in_exclusions_stand_for_themselves() -> None:
    rule = Exclusion("primitives/*[complex*]", "No complex numbers.")
    assert rule.matches(Case("primitives", "add[complex64]", passes))
    assert not rule.matches(Case("primitives", "add[float32]", passes))


def test_exclusions_are_read_from_pyproject(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    assert read(file) == []
    file.write_text('[tool.raxis.testing]\nexclude = [{ case = "storage/*", reason = "Slow." }]\n')
    assert read(file) == [Exclusion("storage/*", "Slow.")]


@pytest.mark.parametrize(
    "entry", ['{ case = "a" }', '{ case = "a", reason = "" }', '"a"', '{ case = "a", reason = 3 }']
)
def test_exclusions_need_a_reason(tmp_path: Path, entry: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text(f"[tool.raxis.testing]\nexclude = [{entry}]\n")
    with pytest.raises(ValueError, match="`case` and `reason`"):
        read(file)


@pytest.mark.parametrize("name", list(PRIMITIVES))
def test_every_primitive_is_applied_in_every_dtype(name: str) -> None:
    applications = of_primitive(name)
    assert applications
    covered = {dtype for dtype in dtypes.ALL for item in applications if item.admits(dtype)}
    admitted = set(PRIMITIVES[name].admitted)
    assert covered == admitted or name in ("constant", "iota", "random_bits")
    for item in applications:
        for dtype in dtypes.ALL:
            if item.admits(dtype):
                verify(item.program(dtype))


def test_ids_of_cases_are_unique() -> None:
    ids = [case.id for case in collect()]
    assert len(ids) == len(set(ids))


class Partial(ReferenceBackend):
    """Has no complex numbers."""

    def supports(self, primitive: str, dtype: DType) -> object:  # type: ignore[override]
        return f"{primitive} of {dtype.name} is not available on device foo." if dtype.is_complex else True

    def compile(self, program: object, *rest: object, **options: object) -> object:  # type: ignore[override]
        for item in program.instructions:  # type: ignore[attr-defined]
            types = [value.type for value in (*item.operands, *item.results)]
            for type in types:
                if type.dtype.is_complex:
                    raise NotImplementedError(self.supports(item.primitive, type.dtype))
        return super().compile(program, *rest, **options)  # type: ignore[arg-type]


def test_declined_dtypes() -> None:
    subject = Subject("foo", Partial())
    cases = collect(["primitives"], "primitives/add[[]*")
    found = {case.name: run_case(case, subject) for case in cases}
    for dtype in dtypes.ALL:
        outcome = found[f"add[{dtype.name}]"]
        assert outcome.verdict is (Verdict.DECLINED if dtype.is_complex else Verdict.PASSED), outcome.detail


def test_report() -> None:
    subject = Subject("cpu")
    made = list(run(subject, collect(["primitives"], "primitives/*add[[]*"), [Exclusion("x", "No.")]))
    data = json.loads(report.as_json(subject, made))
    assert data["schema"] == 1
    assert data["device"] == "cpu"
    assert data["totals"]["failed"] == 1
    assert data["totals"]["passed"] == len(made) - 1
    assert {"id", "verdict", "detail", "seconds"} == set(data["cases"][0])
    page = report.as_markdown(subject, made)
    assert "| `add` | ✓ | ✓ |" in page
    assert "the exclusion 'x' matches no case" in page


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "r.json"
    assert main(["--device", "cpu", "--level", "storage", "--report", str(target)]) == 0
    assert "passed" in capsys.readouterr().out
    assert json.loads(target.read_text())["totals"]["failed"] == 0
    with pytest.raises(SystemExit):
        main(["--device", "cpu", "--level", "nonesuch"])
    assert main(["--device", "cpu", "--cases", "nothing/like/it"]) == 1


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, sys.path))
    environ = {**os.environ, "PYTHONPATH": path, "RAXIS_CPU": "reference"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environ)


def test_suite_under_pytest(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.raxis.testing]\nexclude = [{ case = "storage/round_trip", reason = "Known." }]\n'
    )
    (tmp_path / "test_it.py").write_text(
        "import raxis.testing\n\n\nclass TestIt(raxis.testing.BackendSuite):\n"
        "    device = 'cpu'\n    levels = ('storage',)\n"
    )
    done = pytest_in(tmp_path, "-rs")
    assert done.returncode == 1
    assert "it is excluded (Known.), but passed" in done.stdout
    assert "1 failed, 10 passed, 1 skipped" in done.stdout
    assert "skipped: the device keeps no memory statistics." in done.stdout


def test_kit_without_a_file(tmp_path: Path) -> None:
    done = pytest_in(tmp_path, "-p", "raxis.testing.plugin", "--raxis-device=cpu", "-k", "storage or match")
    assert done.returncode == 0, done.stdout
    assert "11 passed, 1 skipped" in done.stdout


def test_suite_without_a_device(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "from raxis.testing import BackendSuite\n\n\nclass TestIt(BackendSuite): ...\n"
    )
    done = pytest_in(tmp_path)
    assert done.returncode != 0
    assert "names no device" in done.stdout


def test_kit_needs_no_pytest() -> None:
    code = "import sys; sys.modules['pytest'] = None; import raxis.testing.__main__, raxis.testing.plugin"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], check=True, env=environ)


def test_new_plugin(tmp_path: Path) -> None:
    folder = create("my_device", tmp_path)
    assert folder == tmp_path / "raxis-my-device"
    files = {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }
    assert {"pyproject.toml", ".github/workflows/ci.yml", "src/raxis_my_device/backend.py"} <= set(files)
    assert 'my_device = "raxis_my_device"' in files["pyproject.toml"]
    assert "class MyDeviceBackend(Backend)" in files["src/raxis_my_device/backend.py"]
    assert not [name for name, text in files.items() if "template" in (name + text).lower()]
    with pytest.raises(FileExistsError):
        create("my_device", tmp_path)


@pytest.mark.parametrize("name", ["Foo", "1foo", "foo-bar", "", "cpu", "cuda", "meta", "template"])
def test_names_that_no_plugin_may_have(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="lower-case"):
        create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_template_is_an_example_and_small() -> None:
    example = ROOT / "examples" / "raxis-backend-template"
    assert example.resolve() == ROOT / "raxis-core" / "src" / "raxis" / "testing" / "template"
    lines = sum(len(path.read_text().splitlines()) for path in example.rglob("*.py"))
    assert lines <= 250
