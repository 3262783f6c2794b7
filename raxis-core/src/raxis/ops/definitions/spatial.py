"""What the functions over one, two and three spatial dimensions share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Sizes = tuple[int, ...]
Numbers = int | Sequence[int]


def per_dimension(value: Numbers, rank: int) -> Sizes:
    """One number for all spatial dimensions, or one for each."""
    if isinstance(value, int):
        return (value,) * rank
    sizes = tuple(value)
    return sizes * rank if len(sizes) == 1 else sizes


def register_by_rank(register: Callable[[str], Any], schema: str, body: Any, doc: str, rank: int) -> Any:
    """Register one of the functions that exist for one, two and three dimensions.

    `schema` and `doc` are templates; ``{n}`` in them is the number of dimensions.
    """
    body.__doc__ = doc.format(
        n=rank,
        shape=("L", "H, W", "D, H, W")[rank - 1],
        kernel=("K", "KH, KW", "KD, KH, KW")[rank - 1],
        result=("L'", "H', W'", "D', H', W'")[rank - 1],
        **{name: ", ".join([digit] * rank) for name, digit in _REPEATED.items()},
    )
    return register(schema.format(n=rank))(body)


_REPEATED = {"twos": "2", "threes": "3", "fours": "4", "nines": "9"}
"""Sizes that the examples use."""
