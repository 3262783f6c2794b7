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

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A table of rows to look up, and how rows are."""

    weight: Parameter

    def __init__(
        self,
        shape: tuple[int, int],
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        sparse: bool,
    ) -> None:
        super().__init__()
        if sparse:
            raise NotImplementedError(
                f"{self._get_name()}(sparse=True) needs sparse gradients; use sparse=False."
            )
        self.num_embeddings, self.embedding_dim = shape
        self.padding_idx = _row(padding_idx, self.num_embeddings)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse

    def _fill(
        self, given: Tensor | None, requires_grad: bool, device: Device | str | None, dtype: DType | None
    ) -> None:
        """Register the table `given`, or a new one."""
        shape = (self.num_embeddings, self.embedding_dim)
        if given is None:
            self.weight = Parameter(raxis.empty(shape, device=device, dtype=dtype), requires_grad)
            self.reset_parameters()
            return
        if tuple(given.shape) != shape:
            raise ValueError(
                f"Shape of weight {tuple(given.shape)} does not match num_embeddings and embedding_dim {shape}"
            )
        self.weight = Parameter(given, requires_grad)

    def reset_parameters(self) -> None:
        """Draw a new table, with zeros at `padding_idx`."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with raxis.no_grad():
                self.weight[self.padding_idx].fill_(0.0)

    def _size(self) -> list[str]:
        return [f"{self.num_embeddings}", f"{self.embedding_dim}"]

    def _padding(self) -> list[str]:
        return [] if self.padding_idx is None else [f"padding_idx={self.padding_idx}"]

    def _options(self) -> list[str]:
        parts = []
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2.0:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append("scale_grad_by_freq=True")
        return parts


class Embedding(_Table):
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
        super().__init__(
            (num_embeddings, embedding_dim), padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        )
        self._fill(_weight, not _freeze, device, dtype)

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
        return cls(
            *_table_size(embeddings),
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )

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
        return ", ".join([*self._size(), *self._padding(), *self._options()])


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows of a learned table, without the rows in between.

    Args:
        num_embeddings: rows of the table.
        embedding_dim: length of a row.
        max_norm: rows that are looked up are scaled down in place to at most this norm.
        norm_type: which norm `max_norm` means.
        scale_grad_by_freq: whether to divide a row's gradient by how often it was looked up; not for ``"max"``.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        sparse: must be false, gradients are dense tensors.
        _weight: the table to start with instead of normally distributed numbers.
        include_last_offset: whether `offsets` has one more element, the end of the last bag.
        padding_idx: row that starts as zeros and does not count; negative numbers count from the end.
        device: where the table lives.
        dtype: its floating dtype.

    Raises:
        ValueError: `padding_idx` is not a row, or `_weight` has another shape.
        NotImplementedError: `sparse` is true.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> bags = nn.EmbeddingBag(10, 3, mode="sum")
        >>> tuple(bags(raxis.tensor([1, 2, 4, 5, 4]), raxis.tensor([0, 3])).shape)
        (2, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            (num_embeddings, embedding_dim), padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        )
        self.mode = mode
        self.include_last_offset = include_last_offset
        self._fill(_weight, True, device, dtype)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """A layer around the table `embeddings`, which is not trained unless `freeze` is false.

        Raises:
            ValueError: `embeddings` does not have two dimensions.

        Example:
            >>> import raxis
            >>> from raxis import nn
            >>> bags = nn.EmbeddingBag.from_pretrained(raxis.tensor([[1.0, 2.0], [3.0, 4.0]]))
            >>> bags(raxis.tensor([[0, 1]])).tolist()
            [[2.0, 3.0]]
        """
        module = cls(
            *_table_size(embeddings),
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        module.weight.requires_grad = not freeze
        return module

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Look up and reduce bags of rows.

        Args:
            input: row numbers, (B, L) (bags of one length) or (N) (with `offsets`).
            offsets: where each bag starts in `input`, (B).
            per_sample_weights: factor of each row, shape of `input`; mode ``"sum"`` only.

        Returns:
            (B, embedding_dim); bags without rows are zero.
        """
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        return ", ".join([*self._size(), *self._options(), f"mode={self.mode!r}", *self._padding()])


def _row(padding_idx: int | None, num_embeddings: int) -> int | None:
    if padding_idx is None:
        return None
    if not -num_embeddings <= padding_idx < num_embeddings:
        raise ValueError(f"Padding_idx must be within num_embeddings, got {padding_idx} and {num_embeddings}")
    return padding_idx % num_embeddings


def _table_size(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise ValueError(
            f"Embeddings parameter is expected to be 2-dimensional, but got shape {tuple(embeddings.shape)}"
        )
    rows, columns = embeddings.shape
    return rows, columns
