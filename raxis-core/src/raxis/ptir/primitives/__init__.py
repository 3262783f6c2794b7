"""The closed table of primitives: what every backend must run.

Operands of one primitive have the same dtype and shape unless its record says otherwise: programs promote
and broadcast explicitly.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from raxis.ptir.primitives import (
    contraction,
    control,
    elementwise,
    factorizations,
    indexing,
    random,
    reductions,
    shaping,
    transforms,
)
from raxis.ptir.primitives.record import Primitive, PrimitiveError

__all__ = ["FAMILIES", "PRIMITIVES", "Primitive", "PrimitiveError", "lookup"]

_FAMILIES = (
    elementwise,
    shaping,
    reductions,
    contraction,
    factorizations,
    transforms,
    indexing,
    random,
    control,
)

PRIMITIVES: Mapping[str, Primitive] = MappingProxyType(
    {primitive.name: primitive for family in _FAMILIES for primitive in family.PRIMITIVES}
)
"""Every primitive, by name."""

FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        primitive.name: family.__name__.rpartition(".")[2]
        for family in _FAMILIES
        for primitive in family.PRIMITIVES
    }
)
"""The family of every primitive: the name of the module that defines it."""


def lookup(name: str) -> Primitive:
    """The primitive of that name.

    Raises:
        PrimitiveError: if there is none.
    """
    found = PRIMITIVES.get(name)
    if found is None:
        raise PrimitiveError(f"there is no primitive {name!r}; the table is closed: {', '.join(PRIMITIVES)}.")
    return found
