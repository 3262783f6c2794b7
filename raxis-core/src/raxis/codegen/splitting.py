"""Few long rows are reduced in parts, to keep a whole device busy: kernels for the parts, and one for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from raxis import dtypes
from raxis.dtypes import HALF, DType
from raxis.schedule.loops import REDUCTIONS, Access, Axis, LoopKernel, Node, Position, Store

MOST_ROWS = 64
"""Rows up to which they are split..."""
SHORTEST = 1 << 14
"""... if they have so many elements."""
PARTS = 64
"""How many parts each row has, beside what is left over."""
_Move = Callable[[tuple[int, ...], int], tuple[tuple[int, ...], int]]
_SPLIT = REDUCTIONS - {"argmax", "argmin"}


class Split(NamedTuple):
    """Kernels that together do what one does.

    Their slots are the kernel's own, then one for each of `scratch`: the dtypes of the parts' results.
    """

    parts: tuple[LoopKernel, ...]
    rest: LoopKernel
    scratch: tuple[DType, ...]
    elements: int


def split(kernel: LoopKernel) -> Split | None:
    """The kernels for parts of rows, and for the rest; None if the rows are many, short, or not only reduced."""
    found = [number for number, node in enumerate(kernel.nodes) if node.op in REDUCTIONS]
    if not found or not kernel.axes or not _is_split(kernel, found):
        return None
    rows, length = prod(axis.size for axis in kernel.axes[:-1]), kernel.axes[-1].size
    chunk = length // PARTS
    left = length - PARTS * chunk
    scratch = tuple(_wide(kernel.nodes[number].dtype) for number in found)
    width = PARTS + bool(left)
    parts = [_part(kernel, found, (0, PARTS, chunk), (0, width))]
    if left:
        parts.append(_part(kernel, found, (PARTS * chunk, 1, left), (PARTS, width)))
    return Split(tuple(parts), _rest(kernel, found, width), scratch, rows * width)


def _is_split(kernel: LoopKernel, found: Sequence[int]) -> bool:
    *outer, last = kernel.axes
    if any(axis.inner for axis in outer) or not last.inner or last.size < SHORTEST:
        return False
    indexed = any(node.op == "index" and node.detail == len(outer) for node in kernel.nodes)
    return (
        prod(axis.size for axis in outer) <= MOST_ROWS
        and not indexed
        and all(kernel.nodes[number].op in _SPLIT and kernel.levels[number] == 1 for number in found)
        and all(_is_once_per_row(kernel, store) for store in kernel.stores)
        and not any(node.op == "gather_load" for node in kernel.nodes)
    )


def _is_once_per_row(kernel: LoopKernel, store: Store) -> bool:
    return kernel.is_row_value[store.node] and not store.access.strides[-1]


def _wide(dtype: DType) -> DType:
    return dtypes.float32 if dtype in HALF else dtype


def _part(
    kernel: LoopKernel, found: Sequence[int], cut: tuple[int, int, int], target: tuple[int, int]
) -> LoopKernel:
    """Reduces `count` parts of `chunk` elements from `first` on; results go to places from `place` on of `width`."""
    (first, count, chunk), (place, width) = cut, target
    outer = kernel.axes[:-1]

    def moved(strides: tuple[int, ...], offset: int) -> tuple[tuple[int, ...], int]:
        return (*strides[:-1], strides[-1] * chunk, strides[-1]), offset + first * strides[-1]

    nodes = [_moved(node, moved) for node in kernel.nodes[: max(found) + 1]]
    stores = []
    for slot, number in enumerate(found, len(kernel.buffers)):
        nodes, result = _reduced_wide(nodes, number)
        strides = (*(width * step for step in _row_strides(outer)), 1, 0)
        stores.append(Store(result, Access(slot, strides, place)))
    axes = (*outer, Axis(count), Axis(chunk, inner=True))
    return _pruned(kernel, axes, nodes, stores, found)


def _moved(node: Node, moved: _Move) -> Node:
    if isinstance(node.detail, Access):
        strides, offset = moved(node.detail.strides, node.detail.offset)
        return node._replace(detail=Access(node.detail.buffer, strides, offset))
    if isinstance(node.detail, Position):
        return node._replace(detail=Position(*moved(node.detail.strides, node.detail.offset)))
    return node


def _reduced_wide(nodes: list[Node], number: int) -> tuple[list[Node], int]:
    """The nodes with the reduction of one of them in float32 where it is in half precision, and where that is."""
    node = nodes[number]
    wide = _wide(node.dtype)
    if wide is node.dtype:
        return nodes, number
    cast = Node("cast", node.inputs, wide)
    return [*nodes, cast, Node(node.op, (len(nodes),), wide)], len(nodes) + 1


def _row_strides(axes: Sequence[Axis]) -> list[int]:
    strides: list[int] = []
    step = 1
    for axis in reversed(axes):
        strides.insert(0, step)
        step *= axis.size
    return strides


def _rest(kernel: LoopKernel, found: Sequence[int], width: int) -> LoopKernel:
    """Reduces the parts' results, and does what the kernel does with reductions."""
    nodes = list(kernel.nodes)
    places: dict[int, int] = {}
    outer = kernel.axes[:-1]
    strides = (*(width * step for step in _row_strides(outer)), 1)
    for slot, number in enumerate(found, len(kernel.buffers)):
        node = nodes[number]
        wide = _wide(node.dtype)
        nodes += [Node("load", (), wide, Access(slot, strides)), Node(node.op, (len(nodes),), wide)]
        if wide is not node.dtype:
            nodes.append(Node("cast", (len(nodes) - 1,), node.dtype))
        places[number] = len(nodes) - 1
    nodes = [
        node._replace(inputs=tuple(places.get(each, each) for each in node.inputs))
        if at < len(kernel.nodes)
        else node
        for at, node in enumerate(nodes)
    ]
    stores = [store._replace(node=places.get(store.node, store.node)) for store in kernel.stores]
    return _pruned(kernel, (*outer, Axis(width, inner=True)), nodes, stores, found)


def _pruned(
    kernel: LoopKernel,
    axes: tuple[Axis, ...],
    nodes: Sequence[Node],
    stores: Sequence[Store],
    found: Sequence[int],
) -> LoopKernel:
    """A kernel of the nodes that its stores need, each after its inputs."""
    order: dict[int, int] = {}
    made: list[Node] = []

    def visit(number: int) -> int:
        if number not in order:
            inputs = tuple(visit(operand) for operand in nodes[number].inputs)
            order[number] = len(made)
            made.append(nodes[number]._replace(inputs=inputs))
        return order[number]

    kept = [store._replace(node=visit(store.node)) for store in stores]
    buffers = (*kernel.buffers, *(_wide(kernel.nodes[number].dtype) for number in found))
    return LoopKernel(kernel.name, buffers, axes, tuple(made), tuple(kept), kernel.scalars)
