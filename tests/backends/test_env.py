"""``python -m raxis.env``: a stable report, and checks that survive plugins that crash."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from raxis import env
from raxis.version import __version__

KILLED = "import os\nAPI = (1, 0)\ndef probe(): return None\ndef load(): os.kill(os.getpid(), 11)\n"


def command(*arguments: str, path: Path | None = None, **environ: str) -> str:
    """The standard output of ``python -m raxis.env``, which must exit with 0."""
    places = [str(path)] if path else []
    environ = {"PYTHONPATH": os.pathsep.join([*places, *filter(None, sys.path)]), **environ}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAXIS_")}
    done = subprocess.run(
        [sys.executable, "-m", "raxis.env", *arguments],
        capture_output=True,
        text=True,
        env={**kept, **environ},
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def devices(text: str) -> dict[str, dict]:
    return {row["distribution"]: row for row in json.loads(text)["devices"] if row["device"] != "meta"}


def test_json_schema_is_stable(fakes) -> None:
    fakes.install("raxis-foo")
    fakes.install("ext-one", source="", group="raxis.plugins")
    data = json.loads(command("--json", path=fakes.folder, RAXIS_DEVICE="foo", RAXIS_DEVISE="foo"))
    assert list(data) == [
        "schema",
        "raxis",
        "python",
        "platform",
        "libraries",
        "variables",
        "devices",
        "extensions",
        "notes",
    ]
    assert (data["schema"], data["raxis"]) == (1, __version__)
    assert set(data["python"]) == {"version", "executable"}
    assert set(data["platform"]) == {"system", "machine", "cores"}
    assert {"numpy", "raxis-cpu"} <= set(data["libraries"])
    assert data["variables"]["RAXIS_DEVICE"] == "foo"
    assert all(
        list(row) == ["device", "distribution", "version", "state", "reason", "check"]
        for row in data["devices"]
    )
    assert {"device": "meta", "distribution": "raxis-core", "version": __version__} == {
        name: value
        for row in data["devices"]
        if row["device"] == "meta"
        for name, value in row.items()
        if name in ("device", "distribution", "version")
    }
    [extension] = data["extensions"]
    assert extension == {
        "device": "foo",
        "distribution": "ext-one",
        "version": "1.0",
        "state": "found",
        "reason": "",
    }
    assert data["notes"] == [
        "RAXIS_DEVISE is set, but Raxis reads no variable of that name. Did you mean 'RAXIS_DEVICE'?"
    ]


def test_without_check_plugins_are_probed_but_not_loaded(fakes) -> None:
    fakes.install("raxis-foo", source=KILLED)
    fakes.install(
        "raxis-bar", device="bar", source="API = (1, 0)\ndef probe(): return 'no bar'\ndef load(): ..."
    )
    fakes.install("raxis-baz", device="baz", source="import nonesuch")
    rows = devices(command("--json", path=fakes.folder))
    assert (rows["raxis-foo"]["state"], rows["raxis-foo"]["check"]) == ("found", None)
    assert (rows["raxis-bar"]["state"], rows["raxis-bar"]["reason"]) == ("unavailable", "no bar")
    assert rows["raxis-baz"]["state"] == "failed"


def test_check_runs_a_kernel_on_each_device_and_survives_a_crash(fakes) -> None:
    fakes.install("raxis-foo", source=KILLED)
    fakes.install("raxis-bar", device="bar", source="import os\nprint('raxis-check:no')\nos._exit(3)")
    fakes.install("raxis-baz", device="baz")
    fakes.install(
        "raxis-qux", device="qux", source="API = (1, 0)\ndef probe(): return 'no qux'\ndef load(): ..."
    )
    rows = devices(command("--json", "--check", path=fakes.folder))
    served = next(row for row in rows.values() if row["device"] == "cpu" and row["state"] == "ready")
    assert served["check"]["result"] == "passed"
    assert served["check"]["milliseconds"] > 0
    assert rows["raxis-foo"]["check"]["result"] == "crashed"
    assert rows["raxis-foo"]["check"]["detail"].startswith("the process was killed by signal 11 (SIGSEGV)")
    assert rows["raxis-bar"]["check"]["detail"].startswith("the process ended with exit code 3")
    assert (rows["raxis-baz"]["state"], rows["raxis-baz"]["check"]["result"]) == ("ready", "failed")
    assert "NotImplementedError" in rows["raxis-baz"]["check"]["detail"]
    assert (rows["raxis-qux"]["state"], rows["raxis-qux"]["reason"]) == ("unavailable", "no qux")
    assert rows["raxis-qux"]["check"]["result"] == "failed"


def test_check_gives_up_on_a_plugin_that_hangs(fakes) -> None:
    fakes.install("raxis-foo", source="import time\ntime.sleep(60)")
    answer = env.check_device("foo", seconds=0.3)
    assert (answer["result"], answer["detail"]) == ("timeout", "no answer within 0.3 seconds")


def test_unusable_cpu_plugin_and_what_serves_instead_are_shown(fakes) -> None:
    fakes.install("raxis-cpu", device="cpu", version=__version__, source="raise ImportError('numpy too new')")
    for arguments in (["--json"], ["--json", "--check"]):
        rows = devices(command(*arguments, path=fakes.folder))
        assert rows["raxis-cpu"]["state"] == "failed"
        assert "numpy too new" in rows["raxis-cpu"]["reason"]
        assert rows["raxis-cpu"]["check"] is None
        assert rows["raxis-core"]["state"] == "ready"
        assert "numpy too new" in rows["raxis-core"]["reason"]
    assert rows["raxis-core"]["check"]["result"] == "passed"


def test_malformed_variable_is_a_note(fakes) -> None:
    fakes.install("raxis-foo")
    data = json.loads(command("--json", path=fakes.folder, RAXIS_PLUGINS="nonne"))
    assert "RAXIS_PLUGINS='nonne' is not understood" in data["notes"][0]
    assert "raxis-foo" in [row["distribution"] for row in data["devices"]]


def test_unusable_default_device_is_a_note() -> None:
    assert "The default device 'cuda:1' is unusable." in command(RAXIS_DEVICE="cuda:1", RAXIS_PLUGINS="none")


def test_text_report_shows_every_device(fakes) -> None:
    fakes.install("raxis-foo", source="raise OSError('libfoo.so')")
    text = command(path=fakes.folder, RAXIS_PLUGINS_BLOCK="bar")
    [line] = [line for line in text.splitlines() if "raxis-foo" in line]
    for part in ("foo", "1.0", "failed", "OSError: libfoo.so"):
        assert part in line
    assert "RAXIS_PLUGINS_BLOCK=bar" in text


@pytest.mark.parametrize(
    ("code", "text"), [(-11, "signal 11 (SIGSEGV)"), (-6, "signal 6 (SIGABRT)"), (2, "exit code 2")]
)
def test_ends_of_processes_are_named(code: int, text: str) -> None:
    assert text in env._died(code, "a\nlast line\n")
    assert env._died(code, "a\nlast line\n").endswith(": last line")
