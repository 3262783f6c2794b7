"""The command ``python -m raxis.ptir``: print, verify, run, bisect, compare, convert, measure, draw, optimise programs.

Exit status: 0 when all is well, 1 when `verify` found an invalid program, `diff` or `bisect` a difference, 2 after an
error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from raxis.ptir.files import FORMS, load, save
from raxis.ptir.program import Program
from raxis.ptir.running import random_inputs, run
from raxis.ptir.verifier import VerificationError
from raxis.ptir.version import ParseError

_SHOWN = 6
"""Elements at either end of each dimension of a printed result."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status. `arguments` are by default the process's."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except (OSError, RuntimeError, ValueError, TypeError, BadZipFile) as error:
        print(f"raxis.ptir: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    suffixes = ", ".join(f"{suffix} ({form.name})" for suffix, form in FORMS.items())
    parser = argparse.ArgumentParser(
        "python -m raxis.ptir", description=f"Tools for programs in files: {suffixes}."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (command, files, sentence) in _COMMANDS.items():
        options = commands.add_parser(name, help=sentence, description=sentence)
        options.set_defaults(command=command)
        for file in files:
            options.add_argument(file, nargs="+" if file == "files" else "?" if file == "to" else None)
        for flag, settings in _OPTIONS.get(name, {}).items():
            options.add_argument(flag, **settings)
    return parser


def _print(options: argparse.Namespace) -> int:
    program = load(options.file)
    print(program.to_json() if options.json else program.text(), end="")
    return 0


def _verify(options: argparse.Namespace) -> int:
    return max(map(_verified, options.files))


def _verified(path: str) -> int:
    try:
        load(path)
    except (ParseError, VerificationError) as error:
        print(error if str(error).startswith(path) else f"{path}: {error}")
        return 1
    print(f"{path}: valid")
    return 0


def _run(options: argparse.Namespace) -> int:
    program, inputs = _loaded_with_inputs(options)
    results = run(program, inputs, options.device)
    for value, array in zip(program.results, results, strict=True):
        print(f"{value.type}\n{np.array2string(array, edgeitems=_SHOWN, threshold=8 * _SHOWN)}")
    if options.output is not None:
        arrays: dict[str, Any] = {str(position): array for position, array in enumerate(results)}
        np.savez(options.output, **arrays)
    return 0


def _bisect(options: argparse.Namespace) -> int:
    from raxis.ptir.bisecting import bisect
    from raxis.ptir.bisecting_passes import bisect_passes
    from raxis.ptir.passes import optimise

    program, inputs = _loaded_with_inputs(options)
    limits = {"rtol": options.rtol, "atol": options.atol, "folder": options.folder}
    if options.optimise:
        changed = bisect_passes(program, inputs, **limits)
        if changed is not None:
            print(changed)
            return 1
        program = optimise(program)
    found = bisect(program, inputs, options.device, **limits)
    print(found or f"No instruction of program {program.name!r} differs on {options.device}.")
    return int(found is not None)


def _loaded_with_inputs(options: argparse.Namespace) -> tuple[Program, list[Any]]:
    program = load(options.file)
    given = options.inputs
    return program, random_inputs(program, options.seed) if given is None else _inputs(program, given)


def _inputs(program: Program, path: str) -> list[Any]:
    """An array for every parameter from an .npz file, by its name or else its position."""
    with np.load(path) as archive:
        arrays: Mapping[str, Any] = {name.removeprefix("arr_"): archive[name] for name in archive.files}
    found = []
    for position, parameter in enumerate(program.parameters):
        array = arrays.get(parameter.name or "", arrays.get(str(position)))
        if array is None:
            wanted = " or ".join(repr(name) for name in (parameter.name, str(position)) if name)
            raise ValueError(f"{path} has no array {wanted} for parameter {position}, {parameter.type}.")
        # NumPy stores what is not its own, such as bfloat16, as bytes without a dtype.
        dtype = parameter.type.dtype.numpy
        found.append(array.view(dtype) if array.dtype == np.dtype((np.void, dtype.itemsize)) else array)
    return found


def _diff(options: argparse.Namespace) -> int:
    from raxis.ptir.tools.difference import difference

    lines = difference(load(options.first), load(options.second))
    print("\n".join(lines) if lines else "The programs are equal.")
    return int(bool(lines))


def _convert(options: argparse.Namespace) -> int:
    save(load(options.file), options.target)
    return 0


def _stats(options: argparse.Namespace) -> int:
    from raxis.ptir.tools.statistics import statistics

    print(statistics(load(options.file)))
    return 0


def _graph(options: argparse.Namespace) -> int:
    from raxis.ptir.tools.drawing import to_svg

    program = load(options.file)
    target = Path(options.file).with_suffix(".svg") if options.to is None else Path(options.to)
    target.write_text(to_svg(program), encoding="utf-8")
    print(target)
    return 0


def _optimise(options: argparse.Namespace) -> int:
    from raxis.ptir.passes import Report, optimise

    report = Report()
    program = optimise(
        load(options.file), fast_math=options.fast_math, verify=True, report=report, dump=options.dump
    )
    print(report, file=sys.stderr)
    if options.to is None:
        print(program.text(), end="")
    else:
        save(program, options.to)
    return 0


_COMMANDS: Mapping[str, tuple[Any, tuple[str, ...], str]] = {
    "print": (_print, ("file",), "Print a program as text."),
    "verify": (_verify, ("files",), "Check programs."),
    "run": (_run, ("file",), "Run a program and print its results."),
    "bisect": (
        _bisect,
        ("file",),
        "Find the first instruction that a device computes otherwise than the reference.",
    ),
    "diff": (_diff, ("first", "second"), "Show what differs between two programs."),
    "convert": (_convert, ("file", "target"), "Write a program in the form that the target's suffix says."),
    "stats": (_stats, ("file",), "Count instructions, operations and bytes."),
    "graph": (_graph, ("file", "to"), "Draw a program as SVG, by default beside it."),
    "optimise": (_optimise, ("file", "to"), "Run the passes; print the program, or write it to a file."),
}
_WITH_INPUTS: Mapping[str, Mapping[str, Any]] = {
    "--inputs": {
        "metavar": "NPZ",
        "help": "arrays by name or position of the parameter; default: random ones",
    },
    "--seed": {"type": int, "default": 0, "help": "of random inputs"},
    "--device": {"default": "cpu", "help": "where to run, such as cpu or cuda:0"},
}
_OPTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "print": {"--json": {"action": "store_true", "help": "print the JSON form"}},
    "run": {
        **_WITH_INPUTS,
        "--output": {"metavar": "NPZ", "help": "file for the results, by position"},
    },
    "bisect": {
        **_WITH_INPUTS,
        "--rtol": {"type": float, "help": "relative tolerance of floats; default: by dtype"},
        "--atol": {"type": float, "help": "absolute tolerance; default: --rtol times the greatest magnitude"},
        "--optimise": {"action": "store_true", "help": "run core's passes first, and examine them, too"},
        "--folder": {"metavar": "FOLDER", "help": "folder for the reproducer; default: a temporary one"},
    },
    "optimise": {
        "--fast-math": {"action": "store_true", "help": "permit rules that lose NaN, infinities or digits"},
        "--dump": {"metavar": "FOLDER", "help": "folder for the program after each pass that changed it"},
    },
}
