"""Linear algebra: PyTorch's ``torch.linalg``, derived from the op table."""

from __future__ import annotations

import sys

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.errors import LinAlgError
from raxis.ops.entry import install

__all__ = ["LinAlgError", *install(sys.modules[__name__], "raxis.linalg")]  # noqa: PLE0604  the table decides
