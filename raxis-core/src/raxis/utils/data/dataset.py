"""Collections of examples."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import raxis

if TYPE_CHECKING:
    from raxis.random import Generator
    from raxis.tensor import Tensor

__all__ = ["ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"]

Example_co = TypeVar("Example_co", covariant=True)


class Dataset(Generic[Example_co]):
    """Examples by index: subclasses define ``__getitem__``, and ``__len__`` where the number is known.

    Example:
        >>> from raxis.utils.data import Dataset
        >>> class Squares(Dataset):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return index * index
        >>> both = Squares() + Squares()
        >>> [both[index] for index in range(len(both))]
        [0, 1, 4, 0, 1, 4]
    """

    def __getitem__(self, index: Any) -> Example_co:
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__().")

    def __add__(self, other: Dataset[Any]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Example_co]):
    """Examples in the order in which they arrive: subclasses define ``__iter__``."""

    def __iter__(self) -> Iterator[Example_co]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__().")


class TensorDataset(Dataset["tuple[Tensor, ...]"]):
    """The entries of tensors along their first dimension, one of each tensor an example.

    Raises:
        ValueError: the first dimensions differ in size.

    Example:
        >>> import raxis
        >>> from raxis.utils.data import TensorDataset
        >>> dataset = TensorDataset(raxis.tensor([1, 2]), raxis.tensor([10, 20]))
        >>> len(dataset), [part.item() for part in dataset[1]]
        (2, [2, 20])
    """

    def __init__(self, *tensors: Tensor) -> None:
        if len({tensor.shape[0] for tensor in tensors}) > 1:
            shapes = ", ".join(str(tuple(tensor.shape)) for tensor in tensors)
            raise ValueError(f"Size mismatch between tensors: the first dimensions of {shapes} differ.")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class ConcatDataset(Dataset[Any]):
    """The examples of several data sets, one set after the other.

    Raises:
        ValueError: there are no data sets.
        TypeError: one has examples without an index.

    Example:
        >>> from raxis.utils.data import ConcatDataset
        >>> ConcatDataset(["ab", "cd"])[2]
        'c'
    """

    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise TypeError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range for a ConcatDataset of {len(self)} examples")
        index %= len(self)
        which = bisect_right(self.cumulative_sizes, index)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - start]


class Subset(Dataset[Example_co]):
    """The examples of a data set at given indices.

    Example:
        >>> from raxis.utils.data import Subset
        >>> list(Subset("abcd", [3, 0]))
        ['d', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[position] for position in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Divide a data set at random into parts without common examples.

    Args:
        dataset: with a length.
        lengths: sizes of the parts, or fractions whose sum is 1; examples left over by rounding down go to the first
            parts, one each.
        generator: source of the random order.

    Raises:
        ValueError: the lengths do not add up to the data set's, or a fraction is not between 0 and 1.

    Example:
        >>> from raxis.utils.data import random_split
        >>> [len(part) for part in random_split(range(10), [0.7, 0.3])]
        [7, 3]
    """
    sizes = [int(length) for length in lengths]
    if math.isclose(sum(lengths), 1.0) and sum(lengths) <= 1.0 + 1e-9:
        sizes = _sizes_of_fractions(lengths, len(dataset))
    if sum(sizes) != len(dataset):
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset: {sum(sizes)} and {len(dataset)}."
        )
    order: list[int] = raxis.randperm(len(dataset), generator=generator).tolist()
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _sizes_of_fractions(fractions: Sequence[float], total: int) -> list[int]:
    for position, fraction in enumerate(fractions):
        if not 0.0 <= fraction <= 1.0:
            raise ValueError(f"Fraction at index {position} is not between 0 and 1")
    sizes = [math.floor(total * fraction) for fraction in fractions]
    for position in range(total - sum(sizes)):
        sizes[position % len(sizes)] += 1
    return sizes
