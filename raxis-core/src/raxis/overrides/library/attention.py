"""Scaled dot-product attention in other ops: all scores at once, or block by block of keys."""

from __future__ import annotations

import math
from typing import Any

from raxis.dtypes import Category, bool_
from raxis.overrides.library.composed import wide
from raxis.tensor import Tensor

BLOCK = 128
"""Keys whose scores `blocked` holds at a time."""


def is_plain(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> bool:  # fmt: skip
    """Whether these are real floats with one head of keys for each of queries, and nothing is dropped."""
    shapes_fit = query.ndim >= 2 and query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2] > 0
    both = is_causal and attn_mask is not None
    return query.dtype.category is Category.FLOAT and shapes_fit and not (dropout_p or enable_gqa or both)


def decomposed(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Scores, softmax and means in ops of their own, for all keys at once."""
    from raxis.nn.functional import softmax

    scores = _scores(query, key, scale)
    seen = _visible(query, key) if is_causal else attn_mask
    if seen is None:
        return softmax(scores, -1).matmul(wide(value)).to(query.dtype)
    scores = _masked(scores, seen)
    blind = (scores == -math.inf).all(-1, keepdim=True)
    weights = softmax(scores.masked_fill(blind, 0), -1).masked_fill(blind, 0)
    return weights.matmul(wide(value)).to(query.dtype)


def blocked(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """One block of keys after another with a running maximum and sum, so that few scores are held at a time.

    Source: Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention", 2022.
    """
    seen = _visible(query, key) if is_causal else attn_mask
    running = _Running()
    for start in range(0, key.shape[-2], BLOCK):
        length = min(BLOCK, key.shape[-2] - start)
        scores = _scores(query, key.narrow(-2, start, length), scale)
        if seen is not None:
            scores = _masked(scores, seen if seen.shape[-1] == 1 else seen.narrow(-1, start, length))
        running.add(scores, wide(value.narrow(-2, start, length)))
    return running.mean().to(query.dtype)


class _Running:
    """Sums of ``exp(score) * value`` and of ``exp(score)``, relative to the greatest score so far."""

    def __init__(self) -> None:
        self.greatest: Any = None
        self.total: Any = None
        self.weighted: Any = None

    def add(self, scores: Tensor, values: Tensor) -> None:
        """Continue with the scores of more keys."""
        greatest = scores.detach().amax(-1, keepdim=True)
        if self.greatest is not None:
            greatest = greatest.maximum(self.greatest)
        # A row of -inf has no greatest score to count from.
        shift = greatest.masked_fill(greatest == -math.inf, 0)
        powers = (scores - shift).exp()
        total, weighted = powers.sum(-1, keepdim=True), powers.matmul(values)
        if self.greatest is not None:
            factor = (self.greatest - shift).exp()
            total, weighted = total + self.total * factor, weighted + self.weighted * factor
        self.greatest, self.total, self.weighted = greatest, total, weighted

    def mean(self) -> Tensor:
        """The weighted mean; 0 where no key was visible."""
        blind = self.total == 0
        return (self.weighted / self.total.masked_fill(blind, 1)).masked_fill(blind, 0)


def _scores(query: Tensor, key: Tensor, scale: float | None) -> Tensor:
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    return (wide(query) * factor).matmul(wide(key).transpose(-2, -1))


def _visible(query: Tensor, key: Tensor) -> Tensor:
    """Which keys a query may see: none after itself."""
    from raxis import ones

    return ones((query.shape[-2], key.shape[-2]), dtype=bool_, device=query.device).tril()


def _masked(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -math.inf) if mask.dtype is bool_ else scores + mask
