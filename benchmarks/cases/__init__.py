"""The cases of the op benchmark, one module per family.

A case makes a call for a library: the same function of `lib` (raxis or torch) on equal operands.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import elementwise, indexing, networks, products, reductions, small, training
from benchmarks.cases.case import Case

FAMILIES = (elementwise, reductions, products, indexing, networks, training, small)


def all_cases() -> Iterator[Case]:
    """Every case of every family."""
    for family in FAMILIES:
        yield from family.cases()
