"""Named tuples returned by ops with several results (PyTorch's ``torch.return_types``)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from raxis.ops.table import OPS, Op

_made: dict[str, Callable[..., Any]] = {}


def return_type(op: Op) -> Callable[..., Any] | None:
    """The named-tuple class of an op's results; None for ops with one result.

    ``_max_dim``, one overload of ``max``, returns a ``max``.
    """
    names = op.schema.result_names
    if not names:
        return None
    name = op.name.removeprefix("_").removesuffix("_dim")
    made = _made.get(name)
    if made is None:
        made = _made.setdefault(name, namedtuple(name, names, module="raxis.return_types"))
    return made


def __getattr__(name: str) -> Any:
    op = OPS.get(f"_{name}_dim") or OPS.get(name)
    made = None if name.startswith("__") or op is None else return_type(op)
    if made is None:
        raise AttributeError(f"module 'raxis.return_types' has no attribute {name!r}")
    return made
