"""The records of the op table, one module per family. Importing this package fills the table."""

from __future__ import annotations

from raxis.ops.definitions import (
    arithmetic,
    conversion,
    convolution,
    creation,
    extrema,
    factory,
    inplace_views,
    literals,
    norms,
    positions,
    reductions,
    sequences,
    slicing,
    splitting,
    statistics,
    views,
)

__all__ = [
    "arithmetic",
    "conversion",
    "convolution",
    "creation",
    "extrema",
    "factory",
    "inplace_views",
    "literals",
    "norms",
    "positions",
    "reductions",
    "sequences",
    "slicing",
    "splitting",
    "statistics",
    "views",
]
