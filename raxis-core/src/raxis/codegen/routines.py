"""Primitives with kernels of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from raxis.codegen.control import CONTROL
from raxis.codegen.launching import Part
from raxis.codegen.products import product
from raxis.codegen.routine import Call
from raxis.codegen.scans import scan
from raxis.codegen.searching import searchsorted
from raxis.codegen.sorting import sort
from raxis.codegen.updates import update

ROUTINES: Mapping[str, Callable[[Call], Part | None]] = {
    "dot_general": product,
    "scatter": update,
    "put": update,
    "searchsorted": searchsorted,
    "sort": sort,
    **CONTROL,
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin"), scan),
}
"""Makes the part that runs a call; None where it does not serve it."""

__all__ = ["ROUTINES", "Call"]
