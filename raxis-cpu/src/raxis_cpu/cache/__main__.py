"""``python -m raxis_cpu.cache [show|clear|warm] [--json]``: what is kept on disk, removing it, filling it.

- ``show`` (the default) prints folder, entries, bytes, limit, and how often the cache served.
- ``clear`` removes all entries.
- ``warm`` compiles the kernels of common ops, so that later processes find them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from raxis_cpu.cache.store import clear, summary


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m raxis_cpu.cache",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", nargs="?", choices=("show", "clear", "warm"), default="show")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        figures = _run(options.action)
    except (RuntimeError, ValueError) as error:
        parser.exit(1, f"{error}\n")
    print(json.dumps(figures, indent=2) if options.json else _text(figures))


def _run(action: str) -> dict[str, Any]:
    if action == "clear":
        return {"removed": clear(), **summary()}
    if action == "warm":
        from raxis_cpu.cache.warming import warm

        return {**warm(), **summary()}
    return summary()


def _text(figures: dict[str, Any]) -> str:
    if figures["folder"] is None:
        return "Compiled kernels are not kept: RAXIS_CACHE=off is set, or there is no home directory."
    return "\n".join(f"{name:8} {value}" for name, value in figures.items())


if __name__ == "__main__":
    main()
