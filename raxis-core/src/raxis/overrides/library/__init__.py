"""Core's implementations besides the ops' own: written in other ops, so that gradients flow through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.overrides.library import attention, composed, convolution

TABLE: tuple[tuple[str, str, Callable[..., Any], Callable[..., bool] | None], ...] = (
    ("softmax", "composed", composed.softmax, composed.is_float),
    ("log_softmax", "composed", composed.log_softmax, composed.is_float),
    ("layer_norm", "composed", composed.layer_norm, composed.has_normalized_shape),
    ("linear", "composed", composed.linear, composed.has_matrix),
    ("scaled_dot_product_attention", "decomposed", attention.decomposed, attention.is_plain),
    ("scaled_dot_product_attention", "blocked", attention.blocked, attention.is_plain),
    ("conv2d", "gemm", convolution.by_matrix_product, convolution.is_plain),
)
"""Functional, name, function, and for which arguments it serves (None: all)."""
