"""Named tuples returned by ops with several results (PyTorch's ``torch.return_types``)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from raxis.ops.table import OPS, Op, qualified_name

_made: dict[str, Callable[..., Any]] = {}


def return_type(op: Op) -> Callable[..., Any] | None:
    """The named-tuple class of an op's results; None for ops with one result.

    ``_max_dim``, one overload of ``max``, returns a ``max``; ``linalg.qr`` returns a ``linalg_qr``.
    """
    names = op.schema.result_names
    if not names:
        return None
    name = qualified_name(op).replace(".", "_").removeprefix("_").removesuffix("_dim")
    made = _made.get(name)
    if made is None:
        made = _made.setdefault(name, namedtuple(name, names, module="raxis.return_types"))
    return made


def named_results(name: str, *results: Any) -> Any:
    """What the op called `name` returns, for bodies that are composed of other ops."""
    made = return_type(OPS[name])
    return results if made is None else made(*results)


def __getattr__(name: str) -> Any:
    op = OPS.get(f"_{name}_dim") or OPS.get(name) or OPS.get(name.replace("_", ".", 1))
    made = None if name.startswith("__") or op is None else return_type(op)
    if made is None:
        raise AttributeError(f"module 'raxis.return_types' has no attribute {name!r}")
    return made
