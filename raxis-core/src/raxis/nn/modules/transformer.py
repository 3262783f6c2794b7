"""Stacks of attention and feed-forward layers.

Source: A. Vaswani et al., "Attention is all you need", 2017. Masks are those of `MultiheadAttention`.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import raxis
from raxis.nn import init
from raxis.nn.modules.container import ModuleList
from raxis.nn.modules.module import Module
from raxis.nn.modules.normalization import LayerNorm
from raxis.nn.modules.transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.nn.modules.transformer_layers import Activation
    from raxis.tensor import Tensor

__all__ = ["Transformer", "TransformerDecoder", "TransformerEncoder"]


class _Stack(Module):
    """Copies of one layer and an optional normalisation at the end."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _normalised(self, x: Tensor) -> Tensor:
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """`num_layers` copies of an encoder layer, one after the other, then `norm`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), num_layers=2)
        >>> tuple(encoder(raxis.zeros(5, 3, 8)).shape)
        (5, 3, 8)
    """

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Apply all layers."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, bool(is_causal))
        return self._normalised(src)


class TransformerDecoder(_Stack):
    """`num_layers` copies of a decoder layer, one after the other, then `norm`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), num_layers=2)
        >>> tuple(decoder(raxis.zeros(5, 3, 8), raxis.zeros(7, 3, 8)).shape)
        (5, 3, 8)
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Apply all layers."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask,
                memory_mask,
                tgt_key_padding_mask,
                memory_key_padding_mask,
                bool(tgt_is_causal),
                memory_is_causal,
            )
        return self._normalised(tgt)


class Transformer(Module):
    """An encoder of a source sequence and a decoder of a target that attends to the encoder's output.

    Args:
        d_model: features of both sequences.
        nhead: heads of every attention.
        num_encoder_layers: layers of the encoder.
        num_decoder_layers: layers of the decoder.
        dim_feedforward: features between the linear layers.
        dropout: probability of every dropout.
        activation: between the linear layers: a function, ``"relu"`` or ``"gelu"``.
        custom_encoder: module to use as encoder instead.
        custom_decoder: module to use as decoder instead.
        layer_norm_eps: `eps` of every normalisation.
        batch_first: whether tensors are (N, L, d_model) instead of (L, N, d_model).
        norm_first: whether layers normalise before each part instead of after it.
        bias: whether linear layers and normalisation add a learned vector.
        device: where the parameters live.
        dtype: their floating dtype.

    Raises:
        RuntimeError: `activation` is not known; on a call, when batches or features do not fit.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> model = nn.Transformer(8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16)
        >>> tuple(model(raxis.zeros(7, 3, 8), raxis.zeros(5, 3, 8)).shape)
        (5, 3, 8)
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        layer: tuple[Any, ...] = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        layer += (batch_first, norm_first, bias, device, dtype)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is None:
            custom_encoder = TransformerEncoder(TransformerEncoderLayer(*layer), num_encoder_layers, norm())
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(TransformerDecoderLayer(*layer), num_decoder_layers, norm())
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """Draw all matrices by Glorot's rule."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Decode `tgt`, given the encoded `src`: the shape of `tgt`."""
        self._check(src, tgt)
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    def _check(self, src: Tensor, tgt: Tensor) -> None:
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError(
                f"the batch number of src and tgt must be equal, got shapes {tuple(src.shape)} and {tuple(tgt.shape)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                f"the feature number of src and tgt must be equal to d_model ({self.d_model}), "
                f"got shapes {tuple(src.shape)} and {tuple(tgt.shape)}"
            )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device | str | None = None, dtype: DType | None = None
    ) -> Tensor:
        """The mask (sz, sz) that hides what follows: negative infinity above the diagonal, zeros elsewhere.

        Example:
            >>> from raxis import nn
            >>> nn.Transformer.generate_square_subsequent_mask(2).tolist()
            [[0.0, -inf], [0.0, 0.0]]
        """
        return raxis.full((sz, sz), -math.inf, device=device, dtype=dtype).triu(1)
