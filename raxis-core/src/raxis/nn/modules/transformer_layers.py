"""The layers that transformers are stacked of: attention, then two linear layers.

Source: A. Vaswani et al., "Attention is all you need", 2017. Masks are those of `MultiheadAttention`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from raxis.nn import functional as F
from raxis.nn.modules.attention import MultiheadAttention
from raxis.nn.modules.dropout import Dropout
from raxis.nn.modules.linear import Linear
from raxis.nn.modules.module import Module
from raxis.nn.modules.normalization import LayerNorm

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

    Activation: TypeAlias = str | Callable[[Tensor], Tensor]

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _attended(
    attention: Module, x: Tensor, memory: Tensor, mask: Tensor | None, padding: Tensor | None, is_causal: bool
) -> Tensor:
    attended, _ = attention(
        x, memory, memory, padding, need_weights=False, attn_mask=mask, is_causal=is_causal
    )
    return attended


class _Layer(Module):
    """Attentions and two linear layers, each with a normalisation and a dropout of its own, numbered from 1."""

    _attentions: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, device=device, dtype=dtype
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for part in parts:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            self.add_module(f"norm{part}", norm)
        for part in parts:
            self.add_module(f"dropout{part}", Dropout(dropout))
        self.activation = _activation(activation)

    def _added(self, x: Tensor, number: int, part: Callable[[Tensor], Tensor]) -> Tensor:
        """`x` plus a part of it, which drops out, normalised inside or outside the sum."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        return x + dropout(part(norm(x))) if self.norm_first else norm(x + dropout(part(x)))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention, then two linear layers, each added to its input and normalised.

    Args:
        d_model: features of input and output.
        nhead: heads of the attention.
        dim_feedforward: features between the linear layers.
        dropout: probability of every dropout.
        activation: between the linear layers: a function, ``"relu"`` or ``"gelu"``; ReLU if omitted.
        layer_norm_eps: `eps` of the normalisation.
        batch_first: whether tensors are (N, L, d_model) instead of (L, N, d_model).
        norm_first: whether to normalise before each part instead of after it.
        bias: whether linear layers and normalisation add a learned vector.
        device: where the parameters live.
        dtype: their floating dtype.

    Raises:
        RuntimeError: `activation` is not known.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.TransformerEncoderLayer(8, nhead=2, dim_feedforward=16)
        >>> tuple(layer(raxis.zeros(5, 3, 8)).shape)
        (5, 3, 8)
    """

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Apply the layer."""

        def attend(x: Tensor) -> Tensor:
            return _attended(self.self_attn, x, x, src_mask, src_key_padding_mask, is_causal)

        return self._added(self._added(src, 1, attend), 2, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to an encoder's output, then two linear layers, each added to its input.

    Arguments as of `TransformerEncoderLayer`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.TransformerDecoderLayer(8, nhead=2, dim_feedforward=16)
        >>> tuple(layer(raxis.zeros(5, 3, 8), raxis.zeros(7, 3, 8)).shape)
        (5, 3, 8)
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Apply the layer."""

        def attend_self(x: Tensor) -> Tensor:
            return _attended(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def attend_memory(x: Tensor) -> Tensor:
            masks = (memory_mask, memory_key_padding_mask)
            return _attended(self.multihead_attn, x, memory, *masks, memory_is_causal)

        x = self._added(self._added(tgt, 1, attend_self), 2, attend_memory)
        return self._added(x, 3, self._feed_forward)
