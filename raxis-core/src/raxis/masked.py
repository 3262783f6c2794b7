"""Reductions and normalizations over the elements that a mask marks: the functions of ``torch.masked``.

Example:
    >>> import raxis
    >>> raxis.masked.sum(raxis.tensor([1.0, 2.0, 4.0]), mask=raxis.tensor([True, False, True]))
    tensor(5.)
"""

from __future__ import annotations

import sys

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.ops.entry import install

__all__ = install(sys.modules[__name__], "raxis.masked")  # noqa: PLE0605  the table decides
