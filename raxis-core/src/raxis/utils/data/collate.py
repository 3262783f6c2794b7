"""Putting examples together to a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import raxis

__all__ = ["default_collate"]


def default_collate(batch: Sequence[Any]) -> Any:
    """A list of examples as one: tensors, arrays and numbers are stacked, structures are gone into.

    Tensors and NumPy arrays become a tensor with one more dimension in front. Python's floats become float64, its
    ints int64. Strings and bytes stay in a list. Mappings, named tuples and sequences become the same kind of
    structure, with a batch of each of their parts.

    Raises:
        RuntimeError: sequences or tensors are not all of the same size.
        TypeError: the examples are of another type.

    Example:
        >>> from raxis.utils.data import default_collate
        >>> default_collate([(1, "a"), (2, "b")])[0].tolist()
        [1, 2]
    """
    first = batch[0]
    if isinstance(first, raxis.Tensor):
        return raxis.stack(list(batch))
    if isinstance(first, np.ndarray):
        return _collate_arrays(batch)
    if isinstance(first, (bool, int, float, np.number, np.bool_)):
        return _collate_numbers(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _rebuilt(first, {key: default_collate([example[key] for example in batch]) for key in first})
    if isinstance(first, Sequence):
        return _collate_sequences(batch)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        f"{type(first).__name__}"
    )


def _collate_arrays(batch: Sequence[Any]) -> Any:
    if batch[0].dtype.kind in "SaUO":
        raise TypeError(
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
            f"an array of {batch[0].dtype}"
        )
    return raxis.stack([raxis.as_tensor(array) for array in batch])


def _collate_numbers(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if isinstance(first, (np.number, np.bool_)):
        return raxis.as_tensor(np.array(batch))
    return raxis.tensor(batch, dtype=raxis.float64 if isinstance(first, float) else None)


def _collate_sequences(batch: Sequence[Any]) -> Any:
    first = batch[0]
    sizes = {len(example) for example in batch}
    if len(sizes) > 1:
        raise RuntimeError(
            f"each element in list of batch should be of equal size, but there are sizes {sorted(sizes)}"
        )
    parts = [default_collate(part) for part in zip(*batch, strict=True)]
    if hasattr(first, "_fields"):
        return type(first)(*parts)
    # PyTorch gives a list for plain tuples too, so that batches can be changed in place.
    return parts if type(first) in (list, tuple) else _rebuilt(first, parts)


def _rebuilt(example: Any, parts: dict[Any, Any] | list[Any]) -> Any:
    """`parts` as a structure of the example's type, where its class makes one of them."""
    try:
        return type(example)(parts)
    except TypeError:
        return parts
