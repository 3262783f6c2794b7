"""Signal processing: PyTorch's ``torch.signal``."""

from __future__ import annotations

from raxis.signal import windows as windows

__all__ = ["windows"]
