"""Look-up tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import raxis
from raxis.nn import functional as F
from raxis.nn import init
from raxis.nn.modules.module import Module
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = ["Embedding"]


class Embedding(Module):
    """Rows of a learned table: integers of any shape to vectors, (...) to (..., embedding_dim).

    Args:
        num_embeddings: rows of the table.
        embedding_dim: length of a row.
        padding_idx: row that starts as zeros and gets no gradient; negative numbers count from the end.
        max_norm: rows that are looked up are scaled down in place to at most this norm.
        norm_type: which norm `max_norm` means.
        scale_grad_by_freq: whether to divide a row's gradient by how often it was looked up.
        sparse: must be false, gradients are dense tensors.
        _weight: the table to start with instead of normally distributed numbers.
        _freeze: whether the table is not trained.
        device: where the table lives.
        dtype: its floating dtype.

    Raises:
        ValueError: `padding_idx` is not a row, or `_weight` has another shape.
        NotImplementedError: `sparse` is true.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Embedding(10, 3)(raxis.tensor([[1, 2, 4], [4, 3, 9]])).shape)
        (2, 3, 3)
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if sparse:
            raise NotImplementedError("Embedding(sparse=True) needs sparse gradients; use sparse=False.")
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            self.weight = Parameter(raxis.empty(shape, device=device, dtype=dtype), not _freeze)
            self.reset_parameters()
        elif tuple(_weight.shape) == shape:
            self.weight = Parameter(_weight, not _freeze)
        else:
            raise ValueError(
                f"Shape of weight {tuple(_weight.shape)} does not match num_embeddings and embedding_dim {shape}"
            )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """A layer around the table `embeddings`, which is not trained unless `freeze` is false.

        Raises:
            ValueError: `embeddings` does not have two dimensions.

        Example:
            >>> import raxis
            >>> from raxis import nn
            >>> nn.Embedding.from_pretrained(raxis.tensor([[1.0, 2.0], [3.0, 4.0]]))(raxis.tensor([1])).tolist()
            [[3.0, 4.0]]
        """
        if embeddings.dim() != 2:
            raise ValueError(
                f"Embeddings parameter is expected to be 2-dimensional, but got shape {tuple(embeddings.shape)}"
            )
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )

    def reset_parameters(self) -> None:
        """Draw a new table, with zeros at `padding_idx`."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with raxis.no_grad():
                self.weight[self.padding_idx].fill_(0.0)

    def forward(self, input: Tensor) -> Tensor:
        """Look up rows."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}", f"{self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2.0:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append("scale_grad_by_freq=True")
        return ", ".join(parts)


def _row(padding_idx: int | None, num_embeddings: int) -> int | None:
    if padding_idx is None:
        return None
    if not -num_embeddings <= padding_idx < num_embeddings:
        raise ValueError(f"Padding_idx must be within num_embeddings, got {padding_idx} and {num_embeddings}")
    return padding_idx % num_embeddings
