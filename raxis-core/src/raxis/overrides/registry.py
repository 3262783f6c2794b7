"""The implementations of every functional: the op's own, core's others, the plugins'."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from raxis import hooks

DEFAULT = "default"
"""The name of the op's own implementation."""

MEASURED = "measured"
"""The policy under which the fastest implementation runs; no implementation may be called so."""

SHORT_NAMES = {"attention": "scaled_dot_product_attention"}
"""Short names under which policies can be given."""


@dataclass(frozen=True)
class Implementation:
    """One way to compute a functional.

    Attributes:
        function: takes the functional's arguments, without ``out``; gradients flow through the ops it calls.
        supports: whether it computes the functional for arguments; None if for all.
        origin: who registered it, with the version, so that measured choices end with it.
    """

    function: Callable[..., Any]
    supports: Callable[..., bool] | None = None
    origin: str = "program"

    def admits(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        """Whether it computes the functional for these arguments."""
        return self.supports is None or bool(self.supports(*args, **kwargs))


_lock = threading.RLock()
_table: dict[str, dict[str, Implementation]] = {}
_filled = threading.Event()


def functionals() -> list[str]:
    """The names of all functionals.

    Example:
        >>> "softmax" in functionals()
        True
    """
    return list(_functionals())


@cache
def _functionals() -> tuple[str, ...]:
    import raxis.nn.functional  # noqa: F401  fills the table
    from raxis.ops.entry import FUNCTIONS
    from raxis.ops.functional import NAMESPACE

    return tuple(sorted(name for name in FUNCTIONS[NAMESPACE] if not name.endswith("_")))


def implementations(functional: str) -> list[str]:
    """The names of the implementations of a functional.

    Raises:
        ValueError: for an unknown functional.
    """
    return sorted({DEFAULT, *_all().get(known(functional), ())})


def lookup(functional: str, name: str) -> Implementation | None:
    """An implementation by its name; None for the op's own.

    Raises:
        ValueError: for an unknown functional or implementation.
    """
    if name not in (names := implementations(functional)):
        raise ValueError(
            f"functional {functional!r} has no implementation {name!r}; it has {', '.join(names)}, and the policy "
            f"{MEASURED}.{_offer(name, [*names, MEASURED])}"
        )
    return _all().get(functional, {}).get(name)


def find(functional: str, name: str) -> Implementation | None:
    """Like `lookup`, for names that were checked."""
    return (_table if _filled.is_set() else _all()).get(functional, {}).get(name)


def register(
    functional: str, name: str, function: Callable[..., Any], *, supports: Callable[..., bool] | None = None
) -> None:
    """Add an implementation; packages add theirs by the hook ``raxis_functional_overrides``.

    Args:
        functional: what it computes.
        name: its name.
        function: takes the functional's arguments, without ``out``.
        supports: says for the same arguments whether it serves them; default: always.

    Raises:
        ValueError: for an unknown functional, and for a name that is taken or reserved.

    Example:
        >>> import raxis
        >>> register("softsign", "doc", lambda input: input / (1 + input.abs()))
        >>> with raxis.overrides.use(softsign="doc"):
        ...     raxis.nn.functional.softsign(raxis.tensor([1.0]))
        tensor([0.5000])
    """
    with _lock:
        _add(_all(), functional, name, Implementation(function, supports))


def known(functional: str) -> str:
    """The full name of a functional.

    Raises:
        ValueError: for an unknown one.
    """
    name = SHORT_NAMES.get(functional, functional)
    names = _functionals()
    if name not in names:
        raise ValueError(
            f"there is no functional {functional!r}; functionals are the functions of raxis.nn.functional."
            f"{_offer(functional, [*names, *SHORT_NAMES])}"
        )
    return name


def _all() -> dict[str, dict[str, Implementation]]:
    with _lock:
        if not _filled.is_set():
            # Set first: a plugin may use a functional while it is imported.
            _filled.set()
            try:
                _add_core(_table)
                _add_plugins(_table)
            except BaseException:
                _table.clear()
                _filled.clear()
                raise
        return _table


def _add_core(table: dict[str, dict[str, Implementation]]) -> None:
    from raxis.overrides.library import TABLE
    from raxis.version import __version__

    for functional, name, function, supports in TABLE:
        _add(table, functional, name, Implementation(function, supports, f"raxis-core {__version__}"))


def _add_plugins(table: dict[str, dict[str, Implementation]]) -> None:
    for plugin, contributed in hooks.collect("raxis_functional_overrides"):
        for functional, given in contributed.items():
            for name, item in given.items():
                function, supports = (
                    (item.function, item.supports) if isinstance(item, Implementation) else (item, None)
                )
                _add(table, functional, name, Implementation(function, supports, plugin))


def _add(
    table: dict[str, dict[str, Implementation]], functional: str, name: str, item: Implementation
) -> None:
    own = table.setdefault(known(functional), {})
    if name in (DEFAULT, MEASURED) or name in own:
        raise ValueError(
            f"{item.origin} cannot register {name!r} for functional {functional!r}: the name is "
            f"{f'taken by {own[name].origin}' if name in own else 'reserved'}; choose another."
        )
    if not name.isidentifier():
        raise ValueError(
            f"{name!r} cannot name an implementation of {functional!r}; use letters, digits and _."
        )
    own[name] = item


def _offer(name: str, candidates: Iterable[str]) -> str:
    """A question that names near matches."""
    near = get_close_matches(name, sorted(set(candidates)), n=3)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
