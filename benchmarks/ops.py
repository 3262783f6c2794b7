"""``python -m benchmarks.ops``: hundreds of ops beside torch (and NumPy) in one process, interleaved."""

from __future__ import annotations

import argparse
import gc
import json
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

import raxis
from benchmarks.cases import all_cases
from benchmarks.cases.case import Case


@dataclass(frozen=True)
class Result:
    """Microseconds of one call in each library; `ratio` is raxis/torch, the median of the rounds."""

    family: str
    name: str
    elements: int
    raxis: float
    torch: float
    numpy: float | None
    ratio: float
    agrees: bool | None


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
    scale = float(np.abs(expected.astype(np.float64)).max()) if expected.size else 1.0
    return found.shape == expected.shape and np.allclose(
        found, expected, rtol=2e-3, atol=1e-4 * max(scale, 1e-3)
    )


def _calls_for(call: Callable[[], object], seconds: float) -> int:
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    return max(1, min(5000, int(seconds / max(once, 1e-7))))


def _time(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls * 1e6


def measure(case: Case, rounds: int, seconds: float) -> Result:
    """Interleave the libraries and take medians."""
    ours, theirs = case.make(raxis), case.make(torch)
    agrees = _agrees(ours(), theirs()) if case.compare else None
    numpy_call = case.numpy() if case.numpy else None
    calls = max(_calls_for(ours, seconds), _calls_for(theirs, seconds))
    pairs = [(_time(ours, calls), _time(theirs, calls)) for _ in range(rounds)]
    numpy_time = statistics.median(_time(numpy_call, calls) for _ in range(3)) if numpy_call else None
    return Result(
        case.family,
        case.name,
        case.elements,
        statistics.median(first for first, _ in pairs),
        statistics.median(second for _, second in pairs),
        numpy_time,
        statistics.median(first / second for first, second in pairs),
        agrees,
    )


def summary(results: Sequence[Result]) -> dict[str, float]:
    """Median, geometric mean, 90th percentile and worst ratio, and the share above 2."""
    ratios = sorted(result.ratio for result in results)
    return {
        "cases": len(ratios),
        "median": statistics.median(ratios),
        "geometric mean": math.exp(statistics.fmean(math.log(ratio) for ratio in ratios)),
        "90th percentile": ratios[min(len(ratios) - 1, int(0.9 * len(ratios)))],
        "worst": ratios[-1],
        "share above 2": sum(ratio > 2 for ratio in ratios) / len(ratios),
    }


def _print_summary(label: str, results: Sequence[Result]) -> None:
    if not results:
        return
    figures = summary(results)
    print(
        f"{label:22} {figures['cases']:4.0f} {figures['median']:8.2f} {figures['geometric mean']:8.2f} "
        f"{figures['90th percentile']:8.2f} {figures['worst']:8.2f} {figures['share above 2']:8.1%}"
    )


def report(results: Sequence[Result]) -> None:
    """Print a table per case, then one per family."""
    for result in results:
        numpy_text = "" if result.numpy is None else f"{result.numpy:12.2f}"
        mark = "  DIFFERS" if result.agrees is False else ""
        timings = f"{result.raxis:12.2f} {result.torch:12.2f} {result.ratio:7.2f} {numpy_text}"
        print(f"{result.family:18} {result.name:48} {timings}{mark}")
    print(f"\n{'family':22} {'n':>4} {'median':>8} {'geomean':>8} {'p90':>8} {'worst':>8} {'above 2':>8}")
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
        axes.scatter(ratios, [row] * len(ratios), s=14, alpha=0.6)
    axes.set_yticks(range(len(families)), families)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("time of raxis / time of torch (left of 1: raxis is faster)")
    axes.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


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
    parser.add_argument("--png", type=Path, help="draw the ratios to this file")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    raxis.set_num_threads(options.threads)
    threadpool_limits(options.threads)
    chosen = [case for case in all_cases() if options.only in f"{case.family} {case.name}"]
    results = []
    for case in chosen:
        results.append(measure(case, options.rounds, options.seconds))
        gc.collect()
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
