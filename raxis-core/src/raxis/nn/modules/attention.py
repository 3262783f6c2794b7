"""Attention with several heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import raxis
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

    Example:
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
            AssertionError: the numbers of dimensions or features do not fit.
            RuntimeError: `is_causal` is set without `attn_mask`, or a mask does not fit.
        """
        swap = self.batch_first and query.dim() == 3
        if swap:
            query, key, value = (tensor.transpose(0, 1) for tensor in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=self.in_proj_weight is None,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(0, 1) if swap else output, weights
