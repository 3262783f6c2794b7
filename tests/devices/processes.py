"""Python in a new process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(code: str, *places: Path | str, **environ: str) -> str:
    """Standard output of `code` where only `places` are installed beside the libraries of this process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAXIS_")}
    libraries = [entry for entry in sys.path if entry and not any(Path(entry).glob("raxis_*-1.0.dist-info"))]
    path = os.pathsep.join([*map(str, places), *libraries])
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={**kept, "RAXIS_CPU": "reference", "PYTHONPATH": path, **environ},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
