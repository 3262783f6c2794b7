"""The functions behind the layers, derived from the op table (the stub beside this file lists them).

Example:
    >>> import raxis
    >>> import raxis.nn.functional as F
    >>> F.softmax(raxis.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
"""

from __future__ import annotations

import sys

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.ops.entry import install
from raxis.ops.functional import NAMESPACE

__all__ = install(sys.modules[__name__], NAMESPACE)  # noqa: PLE0605  the table decides
