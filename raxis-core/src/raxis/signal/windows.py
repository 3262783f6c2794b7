"""Windows that signals are multiplied with: PyTorch's ``torch.signal.windows``, derived from the op table.

Example:
    >>> import raxis
    >>> raxis.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import sys

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.ops.entry import install

__all__ = install(sys.modules[__name__], "raxis.signal.windows")  # noqa: PLE0605  the table decides
