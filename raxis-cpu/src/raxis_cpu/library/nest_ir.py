"""Loops over all elements of several arrays of one shape, in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raxis.layout import Strides
from raxis_cpu.library.phases import Body
from raxis_cpu.llvm.ir import Value

Inner = Callable[[list[Value], list[Value]], None]
"""Writes the body of the innermost loop: gets the elements' addresses and the index along every dimension."""


class Nest:
    """A phase that runs through arrays in row-major order.

    Args:
        name: of the phase.
        rank: dimensions.
        sizes: bytes of an element of each array.
        numbers: names of the routine's numbers, those of `nest_numbers` among them; by default only those.
        first_array: the place of the first of the arrays among all.
        split: whether units are slices of the first dimension; else there is one unit.
    """

    def __init__(
        self,
        name: str,
        rank: int,
        sizes: tuple[int, ...],
        *,
        numbers: Sequence[str] = (),
        first_array: int = 0,
        split: bool = False,
    ) -> None:
        self.names = tuple(numbers) or nest_numbers(rank, len(sizes))
        self.body = Body(name, self.names)
        self._rank = rank
        self._sizes = sizes
        self._first = first_array
        self._split = split

    def loops(self, inner: Inner) -> None:
        """Write them."""
        starts = [self.body.array(self._first + number) for number in range(len(self._sizes))]
        self._loop(0, starts, [], inner)

    def _loop(self, dim: int, starts: list[Value], indices: list[Value], inner: Inner) -> None:
        if dim == self._rank:
            inner(starts, indices)
            return
        body = self.body
        strides = [body.numbers[f"stride_{number}_{dim}"] for number in range(len(self._sizes))]
        bounds: tuple[Value | int, Value] = (0, body.numbers[f"size_{dim}"])
        if dim == 0 and self._split:
            bounds = (body.begin, body.end)
            starts = [
                body.advance(start, body.begin * stride, size)
                for start, stride, size in zip(starts, strides, self._sizes, strict=True)
            ]
        walks = [
            body.walk(start, stride, size)
            for start, stride, size in zip(starts, strides, self._sizes, strict=True)
        ]
        with body.loop(*bounds) as index:
            self._loop(dim + 1, [walk() for walk in walks], [*indices, index], inner)


def nest_numbers(rank: int, arrays: int) -> tuple[str, ...]:
    """Names of the sizes, and of the strides of every array."""
    strides = (f"stride_{number}_{dim}" for number in range(arrays) for dim in range(rank))
    return (*(f"size_{dim}" for dim in range(rank)), *strides)


def merged(shape: Sequence[int], arrays: Sequence[Strides]) -> tuple[tuple[int, ...], list[Strides]]:
    """Shape and strides with neighbouring dimensions merged where all arrays run through them as one."""
    sizes: list[int] = []
    steps: list[tuple[int, ...]] = []
    for size, own in zip(shape, zip(*arrays, strict=True), strict=True):
        if sizes and all(before == step * size for before, step in zip(steps[-1], own, strict=True)):
            sizes[-1], steps[-1] = sizes[-1] * size, own
        else:
            sizes.append(size)
            steps.append(own)
    return tuple(sizes), [tuple(step[number] for step in steps) for number in range(len(arrays))]


def values_of(sizes: Sequence[int], arrays: Sequence[Strides]) -> dict[str, int]:
    """The numbers of a nest, by name."""
    values = [*sizes, *(stride for strides in arrays for stride in strides)]
    return dict(zip(nest_numbers(len(sizes), len(arrays)), values, strict=True))


def spread(shape: Sequence[int], strides: Strides, rank: int) -> Strides:
    """Strides of an array broadcast to more dimensions."""
    own = (0 if size == 1 else stride for size, stride in zip(shape, strides, strict=True))
    return (*[0] * (rank - len(shape)), *own)
