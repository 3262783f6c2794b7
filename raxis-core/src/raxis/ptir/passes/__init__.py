"""Passes: programs into better programs that compute the same. `optimise` is the way in; docs/passes.md the guide."""

from raxis.ptir.passes.cost import Cost, Machine, cost
from raxis.ptir.passes.derived import Recipe, Split, split
from raxis.ptir.passes.patterns import Pattern, recognition
from raxis.ptir.passes.pipeline import PASSES, Pipeline, optimise, pipeline
from raxis.ptir.passes.record import BackendPasses, Context, Pass, Stage
from raxis.ptir.passes.rematerialisation import rematerialisation
from raxis.ptir.passes.report import PassRun, Report
from raxis.ptir.passes.stages import passes_for

__all__ = [
    "PASSES",
    "BackendPasses",
    "Context",
    "Cost",
    "Machine",
    "Pass",
    "PassRun",
    "Pattern",
    "Pipeline",
    "Recipe",
    "Report",
    "Split",
    "Stage",
    "cost",
    "optimise",
    "passes_for",
    "pipeline",
    "recognition",
    "rematerialisation",
    "split",
]
