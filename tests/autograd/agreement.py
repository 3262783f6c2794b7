"""Run one piece of code with torch and with raxis and compare what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import raxis


def plain(value: Any) -> Any:
    """Tensors as arrays, containers as lists; everything else itself."""
    if isinstance(value, (torch.Tensor, raxis.Tensor)):
        return value.detach().numpy()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def assert_agreement(function: Callable[[Any], Any], rtol: float = 1e-12) -> None:
    """Assert that ``function(raxis)`` and ``function(torch)`` return equal values."""
    compare(plain(function(raxis)), plain(function(torch)), rtol)


def compare(found: Any, expected: Any, rtol: float) -> None:
    """Assert equality of nested lists of arrays and plain values."""
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            compare(one, other, rtol)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=rtol)
    else:
        assert found == expected


def same_error(function: Callable[[Any], Any]) -> str:
    """Assert that both libraries raise the same built-in exception class; raxis' message is returned."""
    raised = []
    for library in (torch, raxis):
        try:
            function(library)
        except Exception as error:
            raised.append(error)
        else:
            raise AssertionError(f"{library.__name__} raised nothing")
    assert isinstance(raised[1], _builtin_class(raised[0])), f"torch: {raised[0]!r}, raxis: {raised[1]!r}"
    return str(raised[1])


def _builtin_class(error: Exception) -> type:
    return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
