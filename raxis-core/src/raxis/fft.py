"""Discrete Fourier transforms: PyTorch's ``torch.fft``, derived from the op table."""

from __future__ import annotations

import sys

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.ops.entry import install

__all__ = install(sys.modules[__name__], "raxis.fft")  # noqa: PLE0605  the table decides
