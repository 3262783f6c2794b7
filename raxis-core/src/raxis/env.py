"""What Raxis finds on this machine: ``python -m raxis.env [--json] [--check]``.

The report names every device and plugin with distribution, version, state and reason, the versions of the
libraries below, and the environment variables that matter. ``--check`` runs one kernel on each device, each in
a process of its own, so that a plugin that crashes is reported instead of taking the report with it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from raxis import hooks
from raxis.backends import registry
from raxis.backends.settings import VARIABLES, Settings
from raxis.backends.states import Row, State
from raxis.device import Device
from raxis.errors import BackendError
from raxis.version import __version__

SCHEMA = 1
"""Version of the JSON report; see docs/devices-and-plugins.md. Members may be added, never removed or changed."""

LIBRARIES = (
    "numpy",
    "ml_dtypes",
    "pluggy",
    "importlib-metadata",
    "raxis-cpu",
    "raxis-cuda12",
    "raxis-cuda13",
)
"""Distributions whose versions are reported."""

FOREIGN_VARIABLES = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables of other software that change what Raxis does. No other variable is ever printed."""

CHECK_SECONDS = 120.0
"""How long the check of one device may take."""

_CHECK_CODE = "import sys; from raxis.env import check_here; check_here(sys.argv[1])"
# Precedes the child's answer, because a plugin may print as well.
_ANSWER = "raxis-check:"


def report(check: bool = False) -> dict[str, Any]:
    """Everything the command shows, as JSON-like data of schema `SCHEMA`.

    Args:
        check: also run one kernel on each device, each in a child process.

    Example:
        >>> report()["schema"]
        1
    """
    rows = _rows() if check else _probed_rows()
    types = dict.fromkeys(row.device for row in rows if _may_run(row)) if check else ()
    checks = {device: check_device(device) for device in types}
    return {
        "schema": SCHEMA,
        "raxis": __version__,
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "platform": {"system": platform.platform(), "machine": platform.machine(), "cores": os.cpu_count()},
        "libraries": _versions(),
        "variables": _variables(os.environ),
        "devices": [_checked_device(row, checks) for row in rows],
        "extensions": [_fields(row) for row in hooks.default.rows()],
        "notes": _notes(probe=not check),
    }


def _rows() -> list[Row]:
    """All rows; those of an environment without variables if one of them is malformed, which a note then says."""
    try:
        return registry.default.rows()
    except ValueError:
        return registry.Registry(Settings({})).rows()


def _probed_rows() -> list[Row]:
    """All rows after the plugins' probes, which are cheap and touch no device."""
    for row in _rows():
        plugin = registry.default.plugin(row)
        if plugin is not None and row.state is State.FOUND:
            plugin.probe()
    return _rows()


def _may_run(row: Row) -> bool:
    return row.state not in (State.INVALID, State.BLOCKED, State.SHADOWED)


def _checked_device(row: Row, checks: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """`row` with state and reason as the child process saw them, and the check if it served the device there."""
    answer = checks.get(row.device, {})
    seen = answer.get("rows", {}).get(row.distribution, {})
    server = answer.get("distribution")
    ran = answer and (row.distribution == server if server else _may_run(row))
    check = {name: answer[name] for name in ("result", "detail", "milliseconds")} if ran else None
    return {**_fields(row), **seen, "check": check}


def _fields(row: Row) -> dict[str, Any]:
    return {**row._asdict(), "state": str(row.state)}


def _versions() -> dict[str, str | None]:
    """Installed versions; None for what is not installed."""
    import importlib_metadata

    def version(name: str) -> str | None:
        try:
            return importlib_metadata.version(name)
        except importlib_metadata.PackageNotFoundError:
            return None

    return {name: version(name) for name in LIBRARIES}


def _variables(environ: Mapping[str, str]) -> dict[str, str | None]:
    return {name: environ.get(name) for name in (*VARIABLES, *FOREIGN_VARIABLES)}


def _notes(probe: bool) -> list[str]:
    """What deserves attention although it is no error; `probe` asks the default device's plugin."""
    notes = Settings().unknown_variables()
    try:
        default = Settings().device_name
        reason = registry.default.reason(Device(default)) if probe else None
    except ValueError as error:
        return [*notes, str(error)]
    return notes if reason is None else [*notes, f"The default device {default!r} is unusable. {reason}"]


# --- the check ---


def check_device(device: str, seconds: float = CHECK_SECONDS) -> dict[str, Any]:
    """Run one kernel on `device` in a child process.

    Returns:
        ``result``: ``"passed"``, ``"failed"`` (an exception or wrong numbers), ``"crashed"`` or ``"timeout"``;
        ``detail``: a sentence; ``milliseconds`` to load the device and run. If the child could answer, also
        ``distribution``, which served the device, and ``rows``: state and reason there, by distribution.
    """
    started = time.perf_counter()
    try:
        child = subprocess.run(
            [sys.executable, "-c", _CHECK_CODE, device],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except subprocess.TimeoutExpired:
        return _checked("timeout", f"no answer within {seconds:g} seconds", started)
    answers = [line for line in child.stdout.splitlines() if line.startswith(_ANSWER)]
    if answers and child.returncode == 0:
        return json.loads(answers[-1].removeprefix(_ANSWER))
    return _checked("crashed", _died(child.returncode, child.stderr), started)


def _died(code: int, stderr: str) -> str:
    """How a child process ended, with the last line it wrote."""
    last = "".join(f": {line.strip()}" for line in stderr.strip().splitlines()[-1:])
    if code >= 0:
        return f"the process ended with exit code {code}{last}"
    import signal

    known = {each.value: each.name for each in signal.Signals}
    return f"the process was killed by signal {-code} ({known.get(-code, 'unknown')}){last}"


def _checked(result: str, detail: str, started: float) -> dict[str, Any]:
    return {
        "result": result,
        "detail": detail,
        "milliseconds": round((time.perf_counter() - started) * 1e3, 1),
    }


def check_here(device: str) -> None:
    """Run one kernel on `device` in this process and print the answer for `check_device`."""
    started = time.perf_counter()
    try:
        answer = _checked(*run_kernel(Device(device)), started)
    except Exception as error:
        reason = str(error) if isinstance(error, BackendError) else f"{type(error).__name__}: {error}"
        answer = _checked("failed", reason, started)
    rows = [row for row in registry.default.rows() if row.device == device]
    answer["rows"] = {row.distribution: {"state": str(row.state), "reason": row.reason} for row in rows}
    served = [row.distribution for row in rows if row.state is State.READY]
    if served:
        answer["distribution"] = served[0]
    print(f"\n{_ANSWER}{json.dumps(answer)}", flush=True)


def run_kernel(device: Device) -> tuple[str, str]:
    """Add two vectors on `device`; the result (``passed`` or ``failed``) and a sentence."""
    import numpy as np

    from raxis import dtypes
    from raxis.ptir.builder import Builder
    from raxis.ptir.types import TensorType

    backend, index = registry.default.resolve(device)
    name = backend.properties(index).name
    vector = TensorType(dtypes.float32, (4,))
    builder = Builder("check")
    operands = builder.parameter(vector), builder.parameter(vector)
    program = builder.build(builder.emit_all("add", operands, {}))
    executable = backend.compile(program, [(1,), (1,)], [(1,)])
    left, right, total = (backend.allocate(16, index) for _ in range(3))
    backend.copy_from_host(np.array([1, 2, 3, 4], np.float32).view(np.uint8), left, 0)
    backend.copy_from_host(np.array([10, 20, 30, 40], np.float32).view(np.uint8), right, 0)
    executable(left, 0, right, 0, total, 0)
    backend.synchronize(index)
    if device.type == "meta":
        return "passed", f"compiled for {name}, which holds no numbers"
    result = np.empty(4, np.float32)
    backend.copy_to_host(total, 0, result.view(np.uint8))
    if np.array_equal(result, [11, 22, 33, 44]):
        return "passed", f"ran on {name}"
    return "failed", f"[1, 2, 3, 4] + [10, 20, 30, 40] gave {result.tolist()} on {name}"


# --- the command ---


def text(data: Mapping[str, Any]) -> str:
    """A report for people."""
    system = data["platform"]
    lines = [
        f"Raxis {data['raxis']}, Python {data['python']['version']} ({data['python']['executable']})",
        f"{system['system']}, {system['machine']}, {system['cores']} cores",
        ", ".join(f"{name} {version}" for name, version in data["libraries"].items() if version),
    ]
    lines += _table(
        "Devices", data["devices"], ("device", "distribution", "version", "state", "check", "reason")
    )
    lines += _table(
        "Extensions", data["extensions"], ("device", "distribution", "version", "state", "reason")
    )
    variables = [f"  {name}={value}" for name, value in data["variables"].items() if value is not None]
    lines += ["", "Variables", *(variables or ["  none set"])]
    return "\n".join([*lines, *(f"\nNote: {note}" for note in data["notes"])])


def _table(title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Iterable[str]:
    if not rows:
        return []
    cells = [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    padded = (
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [list(columns), *cells]
    )
    return ["", title, *padded]


def _cell(value: Any) -> str:
    """A table cell; a check is shown as its result and what it found."""
    if isinstance(value, Mapping):
        return f"{value['result']} ({value['milliseconds']:g} ms): {value['detail']}"
    return "" if value is None else str(value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the report; the exit status is 0 whatever it says."""
    parser = argparse.ArgumentParser(
        "python -m raxis.env", description="Show devices, plugins and their states."
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--check", action="store_true", help="run one kernel on each device, in child processes"
    )
    options = parser.parse_args(arguments)
    data = report(check=options.check)
    print(json.dumps(data, indent=2) if options.json else text(data))


if __name__ == "__main__":
    main()
