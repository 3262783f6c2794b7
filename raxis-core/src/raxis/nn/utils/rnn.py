"""Sequences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import raxis

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Tensors (length, ...) as one tensor (longest, N, ...), or (N, longest, ...) with `batch_first`.

    Args:
        sequences: tensors that differ in the first dimension only.
        batch_first: whether the result starts with the batch.
        padding_value: what fills up shorter sequences.
        padding_side: ``"right"``: after them, or ``"left"``: before them.

    Raises:
        RuntimeError: there are no sequences.
        ValueError: `padding_side` is not known.

    Example:
        >>> import raxis
        >>> from raxis.nn.utils.rnn import pad_sequence
        >>> pad_sequence([raxis.tensor([1, 2]), raxis.tensor([3])], batch_first=True).tolist()
        [[1, 2], [3, 0]]
    """
    if padding_side not in ("left", "right"):
        raise ValueError(f"padding_side should be either 'right' or 'left', but got {padding_side!r}")
    members = list(sequences)
    if not members:
        raise RuntimeError("received an empty list of sequences")
    longest = max(member.shape[0] for member in members)
    filled = [_filled(member, longest, padding_value, padding_side) for member in members]
    return raxis.stack(filled, dim=0 if batch_first else 1)


def _filled(sequence: Tensor, length: int, padding_value: float, padding_side: str) -> Tensor:
    missing = length - sequence.shape[0]
    filler = sequence.new_full((missing, *sequence.shape[1:]), padding_value)
    return raxis.cat([filler, sequence] if padding_side == "left" else [sequence, filler])


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences in a tensor that was padded on the right, the opposite of `pad_sequence`.

    Example:
        >>> import raxis
        >>> from raxis.nn.utils.rnn import unpad_sequence
        >>> parts = unpad_sequence(raxis.tensor([[1, 2], [3, 0]]), raxis.tensor([2, 1]), batch_first=True)
        >>> [part.tolist() for part in parts]
        [[1, 2], [3]]
    """
    sequences = padded_sequences.unbind(0 if batch_first else 1)
    sizes: list[int] = lengths.tolist()
    return [sequence[:size] for sequence, size in zip(sequences, sizes, strict=True)]
