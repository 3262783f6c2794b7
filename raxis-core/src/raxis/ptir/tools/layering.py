"""Layered layout of a directed acyclic graph (Sugiyama, Tagawa, Toda, 1981): layers, order, coordinates.

Nodes lie below what they depend on. Long edges pass through a point in every layer between, so that none runs
under a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

GAP = 18.0
"""Room between neighbours in a layer."""

_SWEEPS = 8
_POINT_WIDTH = 4.0
_TOLERANCE = 1e-9


class Edge(NamedTuple):
    """From the node `source` to the node `target`, which comes later."""

    source: int
    target: int


class Placement(NamedTuple):
    """Where the drawing goes.

    Attributes:
        centers: horizontal center of each node.
        layers: layer of each node.
        routes: for each edge, (center, layer) of its points from source to target.
        width: of everything.
    """

    centers: list[float]
    layers: list[int]
    routes: list[list[tuple[float, int]]]
    width: float


def place(widths: Sequence[float], edges: Sequence[Edge]) -> Placement:
    """Place nodes 0, 1, ... of these widths; every edge leads to a higher number.

    Example:
        >>> place([10, 10, 10], [Edge(0, 1), Edge(1, 2), Edge(0, 2)]).layers
        [0, 1, 2]
    """
    layers = _layers(len(widths), edges)
    graph = _Graph(widths, layers, edges)
    graph.order()
    centers = graph.coordinates()
    left = min((center - graph.widths[node] / 2 for node, center in enumerate(centers)), default=0.0)
    centers = [center - left for center in centers]
    right = max((center + graph.widths[node] / 2 for node, center in enumerate(centers)), default=0.0)
    routes = [[(centers[point], graph.layer_of[point]) for point in chain] for chain in graph.chains]
    return Placement(centers[: len(widths)], layers, routes, right)


def _layers(count: int, edges: Sequence[Edge]) -> list[int]:
    """Each node below its sources; those without sources just above their first target."""
    layers = [0] * count
    for edge in sorted(edges, key=lambda edge: edge.target):
        layers[edge.target] = max(layers[edge.target], layers[edge.source] + 1)
    targets: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        targets[edge.source].append(layers[edge.target])
    for node in set(range(count)) - {edge.target for edge in edges}:
        layers[node] = min(targets[node], default=1) - 1
    return layers


class _Graph:
    """Nodes and the points of long edges, layer by layer."""

    def __init__(self, widths: Sequence[float], layers: Sequence[int], edges: Sequence[Edge]) -> None:
        self.widths = list(widths)
        self.layer_of = list(layers)
        self.above: list[list[int]] = [[] for _ in widths]
        self.below: list[list[int]] = [[] for _ in widths]
        self.chains = [self._chain(edge) for edge in edges]
        depth = max(self.layer_of, default=-1) + 1
        self.rows: list[list[int]] = [[] for _ in range(depth)]
        for node, layer in enumerate(self.layer_of):
            self.rows[layer].append(node)

    def _chain(self, edge: Edge) -> list[int]:
        chain = [edge.source]
        for layer in range(self.layer_of[edge.source] + 1, self.layer_of[edge.target]):
            chain.append(self._point(layer))
        chain.append(edge.target)
        for upper, lower in pairwise(chain):
            self.below[upper].append(lower)
            self.above[lower].append(upper)
        return chain

    def _point(self, layer: int) -> int:
        self.widths.append(_POINT_WIDTH)
        self.layer_of.append(layer)
        self.above.append([])
        self.below.append([])
        return len(self.widths) - 1

    def order(self) -> None:
        """Few crossings: each node at the mean of its neighbours, downwards and upwards in turn."""
        places: dict[int, float] = {}
        for row in self.rows:
            places.update(_places(row))
        for sweep in range(_SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self.above if downwards else self.below
            for row in self.rows if downwards else reversed(self.rows):
                row.sort(key=_barycentre(neighbours, places))
                places.update(_places(row))

    def coordinates(self) -> list[float]:
        """Centers: near the mean of the neighbours, without overlaps."""
        centers = dict.fromkeys(range(len(self.widths)), 0.0)
        for sweep in range(_SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self.above if downwards else self.below
            for row in self.rows if downwards else reversed(self.rows):
                wanted = [_mean(neighbours[node], centers, centers[node]) for node in row]
                centers.update(zip(row, self._spread(row, wanted), strict=True))
        return [centers[node] for node in range(len(self.widths))]

    def _spread(self, row: Sequence[int], wanted: Sequence[float]) -> list[float]:
        """Centers in order and apart, as near to `wanted` as blocks of touching nodes allow."""
        blocks: list[tuple[float, int]] = []  # the wanted center of the first node, and how many there are
        offsets = [0.0]
        for left, right in pairwise(row):
            offsets.append(offsets[-1] + (self.widths[left] + self.widths[right]) / 2 + GAP)
        for aim, offset in zip(wanted, offsets, strict=True):
            mean, count = aim - offset, 1
            while blocks and blocks[-1][0] > mean - _TOLERANCE:
                before, size = blocks.pop()
                mean, count = (before * size + mean * count) / (size + count), size + count
            blocks.append((mean, count))
        starts = [mean for mean, count in blocks for _ in range(count)]
        return [start + offset for start, offset in zip(starts, offsets, strict=True)]


def _places(row: Sequence[int]) -> Iterator[tuple[int, float]]:
    """Where each node stands in its row, from 0 to 1."""
    return ((node, (position + 0.5) / len(row)) for position, node in enumerate(row))


def _barycentre(neighbours: Sequence[Sequence[int]], places: Mapping[int, float]) -> Callable[[int], float]:
    """The mean place of a node's neighbours, to sort by."""
    return lambda node: _mean(neighbours[node], places, places[node])


def _mean(nodes: Sequence[int], values: Mapping[int, float], otherwise: float) -> float:
    return sum(values[node] for node in nodes) / len(nodes) if nodes else otherwise
