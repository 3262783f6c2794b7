"""Attention with several heads."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import raxis
from raxis.dtypes import bool_
from raxis.nn import functional as F
from raxis.nn import init
from raxis.nn.modules.linear import Linear
from raxis.nn.modules.module import Module
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Every query takes a weighted mean of values, the weights coming from how well it fits their keys.

    Shapes: query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim) to (L, N, embed_dim); with `batch_first`
    N comes first; without a batch N is left out.

    Source: A. Vaswani et al., "Attention is all you need", 2017.

    Args:
        embed_dim: features of queries and results.
        num_heads: number of independent parts the features are divided into.
        dropout: probability with which weights are set to zero while training.
        bias: whether projections add a learned vector.
        add_bias_kv: whether to add a learned key and value.
        add_zero_attn: whether to add a key and a value of zeros.
        kdim: features of keys, `embed_dim` if omitted.
        vdim: features of values, `embed_dim` if omitted.
        batch_first: whether tensors start with the batch.
        device: where the parameters live.
        dtype: their floating dtype.

    Raises:
        ValueError: `embed_dim` or `num_heads` is not positive, or the one is not divisible by the other.

    >>> import raxis
    >>> from raxis import nn
    >>> attention = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
    >>> x = raxis.zeros(3, 5, 8)
    >>> output, weights = attention(x, x, x)
    >>> tuple(output.shape), tuple(weights.shape)
    ((3, 5, 8), (3, 5, 5))
    """

    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0 and embed_dim divisible by num_heads, "
                f"got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        together = self.kdim == embed_dim and self.vdim == embed_dim
        shapes = {
            "q_proj_weight": None if together else (embed_dim, embed_dim),
            "k_proj_weight": None if together else (embed_dim, self.kdim),
            "v_proj_weight": None if together else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if together else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
            "bias_k": (1, 1, embed_dim) if add_bias_kv else None,
            "bias_v": (1, 1, embed_dim) if add_bias_kv else None,
        }
        for name, shape in shapes.items():
            values = None if shape is None else Parameter(raxis.empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, values)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            query: what asks.
            key: what queries are compared with.
            value: what is averaged.
            key_padding_mask: (N, S) or (S): keys to leave out where true, or numbers to add to their scores.
            need_weights: whether to return the weights too.
            attn_mask: (L, S) or (N · num_heads, L, S): pairs to leave out where true, or numbers to add.
            average_attn_weights: whether to return the mean of the heads' weights, (N, L, S), instead of all,
                (N, num_heads, L, S).
            is_causal: a promise that `attn_mask` is the causal one.

        Raises:
            RuntimeError: `is_causal` is set without `attn_mask`, or the shapes do not fit.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        batched = query.dim() == 3
        q, k, v = (self._to_batch_first(tensor, batched) for tensor in (query, key, value))
        if key_padding_mask is not None and not batched:
            key_padding_mask = key_padding_mask.unsqueeze(0)
        q, k, v = self._projected(q, k, v)
        k, v, added = self._with_extra_keys(k, v)
        mask = _merged_mask(attn_mask, key_padding_mask, added, q.shape[0], self.num_heads, q.dtype)
        heads, weights = self._attend(self._split(q), self._split(k), self._split(v), mask, need_weights)
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            return output.squeeze(0), None if weights is None else weights.squeeze(0)
        return output if self.batch_first else output.transpose(0, 1), weights

    def _to_batch_first(self, tensor: Tensor, batched: bool) -> Tensor:
        if not batched:
            return tensor.unsqueeze(0)
        return tensor if self.batch_first else tensor.transpose(0, 1)

    def _projected(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q_weight, k_weight, v_weight = self._projections()
        q_bias, k_bias, v_bias = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return F.linear(q, q_weight, q_bias), F.linear(k, k_weight, k_bias), F.linear(v, v_weight, v_bias)

    def _projections(self) -> Any:
        if self.in_proj_weight is None:
            return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        return self.in_proj_weight.chunk(3)

    def _with_extra_keys(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, int]:
        """Keys and values with the learned one and the zeros appended, and how many were."""
        count, _, features = k.shape
        keys, values = [k], [v]
        if self.bias_k is not None and self.bias_v is not None:
            keys.append(self.bias_k.expand(count, 1, features))
            values.append(self.bias_v.expand(count, 1, features))
        if self.add_zero_attn:
            keys.append(k.new_zeros((count, 1, features)))
            values.append(v.new_zeros((count, 1, features)))
        if len(keys) == 1:
            return k, v, 0
        return raxis.cat(keys, dim=1), raxis.cat(values, dim=1), len(keys) - 1

    def _split(self, tensor: Tensor) -> Tensor:
        """(N, L, embed_dim) to (N, num_heads, L, head_dim)."""
        return tensor.unflatten(2, (self.num_heads, self.head_dim)).transpose(1, 2)

    def _attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        dropout = self.dropout if self.training else 0.0
        if not need_weights:
            return F.scaled_dot_product_attention(q, k, v, mask, dropout), None
        scores = (q / math.sqrt(self.head_dim)) @ k.transpose(2, 3)
        weights = F.dropout(F.softmax(scores if mask is None else scores + mask, -1), dropout)
        return weights @ v, weights


def _merged_mask(
    attn_mask: Tensor | None,
    key_padding_mask: Tensor | None,
    added: int,
    batch: int,
    heads: int,
    dtype: DType,
) -> Tensor | None:
    """Both masks as one tensor to add to scores (N, num_heads, L, S); keys that were added are never left out."""
    merged = None
    if attn_mask is not None:
        merged = F.pad(as_additive(attn_mask, dtype), (0, added))
        if merged.dim() == 3:
            merged = merged.unflatten(0, (batch, heads))
    if key_padding_mask is not None:
        padding = F.pad(as_additive(key_padding_mask, dtype), (0, added))[:, None, None, :]
        merged = padding if merged is None else merged + padding
    return merged


def as_additive(mask: Tensor, dtype: DType) -> Tensor:
    """Numbers to add to scores: minus infinity where a bool mask is true, a floating mask itself."""
    if mask.dtype is not bool_:
        return mask
    return raxis.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -math.inf)
