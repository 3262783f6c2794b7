"""Iterating over a data set in batches."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

import raxis
from raxis.utils.data.collate import default_collate
from raxis.utils.data.dataset import IterableDataset
from raxis.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler

if TYPE_CHECKING:
    from raxis.random import Generator

__all__ = ["DataLoader"]

Batch_co = TypeVar("Batch_co", covariant=True)


class DataLoader(Generic[Batch_co]):
    """Batches of a data set.

    Args:
        dataset: examples by index, or an `IterableDataset`.
        batch_size: examples in a batch; None yields single examples.
        shuffle: whether to go through the data set in random order.
        sampler: the order instead, an iterable of indices.
        batch_sampler: the batches instead, an iterable of lists of indices.
        num_workers: must be 0; batches are made in the process that uses them.
        collate_fn: makes a batch of a list of examples; `default_collate` if omitted.
        pin_memory: accepted for compatibility; batches are in ordinary memory.
        drop_last: whether to leave out a last batch that is not full.
        timeout: how long to wait for workers; there are none.
        worker_init_fn: called in workers; there are none.
        multiprocessing_context: must be omitted, as there are no workers.
        generator: source of the random order.
        prefetch_factor: must be omitted, as there are no workers.
        persistent_workers: must be false, as there are no workers.

    Raises:
        ValueError: options that exclude each other are combined, or worker processes are asked for.

    Example:
        >>> import raxis
        >>> from raxis.utils.data import DataLoader
        >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
        [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        _check_workers(num_workers, timeout)
        _check_worker_options(
            multiprocessing_context=multiprocessing_context,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers or None,
        )
        _check_order(dataset, shuffle, sampler, batch_sampler)
        _check_batching(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.drop_last = drop_last
        self.batch_size = None if batch_sampler is not None else batch_size
        self.sampler = _order(dataset, bool(shuffle), generator) if sampler is None else sampler
        self.batch_sampler = batch_sampler
        if batch_sampler is None and batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.collate_fn = collate_fn or (default_collate if self.batch_sampler is not None else _unchanged)

    def __iter__(self) -> Iterator[Batch_co]:
        if isinstance(self.dataset, IterableDataset):
            return (cast("Batch_co", self.collate_fn(examples)) for examples in self._stream())
        return self._iterate_indices()

    def _iterate_indices(self) -> Iterator[Batch_co]:
        if self.batch_sampler is None:
            for index in self.sampler:
                yield cast("Batch_co", self.collate_fn(self.dataset[index]))
            return
        for indices in self.batch_sampler:
            yield cast("Batch_co", self.collate_fn(self._examples(indices)))

    def _examples(self, indices: list[Any]) -> Any:
        fetch_all = getattr(self.dataset, "__getitems__", None)
        return [self.dataset[index] for index in indices] if fetch_all is None else fetch_all(indices)

    def _stream(self) -> Iterable[Any]:
        """The examples of an iterable data set, in lists unless single ones are wanted."""
        if self.batch_size is None:
            return cast("Iterable[Any]", self.dataset)
        return BatchSampler(self.dataset, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            return len(cast("Sized", self._stream()))
        return len(cast("Sized", self.sampler if self.batch_sampler is None else self.batch_sampler))


def _unchanged(example: Any) -> Any:
    """What single examples are collated with: arrays become tensors, everything else stays."""
    return raxis.as_tensor(example) if isinstance(example, np.ndarray) else example


def _order(dataset: Any, shuffle: bool, generator: Generator | None) -> Iterable[Any]:
    if isinstance(dataset, IterableDataset):
        return itertools.repeat(None)
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


def _check_workers(num_workers: int, timeout: float) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to load in this process."
        )
    if num_workers > 0:
        raise ValueError(
            f"num_workers={num_workers} asks for worker processes, which are not available in this version; "
            "use num_workers=0."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")


def _check_worker_options(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} option could only be specified in multiprocessing, which is not available in this version; "
                f"got {name}={value}."
            )


def _check_order(dataset: Any, shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    if isinstance(dataset, IterableDataset):
        for name, value in (
            ("shuffle", shuffle or None),
            ("sampler", sampler),
            ("batch_sampler", batch_sampler),
        ):
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")


def _check_batching(
    batch_size: int | None, shuffle: bool | None, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
        )
    if batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
