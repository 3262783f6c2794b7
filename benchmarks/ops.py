"""``python -m benchmarks.ops``: hundreds of ops beside torch (and NumPy) in one process, interleaved."""

from __future__ import annotations

import argparse
import gc
import json
import math
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

import raxis
from benchmarks.cases import all_cases
from benchmarks.cases.case import Case
from benchmarks.seed import Seed, digest
from benchmarks.timing import microseconds

_REST = 0.03
"""Seconds after which threads without work are asleep."""


@dataclass(frozen=True)
class Result:
    """Microseconds of one call in each library; ratios to torch are medians of the rounds.

    `seed` is another version of raxis in an environment of its own, where there is one and it has the case.
    """

    family: str
    name: str
    elements: int
    raxis: float
    torch: float
    numpy: float | None
    ratio: float
    agrees: bool | None
    seed: float | None = None
    seed_ratio: float | None = None
    seed_agrees: bool | None = None


def _array(value: Any) -> np.ndarray | None:
    if isinstance(value, (tuple, list)):
        return _array(value[0]) if value else None
    if not isinstance(value, (torch.Tensor, raxis.Tensor)):
        return None
    value = value.detach()
    if str(value.dtype).endswith(("bfloat16", "float16")):
        value = value.float()
    return np.asarray(value.numpy())


def _agrees(one: Any, other: Any) -> bool | None:
    found, expected = _array(one), _array(other)
    if found is None or expected is None:
        return None
    scale = float(np.abs(expected).max()) if expected.size else 1.0
    return found.shape == expected.shape and np.allclose(
        found, expected, rtol=2e-3, atol=1e-4 * max(scale, 1e-3)
    )


def _calls_for(call: Callable[[], object], seconds: float) -> int:
    once = microseconds(call, 1) / 1e6
    return max(1, min(5000, int(seconds / max(once, 1e-7))))


def measure(case: Case, rounds: int, seconds: float, seed: Callable[[int], float] | None = None) -> Result:
    """Interleave the libraries and take medians; `seed` times that many calls in another process."""
    ours, theirs = case.make(raxis), case.make(torch)
    agrees = _agrees(case.compared(ours()), case.compared(theirs())) if case.compare else None
    numpy_call = case.numpy() if case.numpy else None
    calls = max(_calls_for(ours, seconds), _calls_for(theirs, seconds))
    clocks = [partial(microseconds, ours, calls), partial(microseconds, theirs, calls)]
    times = _rounds([*clocks, *([partial(seed, calls)] if seed else [])], rounds)
    numpy_time = statistics.median(microseconds(numpy_call, calls) for _ in range(3)) if numpy_call else None
    return Result(
        case.family,
        case.name,
        case.elements,
        statistics.median(row[0] for row in times),
        statistics.median(row[1] for row in times),
        numpy_time,
        statistics.median(row[0] / row[1] for row in times),
        agrees,
        statistics.median(row[2] for row in times) if seed else None,
        statistics.median(row[2] / row[1] for row in times) if seed else None,
    )


def _rounds(clocks: Sequence[Callable[[], float]], rounds: int) -> list[list[float]]:
    """A row of times per round; each round begins with another clock, since who runs first on a busy machine gains."""
    rows = []
    for first in range(rounds):
        row = [math.nan] * len(clocks)
        for position in range(len(clocks)):
            turn = (first + position) % len(clocks)
            if torch.get_num_threads() > 1:
                _change_over(clocks[turn])
            row[turn] = clocks[turn]()
        rows.append(row)
    return rows


def _change_over(clock: Callable[[], float]) -> None:
    """Let the threads of one library fall asleep, and those of the next wake up.

    OpenMP's threads go on spinning when their work is done: they would take processors from the other library.
    """
    time.sleep(_REST)
    clock()


def measure_beside(seed: Seed, number: int, case: Case, rounds: int, seconds: float) -> Result:
    """`measure` with the seed's rounds between the others', if it has the case."""
    found = seed.prepare(number)
    result = measure(case, rounds, seconds, seed.time if found else None)
    expected = digest(case.compared(case.make(torch)())) if found and case.compare else None
    return replace(result, seed_agrees=found.agrees(expected)) if found and expected else result


def summary(results: Sequence[Result]) -> dict[str, float]:
    """Median, geometric mean, 90th percentile and worst ratio, and the share above 2.

    Where the seed was measured: how many of the cases it has, and both geometric means over those.
    """
    ratios = sorted(result.ratio for result in results)
    figures = {
        "cases": len(ratios),
        "median": statistics.median(ratios),
        "geometric mean": _geometric_mean(ratios),
        "90th percentile": ratios[min(len(ratios) - 1, int(0.9 * len(ratios)))],
        "worst": ratios[-1],
        "share above 2": sum(ratio > 2 for ratio in ratios) / len(ratios),
    }
    pairs = [(result.ratio, result.seed_ratio) for result in results if result.seed_ratio is not None]
    if pairs:
        ours, seeds = zip(*pairs, strict=True)
        figures["seed cases"] = len(pairs)
        figures["seed geometric mean"] = _geometric_mean(seeds)
        figures["geometric mean over seed cases"] = _geometric_mean(ours)
    return figures


def _geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def _print_summary(label: str, results: Sequence[Result]) -> None:
    if not results:
        return
    figures = summary(results)
    seed = ""
    if "seed cases" in figures:
        seed = (
            f" {figures['seed cases']:6.0f} {figures['geometric mean over seed cases']:8.2f} "
            f"{figures['seed geometric mean']:8.2f}"
        )
    print(
        f"{label:22} {figures['cases']:4.0f} {figures['median']:8.2f} {figures['geometric mean']:8.2f} "
        f"{figures['90th percentile']:8.2f} {figures['worst']:8.2f} {figures['share above 2']:8.1%}{seed}"
    )


def _print_case(result: Result) -> None:
    seed = " " * 20 if result.seed is None else f"{result.seed:12.2f} {result.seed_ratio:7.2f}"
    numpy_text = "" if result.numpy is None else f"{result.numpy:12.2f}"
    marks = ("  DIFFERS" if result.agrees is False else "") + (
        "  SEED DIFFERS" if result.seed_agrees is False else ""
    )
    timings = f"{result.raxis:12.2f} {result.torch:12.2f} {result.ratio:7.2f}"
    print(f"{result.family:18} {result.name:48} {timings} {seed} {numpy_text}{marks}")


def report(results: Sequence[Result]) -> None:
    """Print a table per case, then one per family."""
    columns = f"{'raxis us':>12} {'torch us':>12} {'ratio':>7} {'seed us':>12} {'ratio':>7} {'numpy us':>12}"
    print(f"{'family':18} {'case':48} {columns}")
    for result in results:
        _print_case(result)
    print(
        f"\n{'family':22} {'n':>4} {'median':>8} {'geomean':>8} {'p90':>8} {'worst':>8} {'above 2':>8}"
        f" {'seed n':>6} {'raxis':>8} {'seed':>8}"
    )
    for family in dict.fromkeys(result.family for result in results):
        _print_summary(family, [result for result in results if result.family == family])
    _print_summary("tiny (<= 64)", [result for result in results if result.elements <= 64])
    _print_summary("all", results)


def picture(results: Sequence[Result], path: Path) -> None:
    """Ratios by family on a logarithmic axis, as PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    families = list(dict.fromkeys(result.family for result in results))
    figure, axes = pyplot.subplots(figsize=(9, 0.35 * len(families) + 1.5))
    for row, family in enumerate(families):
        ratios = [result.ratio for result in results if result.family == family]
        axes.scatter(ratios, [row] * len(ratios), s=14, alpha=0.6, color="tab:blue")
        seeds = [result.seed_ratio for result in results if result.family == family and result.seed_ratio]
        axes.scatter(seeds, [row + 0.25] * len(seeds), s=10, alpha=0.6, marker="|", color="tab:orange")
    axes.set_yticks(range(len(families)), families)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel(
        "time of raxis / time of torch (left of 1: raxis is faster); bars: raxis 0.3, where measured"
    )
    axes.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def run(options: argparse.Namespace) -> list[Result]:
    """Measure the chosen cases."""
    with Seed(options.seed_python, options.threads) if options.seed_python else nullcontext() as seed:
        results = []
        for number, case in enumerate(all_cases()):
            if options.only in f"{case.family} {case.name}":
                how = partial(measure_beside, seed, number) if seed else measure
                results.append(how(case, options.rounds, options.seconds))
                gc.collect()
    return results


def main() -> None:
    """Run the chosen cases and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops", description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="threads of both libraries")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds per case")
    parser.add_argument(
        "--seconds", type=float, default=0.004, help="length of one round of the slower library"
    )
    parser.add_argument("--only", default="", help="run cases whose family or name contains this")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument(
        "--seed-python",
        metavar="PATH",
        help="also time the raxis of this interpreter (raxis==0.3.0, written in C++), in a process of its own",
    )
    parser.add_argument("--png", type=Path, help="draw the ratios to this file")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    raxis.set_num_threads(options.threads)
    threadpool_limits(options.threads)
    results = run(options)
    report(results)
    if options.json:
        figures = {
            "threads": options.threads,
            "summary": summary(results),
            "cases": [asdict(item) for item in results],
        }
        options.json.write_text(json.dumps(figures, indent=1))
    if options.png:
        picture(results, options.png)


if __name__ == "__main__":
    main()
