"""Passes: programs into better programs that compute the same. `optimise` is the way in; docs/passes.md the guide."""

from raxis.ptir.passes.pipeline import PASSES, Pipeline, optimise, pipeline
from raxis.ptir.passes.record import BackendPasses, Context, Pass, Stage
from raxis.ptir.passes.report import PassRun, Report

__all__ = [
    "PASSES",
    "BackendPasses",
    "Context",
    "Pass",
    "PassRun",
    "Pipeline",
    "Report",
    "Stage",
    "optimise",
    "pipeline",
]
