"""``python -m benchmarks [--json FILE]``: eager overhead and import time, beside torch."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import raxis
from benchmarks import eager, startup


def main() -> None:
    """Run everything and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    raxis.zeros(1)
    backend = next(row for row in raxis.backends.list() if row.device == "cpu" and row.state == "ready")
    print(f"cpu is served by {backend.distribution} ({backend.state})")
    print(f"{'case':36} {'raxis us':>10} {'torch us':>10} {'ratio':>7}")
    results = []
    for result in eager.run():
        results.append(asdict(result))
        print(f"{result.name:36} {result.raxis:10.2f} {result.torch:10.2f} {result.ratio:7.2f}")
    numpy_ms, raxis_ms = startup.import_times()
    print(f"import numpy {numpy_ms:.0f} ms; import raxis after it {raxis_ms:.0f} ms")
    if options.json:
        figures = {"eager": results, "import_ms": {"numpy": numpy_ms, "raxis": raxis_ms}}
        options.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
