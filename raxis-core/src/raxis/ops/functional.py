"""Registering the functions of ``raxis.nn.functional``: composed, no methods, no ``out=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.ops.table import Decorator, composed

NAMESPACE = "raxis.nn.functional"


def functional(schema: str, **options: Any) -> Decorator:
    """Register a function of ``raxis.nn.functional`` written in other ops."""
    return composed(schema, namespace=NAMESPACE, method=False, **{"out": False, **options})


def shared(schema: str) -> Decorator:
    """Register one function in ``raxis`` and in ``raxis.nn.functional``."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        composed(schema, method=False, out=False)(body)
        return functional(schema)(body)

    return decorate
