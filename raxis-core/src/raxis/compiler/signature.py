"""Signatures: what of the arguments decides which program runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from raxis.autograd.grad_mode import mode
from raxis.compiler.numbers import ArgumentNumber, Invocation
from raxis.compiler.recent import Recent
from raxis.ops.promotion import get_default_dtype
from raxis.overrides import scopes
from raxis.placement import get_default_device
from raxis.tensor import Tensor
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

MOST_TEMPLATES = 1024
"""For how many kinds of arguments the first numbers are remembered."""


@dataclass(frozen=True)
class Static:
    """An argument whose value is part of the signature; no container, whatever the value is."""

    value: Any


def modes() -> tuple[Any, ...]:
    """What besides arguments changes how ops run."""
    return mode.enabled, mode.inference, get_default_dtype(), get_default_device(), scopes.state()


def describe(leaves: Sequence[Any]) -> str:
    """The leaves of a call's arguments as text."""
    return ", ".join(_text(leaf) for leaf in leaves)


def _text(leaf: Any) -> str:
    if isinstance(leaf, Tensor):
        return f"{leaf.dtype.name}{list(leaf.shape)}"
    value = leaf.value if isinstance(leaf, Static) else leaf
    return (
        repr(value)
        if isinstance(value, (bool, int, float, complex, str, type(None)))
        else type(value).__name__
    )


def _leaf(at: int, call: Invocation) -> Any:
    return call.leaves[at]


class Arguments:
    """Takes arguments apart, and knows which numbers among them change from call to call.

    Args:
        static: positions of arguments whose values are part of the signature.
        dynamic: whether numbers are inputs from the first call on; else from their second value on.
    """

    def __init__(self, static: frozenset[int], dynamic: bool) -> None:
        self._static = static
        self._dynamic = dynamic
        self._seen: Recent[list[str | None]] = Recent(MOST_TEMPLATES)
        self._changing: set[int] = set()
        self._tied: set[int] = set()

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], TreeSpec]:
        """The leaves, and the structure around them."""
        if self._static:
            args = tuple(Static(arg) if at in self._static else arg for at, arg in enumerate(args))
        return tree_flatten((args, kwargs))

    def unflatten(self, leaves: Sequence[Any], structure: TreeSpec) -> Any:
        """The arguments again."""
        return tree_unflatten(
            [leaf.value if isinstance(leaf, Static) else leaf for leaf in leaves], structure
        )

    def describe(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """What of the leaves decides the program.

        Raises:
            TypeError: if a leaf is neither a tensor nor hashable.
        """
        return tuple([self._describe(at, leaf) for at, leaf in enumerate(leaves)])

    def _describe(self, at: int, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            return leaf._layout, leaf._edge is not None, leaf._inference
        kind = type(leaf)
        if kind is float or kind is int:
            return kind if self._is_input(at) else (kind, repr(leaf))
        try:
            hash(leaf)
        except TypeError:
            raise TypeError(
                f"an argument of a compiled function has type {_text(leaf)}, which cannot be compared between calls. "
                "Pass a tensor (raxis.from_numpy shares an array's memory), or a hashable value."
            ) from None
        return kind, leaf

    def _is_input(self, at: int) -> bool:
        return (self._dynamic or at in self._changing) and at not in self._tied

    def with_changing_numbers(self, signature: Any, leaves: list[Any]) -> list[Any]:
        """The leaves to record with: numbers that are inputs, and those seen with another value, can change."""
        template = (signature[0], tuple([self._kind(leaf) for leaf in leaves]), signature[2])
        numbers = [repr(leaf) if type(leaf) in (int, float) else None for leaf in leaves]
        before = self._seen.get(template)
        if before is None:
            self._seen.put(template, numbers)
        else:
            self._changing.update(at for at, number in enumerate(numbers) if number != before[at])
        return [
            ArgumentNumber(leaf, ("argument", at), partial(_leaf, at))
            if type(leaf) in (int, float) and self._is_input(at)
            else leaf
            for at, leaf in enumerate(leaves)
        ]

    def _kind(self, leaf: Any) -> Any:
        kind = type(leaf)
        return kind if kind is float or kind is int else self._describe(-1, leaf)

    @staticmethod
    def plain(leaf: Any) -> Any:
        """A leaf without the wrapper of a changing number."""
        return leaf.value if isinstance(leaf, ArgumentNumber) else leaf

    def tie(self, leaves: Sequence[Any]) -> None:
        """The value of a changing number was looked at: from now on it is part of the signature."""
        self._tied.update(at for at, leaf in enumerate(leaves) if isinstance(leaf, ArgumentNumber))
