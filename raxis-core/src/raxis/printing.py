"""Tensors as text, as PyTorch prints them."""

from __future__ import annotations

from raxis.tensor import Tensor


def tensor_text(tensor: Tensor) -> str:
    """The text of ``repr(tensor)``."""
    return f"tensor({tensor.tolist()})"
