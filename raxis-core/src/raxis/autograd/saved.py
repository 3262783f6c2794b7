"""Tensors kept for backward, with the version they had.

Results are kept without their edge, which would close a reference cycle through their own node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raxis.autograd.saved_hooks import current_hooks
from raxis.tensor import Tensor, wrap

if TYPE_CHECKING:
    from raxis.autograd.node import Edge, Node


class SavedTensor:
    """A tensor as it was when saved.

    `position` is the result position when the tensor is a result of the saving node, else None.
    """

    __slots__ = ("edge", "packed", "position", "tensor", "unpack_hook", "version")

    def __init__(self, tensor: Any, version: int, position: int | None) -> None:
        self.tensor = tensor
        self.version = version
        self.position = position
        self.unpack_hook: Callable[[Any], Any] | None = None
        self.packed: Any = None
        self.edge: Edge | None = None
        """The tensor's edge, when hooks keep something else in its place."""


def save(tensor: Tensor, node: Node | None = None, position: int | None = None) -> SavedTensor:
    """Keep `tensor`; give `node` and `position` when it is that node's own result.

    Raises:
        RuntimeError: if the tensor was made in inference mode.
    """
    if tensor._inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
            "tensor and use it in autograd."
        )
    if position is not None:
        tensor = wrap(tensor._storage, tensor._offset, tensor._layout)
    saved = SavedTensor(tensor, tensor._storage.version, position)
    hooks = current_hooks()
    if hooks is not None:
        pack, saved.unpack_hook = hooks
        saved.edge = tensor._edge
        saved.packed = pack(tensor)
        saved.tensor = None
    return saved


def unpack(saved: Any, node: Node) -> Any:
    """The tensor again, with its edge.

    Raises:
        RuntimeError: if the tensor was written in place since it was saved.
    """
    if isinstance(saved, tuple):
        return tuple(unpack(item, node) if isinstance(item, SavedTensor) else item for item in saved)
    if saved.unpack_hook is not None:
        return _from_hook(saved, node)
    tensor: Tensor = saved.tensor
    if tensor._storage.version != saved.version:
        raise RuntimeError(_overwritten(tensor, saved, node))
    if saved.position is None:
        return tensor
    result = wrap(tensor._storage, tensor._offset, tensor._layout)
    result._edge = (node, saved.position)
    return result


def _from_hook(saved: SavedTensor, node: Node) -> Tensor:
    """What the unpack hook returns, with the edge of the tensor that was saved."""
    assert saved.unpack_hook is not None  # checked by the caller
    found = saved.unpack_hook(saved.packed)
    if not isinstance(found, Tensor):
        raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got {type(found).__name__}.")
    alias = wrap(found._storage, found._offset, found._layout)
    alias._edge = saved.edge if saved.position is None else (node, saved.position)
    return alias


def _overwritten(tensor: Tensor, saved: SavedTensor, node: Node) -> str:
    role = f"which is output {saved.position} of {node.name()}" if saved.position is not None else f"needed by {node.name()}"
    where = f" The forward line was: {node.forward_line}." if node.forward_line else (
        " Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "raxis.autograd.set_detect_anomaly(True)."
    )
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor.dtype} {list(tensor._layout.shape)}], {role}, is at version {tensor._storage.version}; expected "
        f"version {saved.version} instead.{where}"
    )
