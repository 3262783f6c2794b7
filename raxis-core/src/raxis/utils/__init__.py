"""Helpers that are not tensor operations: hook handles and data loading."""

from __future__ import annotations

from raxis.utils import data, hooks

__all__ = ["data", "hooks"]
