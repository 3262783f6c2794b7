"""Products of matrices in tiles that a work-group loads into shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod
from typing import NamedTuple

from raxis import dtypes
from raxis.codegen.expressions import loaded, register_type, stored
from raxis.codegen.launching import Part
from raxis.codegen.rendered import Numbers
from raxis.codegen.routine import Call, decoded
from raxis.dtypes import HALF

EACH = 4
"""A work-item computes so many rows and columns."""
SMALLEST = 8
"""Rows and columns from which on tiles pay."""


class Run(NamedTuple):
    """Dims that lhs, rhs and result pass through as one: size, and strides in each."""

    size: int
    strides: tuple[int, ...]


class _Dims(NamedTuple):
    """The dims of a product of stacks of matrices."""

    batch: list[Run]
    rows: Run
    columns: Run
    inner: Run


def product(call: Call) -> Part | None:
    """A product of matrices or of stacks of them; None for others, and where there is no shared memory."""
    if not call.backend.dialect.shared or call.buffers[2].dtype not in _DTYPES:
        return None
    dims = _dims(call)
    return None if dims is None else _Product(call, dims).part()


class _Product:
    """The kernel of one product.

    A work-group computes a square of the result, `tile` rows and columns, from pieces of the operands `side` deep.
    """

    def __init__(self, call: Call, dims: _Dims) -> None:
        self.call, self.dims = call, dims
        self.dialect = call.backend.dialect
        self.numbers = Numbers(self.dialect)
        self.dtype = call.buffers[2].dtype
        self.side = isqrt(self.dialect.group_size)
        self.tile = self.side * EACH

    def part(self) -> Part:
        """What computes the product."""
        dims = self.dims
        counts = [
            *(item.size for item in dims.batch),
            *(-(-run.size // self.tile) for run in (dims.rows, dims.columns)),
        ]
        lines, places = decoded(self.numbers, "point", counts)
        body = [*self._declared(), *lines, *self._started(places)]
        body += ["for (i64 k0 = 0; k0 < k; k0 += side) {", *(f"    {line}" for line in self._turn()), "}"]
        body += self._written()
        return self.call.launch(
            "product", self.numbers, self.dialect.groups(body), prod(counts), grouped=True
        )

    def _declared(self) -> list[str]:
        type, shared, elements = register_type(self.dtype), self.dialect.shared, self.tile * self.side
        return [
            f"{shared} {type} left[{elements}];",
            f"{shared} {type} right[{elements}];",
            f"{type} total[{EACH}][{EACH}];",
            f"for (u32 i = 0; i < {EACH}; ++i) for (u32 j = 0; j < {EACH}; ++j) total[i][j] = 0;",
            f"const u32 side = {self.side}, tile = {self.tile}, row = lane / side, column = lane % side;",
        ]

    def _started(self, places: Sequence[str]) -> list[str]:
        """Sizes, the corner of the square, and where the matrices begin."""
        sizes = [self.numbers.value(run.size) for run in self.dims[1:]]
        starts = [
            self.numbers.position(places[:-2], [item.strides[slot] for item in self.dims.batch], slot)
            for slot in range(3)
        ]
        return [
            f"const i64 rows = {sizes[0]}, columns = {sizes[1]}, k = {sizes[2]};",
            f"const i64 row0 = {places[-2]} * tile, column0 = {places[-1]} * tile;",
            *(f"const i64 start{slot} = {start};" for slot, start in enumerate(starts)),
        ]

    def _turn(self) -> list[str]:
        """Loads one piece of each operand, and adds its products."""
        _, rows, columns, inner = self.dims
        type = register_type(self.dtype)
        left, right = self._element(0, "i", rows, "p", inner), self._element(1, "q", inner, "j", columns)
        return [
            f"for (u32 at = lane; at < {self.tile * self.side}; at += {self.dialect.group_size}) {{",
            "    const i64 i = row0 + at / side, p = k0 + at % side, j = column0 + at % tile, q = k0 + at / tile;",
            f"    left[at] = i < rows && p < k ? {left} : 0;",
            f"    right[at] = j < columns && q < k ? {right} : 0;",
            "}",
            self.dialect.barrier,
            "for (u32 q = 0; q < side; ++q) {",
            f"    {type} x[{EACH}], y[{EACH}];",
            "    #pragma unroll",
            f"    for (u32 i = 0; i < {EACH}; ++i) {{",
            "        x[i] = left[(row + side * i) * side + q];",
            "        y[i] = right[q * tile + column + side * i];",
            "    }",
            "    #pragma unroll",
            f"    for (u32 i = 0; i < {EACH}; ++i)",
            "        #pragma unroll",
            f"        for (u32 j = 0; j < {EACH}; ++j) total[i][j] += x[i] * y[j];",
            "}",
            self.dialect.barrier,
        ]

    def _written(self) -> list[str]:
        place = self._place(2, "r", self.dims.rows, "c", self.dims.columns)
        return [
            f"for (u32 i = 0; i < {EACH}; ++i) for (u32 j = 0; j < {EACH}; ++j) {{",
            "    const i64 r = row0 + row + side * i, c = column0 + column + side * j;",
            f"    if (r < rows && c < columns) b2[{place}] = {stored(self.dtype, 'total[i][j]')};",
            "}",
        ]

    def _element(self, slot: int, one: str, first: Run, two: str, second: Run) -> str:
        return loaded(self.dtype, f"b{slot}[{self._place(slot, one, first, two, second)}]")

    def _place(self, slot: int, one: str, first: Run, two: str, second: Run) -> str:
        strides = [first.strides[slot], second.strides[slot]]
        return f"start{slot} + {self.numbers.position([one, two], strides, None)}"


def _dims(call: Call) -> _Dims | None:
    """The dims of the matrices; None unless rows, columns and the contracted dims are each one run, and tiles pay."""
    given, (lhs, rhs, result) = call.instruction.attributes, call.buffers
    pairs = list(zip(given["lhs_batch"], given["rhs_batch"], strict=True))
    left = [dim for dim in range(len(lhs.shape)) if dim not in given["lhs_batch"] + given["lhs_contract"]]
    right = [dim for dim in range(len(rhs.shape)) if dim not in given["rhs_batch"] + given["rhs_contract"]]
    strides = iter(result.strides)
    batch = [Run(lhs.shape[one], (lhs.strides[one], rhs.strides[two], next(strides))) for one, two in pairs]
    rows = merged([Run(lhs.shape[dim], (lhs.strides[dim], 0, next(strides))) for dim in left])
    columns = merged([Run(rhs.shape[dim], (0, rhs.strides[dim], next(strides))) for dim in right])
    contracted = zip(given["lhs_contract"], given["rhs_contract"], strict=True)
    inner = merged([Run(lhs.shape[one], (lhs.strides[one], rhs.strides[two], 0)) for one, two in contracted])
    if rows is None or columns is None or inner is None or 0 in [inner.size, *(item.size for item in batch)]:
        return None
    return _Dims(batch, rows, columns, inner) if min(rows.size, columns.size) >= SMALLEST else None


def merged(dims: Sequence[Run]) -> Run | None:
    """Dims as one run; None if they are not passed through as one.

    Example:
        >>> merged([Run(2, (12, 0)), Run(3, (4, 0))])
        Run(size=6, strides=(4, 0))
        >>> merged([Run(2, (12, 1)), Run(3, (4, 0))])
    """
    made = Run(1, (0, 0, 0))
    for item in reversed([item for item in dims if item.size != 1]):
        if made.size == 1:
            made = item
        elif item.strides == tuple(made.size * stride for stride in made.strides):
            made = Run(item.size * made.size, made.strides)
        else:
            return None
    return made


_DTYPES = frozenset({*HALF, dtypes.float32, dtypes.float64})
