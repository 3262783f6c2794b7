"""The cases of the op benchmark, one module per family.

A case makes a call for a library: the same function of `lib` (raxis or torch) on equal operands.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import (
    complex_numbers,
    counting,
    distributions,
    elementwise,
    indexing,
    linear_algebra,
    networks,
    products,
    reductions,
    small,
    special,
    spectra,
    training,
    transforms,
)
from benchmarks.cases.case import Case

FAMILIES = (
    elementwise,
    reductions,
    products,
    indexing,
    networks,
    training,
    small,
    complex_numbers,
    special,
    linear_algebra,
    spectra,
    counting,
    transforms,
    distributions,
)


def all_cases() -> Iterator[Case]:
    """Every case of every family."""
    for family in FAMILIES:
        yield from family.cases()
