"""Simpler loops for the same kernel: no axes of size 1, long inner runs, adjacent axes merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raxis.schedule.loops import Access, Axis, Gather, LoopKernel, Node, Position, Store

Rewrite = Callable[[tuple[int, ...]], tuple[int, ...]]


def normalised(kernel: LoopKernel) -> LoopKernel:
    """An equivalent kernel with as few axes as its accesses allow, the densest axis of each kind last."""
    kernel = _with_axes(kernel, _dropped(kernel))
    kernel = _with_axes(kernel, _sorted(kernel))
    return _merged(kernel)


def _strides(kernel: LoopKernel) -> list[tuple[int, ...]]:
    """The strides of everything the kernel touches, stores first."""
    found = [store.access.strides for store in kernel.stores]
    for node in kernel.nodes:
        if isinstance(node.detail, Gather):
            found.append(node.detail.access.strides)
        elif isinstance(node.detail, (Access, Position)):
            found.append(node.detail.strides)
    return found


def _indexed(kernel: LoopKernel) -> set[int]:
    """Axes whose index is itself a value: they cannot be merged."""
    return {node.detail for node in kernel.nodes if node.op == "index"}


def _dropped(kernel: LoopKernel) -> list[int]:
    used = _indexed(kernel)
    return [number for number, axis in enumerate(kernel.axes) if axis.size != 1 or number in used]


def _sorted(kernel: LoopKernel) -> list[int]:
    """Outer axes by falling stride of the first access that has one, then inner axes likewise.

    argmax counts positions within the inner axes in their order, and so keeps it.
    """
    strides = _strides(kernel)
    fixed_inner = any(node.op in ("argmax", "argmin") for node in kernel.nodes)

    def reach(number: int) -> tuple[int, ...]:
        return tuple(-abs(item[number]) for item in strides)

    numbers = range(len(kernel.axes))
    outer = sorted((number for number in numbers if not kernel.axes[number].inner), key=reach)
    inner = [number for number in numbers if kernel.axes[number].inner]
    loads_first = sorted(inner, key=lambda number: tuple(-abs(item[number]) for item in strides if any(item)))
    return outer + (inner if fixed_inner else loads_first)


def _with_axes(kernel: LoopKernel, order: Sequence[int]) -> LoopKernel:
    """The kernel with the axes `order` of its axes; the others must have size 1."""
    if list(order) == list(range(len(kernel.axes))):
        return kernel

    def pick(strides: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(strides[number] for number in order)

    places = {number: place for place, number in enumerate(order)}
    return _rewritten(kernel, tuple(kernel.axes[number] for number in order), pick, places)


def _merged(kernel: LoopKernel) -> LoopKernel:
    """Merge neighbours that every access runs through as one."""
    position = len(kernel.axes) - 2
    while position >= 0:
        if _mergeable(kernel, position):
            kernel = _merge(kernel, position)
        position -= 1
    return kernel


def _mergeable(kernel: LoopKernel, first: int) -> bool:
    one, two = kernel.axes[first], kernel.axes[first + 1]
    if one.inner != two.inner or {first, first + 1} & _indexed(kernel):
        return False
    return all(strides[first] == strides[first + 1] * two.size for strides in _strides(kernel))


def _merge(kernel: LoopKernel, first: int) -> LoopKernel:
    one, two = kernel.axes[first], kernel.axes[first + 1]
    axes = (*kernel.axes[:first], Axis(one.size * two.size, one.inner), *kernel.axes[first + 2 :])
    places = {number: number if number <= first else number - 1 for number in range(len(kernel.axes))}
    return _rewritten(kernel, axes, lambda strides: (*strides[:first], *strides[first + 1 :]), places)


def _rewritten(
    kernel: LoopKernel, axes: tuple[Axis, ...], change: Rewrite, places: dict[int, int]
) -> LoopKernel:
    def access(item: Access) -> Access:
        return item._replace(strides=change(item.strides))

    def node(item: Node) -> Node:
        detail = item.detail
        if item.op == "index":
            detail = places[detail]
        elif isinstance(detail, Gather):
            detail = detail._replace(access=access(detail.access))
        elif isinstance(detail, (Access, Position)):
            detail = detail._replace(strides=change(detail.strides))
        return item._replace(detail=detail)

    nodes = tuple(node(item) for item in kernel.nodes)
    stores = tuple(Store(store.node, access(store.access)) for store in kernel.stores)
    return LoopKernel(kernel.name, kernel.buffers, axes, nodes, stores, kernel.scalars)
