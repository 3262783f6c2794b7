"""How large the values of a loop kernel's nodes can be, where it shows from how they are made."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan

from raxis.dtypes import Category
from raxis.schedule.loops import Node


def bound(nodes: Sequence[Node], number: int) -> float:
    """An upper bound of the magnitudes of node `number`; infinity if none is known.

    Example:
        >>> from raxis import float32, int32
        >>> bits = Node("load", (), int32), Node("constant", (), int32, 7), Node("and", (0, 1), int32)
        >>> bound([*bits, Node("cast", (2,), float32)], 3)
        7.0
    """
    node = nodes[number]
    match node.op:
        case "constant" if not node.dtype.is_complex:
            size = abs(float(node.detail))
            return inf if isnan(size) else size
        case "and" if node.dtype.category is Category.INTEGER:
            masks = [
                float(nodes[operand].detail) for operand in node.inputs if nodes[operand].op == "constant"
            ]
            return min((mask for mask in masks if mask >= 0), default=inf)
        case "cast" if (
            node.dtype.is_floating_point and nodes[node.inputs[0]].dtype.category is Category.INTEGER
        ):
            return bound(nodes, node.inputs[0])
        case "mul" if node.dtype.is_floating_point:
            left, right = (bound(nodes, operand) for operand in node.inputs)
            return inf if inf in (left, right) else left * right
    return inf
