"""Orders in which to go through a data set."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import raxis

if TYPE_CHECKING:
    from raxis.random import Generator

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

Index_co = TypeVar("Index_co", covariant=True)


class Sampler(Generic[Index_co]):
    """An iterable of indices, or of lists of indices; subclasses define ``__iter__`` and usually ``__len__``."""

    def __iter__(self) -> Iterator[Index_co]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__().")


class SequentialSampler(Sampler[int]):
    """All indices in order.

    Example:
        >>> from raxis.utils.data import SequentialSampler
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Indices in random order.

    Args:
        data_source: data set with a length.
        replacement: whether an index may be drawn again.
        num_samples: how many indices to draw, by default one for every example; without replacement, the examples
            are gone through as often as needed.
        generator: source of the random order; by default one seeded anew from the default generator every time.

    Raises:
        TypeError: `replacement` is not a bool.
        ValueError: `num_samples` is not a positive int.

    Example:
        >>> from raxis.utils.data import RandomSampler
        >>> sorted(RandomSampler("abc"))
        [0, 1, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if num_samples is not None:
            _require_positive("num_samples", num_samples)
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """How many indices are drawn; follows the data set's length unless it was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator or fresh_generator()
        size = len(self.data_source)
        if self.replacement:
            yield from raxis.randint(0, size, (self.num_samples,), generator=generator).tolist()
            return
        remaining = self.num_samples
        while remaining > 0:
            yield from raxis.randperm(size, generator=generator).tolist()[:remaining]
            remaining -= size

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given indices in random order, each once.

    Example:
        >>> from raxis.utils.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([3, 5, 8]))
        [3, 5, 8]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = raxis.randperm(len(self.indices), generator=self.generator).tolist()
        return (self.indices[position] for position in order)

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Random indices, each as likely as its weight says.

    Args:
        weights: one number that is not negative for every index; they need not add up to one.
        num_samples: how many indices to draw.
        replacement: whether an index may be drawn again.
        generator: source of the random numbers.

    Raises:
        TypeError: `replacement` is not a bool.
        ValueError: `num_samples` is not a positive int, or `weights` does not have one dimension.

    Example:
        >>> from raxis.utils.data import WeightedRandomSampler
        >>> list(WeightedRandomSampler([0.0, 1.0], 3))
        [1, 1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _require_positive("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = raxis.as_tensor(weights, dtype=raxis.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = raxis.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler["list[int]"]):
    """Lists of `batch_size` indices from another sampler; the last one may be shorter, unless `drop_last` is set.

    Raises:
        ValueError: `batch_size` is not a positive int or `drop_last` not a bool.

    Example:
        >>> from raxis.utils.data import BatchSampler
        >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        _require_positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)


def _require_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def fresh_generator() -> Generator:
    """A generator of its own, seeded from the default one, so that each pass differs and a seed repeats all."""
    return raxis.Generator().manual_seed(int(raxis.randint(0, 2**63 - 1, ())))
