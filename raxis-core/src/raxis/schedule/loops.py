"""Loop kernels: what the scheduler makes of programs, and what renderers print in a device's language.

A kernel runs over *axes*: outer ones first, then inner ones (the reduced axes; those of a row). At every outer
point it makes one pass over the inner axes for each level of reductions. Kernels are plain data; ``str(kernel)``
is exact, and kernels are equal when their texts are::

    kernel softmax(b0 float32, b1 float32)
      axes outer 8, inner 100
      n0 float32 = load b0[i0*100 + i1]
      n1 float32 = reduce_max n0
      n2 float32 = sub n0, n1
      n3 float32 = exp n2
      n4 float32 = reduce_sum n3
      n5 float32 = div n3, n4
      store n5 to b1[i0*100 + i1]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.ptir.attributes import Attribute, attribute_key

REDUCTIONS = frozenset(
    {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "argmax", "argmin"}
)
"""Node operations with one result per row. argmax and argmin give the flat position within the inner axes."""


class Axis(NamedTuple):
    """One loop; `inner` axes are passed over within every outer point."""

    size: int
    inner: bool = False


class Position(NamedTuple):
    """An affine position: `offset` plus, for every axis, index times stride. All in elements."""

    strides: tuple[int, ...]
    offset: int = 0


class Access(NamedTuple):
    """Elements of a buffer slot: one stride per axis (0 repeats, negative runs backwards)."""

    buffer: int
    strides: tuple[int, ...]
    offset: int = 0


class Gather(NamedTuple):
    """Elements at `access` plus index times `stride`, where the index must be in [0, `size`).

    `dim` is the dimension that the message of an IndexError names.
    """

    access: Access
    stride: int
    size: int
    dim: int


class Node(NamedTuple):
    """One value, computed from earlier nodes.

    `op` is the name of an elementwise primitive, a member of `REDUCTIONS` (one input), or one of

    - ``load`` (`detail` is an `Access`),
    - ``scalar`` (`detail` is the number of a by-value parameter),
    - ``constant`` (`detail` is a Python number),
    - ``index`` (int64; `detail` is the number of an axis),
    - ``gather_load`` (the input is the int64 index; `detail` is a `Gather`),
    - ``random`` (the inputs are key and offset, row values that no axis changes; `detail` is the `Position` of
      the element within the result of the primitive ``random_bits``; the dtype is int32 or int64).

    The primitives' semantics hold: every node rounds once to its dtype (float16 and bfloat16 ones by way of
    float32), and no index is out of range or integer divisor zero unless the kernel raises before any store.
    """

    op: str
    inputs: tuple[int, ...]
    dtype: DType
    detail: Any = None


class Store(NamedTuple):
    """Writes a node: once per outer point if it is a row value, else at every point.

    No store may write what a load of another point reads.
    """

    node: int
    access: Access


@dataclass(frozen=True, eq=False)
class LoopKernel:
    """A loop nest over buffers.

    Attributes:
        name: for messages, profiles and symbols; an identifier.
        buffers: dtype of every buffer slot.
        axes: outer ones first.
        nodes: values; inputs refer to earlier ones.
        stores: what is written, after all reads of the same point.
        scalars: dtype of every by-value parameter.

    Example:
        >>> from raxis import float32
        >>> row = Access(0, (1,))
        >>> nodes = (Node("load", (), float32, row), Node("exp", (0,), float32))
        >>> print(LoopKernel("exp", (float32, float32), (Axis(8),), nodes, (Store(1, Access(1, (1,))),)))
        kernel exp(b0 float32, b1 float32)
          axes outer 8
          n0 float32 = load b0[i0]
          n1 float32 = exp n0
          store n1 to b1[i0]
    """

    name: str
    buffers: tuple[DType, ...]
    axes: tuple[Axis, ...]
    nodes: tuple[Node, ...]
    stores: tuple[Store, ...]
    scalars: tuple[DType, ...] = ()

    @cached_property
    def text(self) -> str:
        """The exact text form."""
        slots = [f"b{number} {dtype.name}" for number, dtype in enumerate(self.buffers)]
        slots += [f"s{number} {dtype.name}" for number, dtype in enumerate(self.scalars)]
        axes = ", ".join(f"{'inner' if axis.inner else 'outer'} {axis.size}" for axis in self.axes)
        lines = [f"kernel {self.name}({', '.join(slots)})", f"  axes {axes or 'none'}"]
        lines += [
            f"  n{number} {node.dtype.name} = {_node_text(node)}" for number, node in enumerate(self.nodes)
        ]
        lines += [f"  store n{store.node} to {_access_text(store.access)}" for store in self.stores]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoopKernel) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def size(self) -> int:
        """The number of points."""
        return prod(axis.size for axis in self.axes)

    @cached_property
    def is_row_value(self) -> tuple[bool, ...]:
        """For every node, whether it is the same at all points of the inner axes."""
        found: list[bool] = []
        for node in self.nodes:
            found.append(
                node.op in REDUCTIONS
                or (all(found[number] for number in node.inputs) and not self._varies_in_row(node))
            )
        return tuple(found)

    def _varies_in_row(self, node: Node) -> bool:
        """Whether the node itself, whatever its inputs, depends on an inner axis."""
        if node.op == "index":
            return self.axes[node.detail].inner
        position = node.detail.access if node.op == "gather_load" else node.detail
        if not isinstance(position, (Access, Position)):
            return False
        return any(stride and axis.inner for stride, axis in zip(position.strides, self.axes, strict=True))

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """For every node, the number of reductions on its longest path from the loads."""
        found: list[int] = []
        for node in self.nodes:
            below = max((found[number] for number in node.inputs), default=0)
            found.append(below + (node.op in REDUCTIONS))
        return tuple(found)


def _node_text(node: Node) -> str:
    operands = [f"n{number}" for number in node.inputs]
    return f"{node.op} {', '.join(operands + _detail_texts(node))}".rstrip()


def _detail_texts(node: Node) -> list[str]:
    detail = node.detail
    if detail is None:
        return []
    if isinstance(detail, Access):
        return [_access_text(detail)]
    if isinstance(detail, Position):
        return [f"[{_position_text(detail.strides, detail.offset)}]"]
    if isinstance(detail, Gather):
        return [_access_text(detail.access), f"stride {detail.stride}, size {detail.size}, dim {detail.dim}"]
    prefix = {"scalar": "s", "index": "i"}.get(node.op)
    return [f"{prefix}{detail}" if prefix else _number_text(detail)]


def _number_text(number: Attribute) -> str:
    key = attribute_key(number)
    return key if isinstance(key, str) else " ".join(map(str, key[1:] if isinstance(key, tuple) else [key]))


def _access_text(access: Access) -> str:
    return f"b{access.buffer}[{_position_text(access.strides, access.offset)}]"


def _position_text(strides: tuple[int, ...], offset: int) -> str:
    terms = [
        f"i{axis}" if stride == 1 else f"i{axis}*{stride}" for axis, stride in enumerate(strides) if stride
    ]
    return " + ".join([*terms, str(offset)] if offset or not terms else terms)
