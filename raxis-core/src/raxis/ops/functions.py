"""The functions of the main namespace, derived from the op table (the stub beside this file lists them)."""

from __future__ import annotations

import sys

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.ops.entry import install

__all__ = install(sys.modules[__name__], "raxis")  # noqa: PLE0605  the table decides
