"""The records of the op table, one module per family. Importing this package fills the table."""

from __future__ import annotations

from raxis.ops.definitions import (
    arithmetic,
    conversion,
    creation,
    reductions,
    views,
)

__all__ = ["arithmetic", "conversion", "creation", "reductions", "views"]
