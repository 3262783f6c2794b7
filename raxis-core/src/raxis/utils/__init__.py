"""Helpers that are not tensor operations: checkpointing, hook tables, data loading."""

from __future__ import annotations

from raxis.utils import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
