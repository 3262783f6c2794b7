"""Tensors kept for backward, with the version they had.

Results are kept without their edge, which would close a reference cycle through their own node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raxis.autograd import saved_hooks
from raxis.tensor import Tensor, wrap

if TYPE_CHECKING:
    from raxis.autograd.node import Edge, Node
    from raxis.layout import Layout
    from raxis.storage import Storage


class SavedTensor:
    """A tensor as it was when saved.

    Attributes:
        tensor: the tensor; absent when hooks keep something else in its place.
        version: its storage's version then.
        position: the result position when the tensor is a result of the saving node, else None.
        hooked: what hooks keep, and the tensor's edge.
    """

    __slots__ = ("hooked", "position", "tensor", "version")
    tensor: Tensor
    version: int
    position: int | None
    hooked: tuple[Callable[[Any], Any], Any, Edge | None] | None


def save(tensor: Tensor) -> SavedTensor:
    """Keep an operand.

    Raises:
        RuntimeError: if the tensor was made in inference mode.
    """
    if tensor._inference:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
            "tensor and use it in autograd."
        )
    saved = SavedTensor()
    saved.tensor = tensor
    saved.version = tensor._storage.version
    saved.position = None
    saved.hooked = None
    if saved_hooks.stack.hooks:
        saved.hooked = _through_hooks(tensor)
        del saved.tensor
    return saved


def save_result(tensor: Tensor, position: int) -> SavedTensor:
    """Keep result `position` of the saving node."""
    saved = save(wrap(tensor._storage, tensor._offset, tensor._layout))
    saved.position = position
    return saved


def _through_hooks(tensor: Tensor) -> tuple[Callable[[Any], Any], Any, Edge | None]:
    pack, unpack_hook = saved_hooks.stack.hooks[-1]
    return unpack_hook, pack(tensor), tensor._edge


def unpack(saved: Any, node: Node) -> Any:
    """A saved tensor again, with its edge; a list of them as a tuple.

    Unless hooks keep something else in its place, an operand is saved as the pair (tensor, version), a result as
    (storage, version, offset, layout, position).

    Raises:
        RuntimeError: if the tensor was written in place since it was saved.
    """
    if type(saved) is tuple:
        return _unpack_operand(saved, node) if len(saved) == 2 else _unpack_result(saved, node)
    if isinstance(saved, SavedTensor):
        return _restored(saved, node)
    return None if saved is None else tuple(unpack(item, node) for item in saved)


def _unpack_operand(saved: tuple[Tensor, int], node: Node) -> Tensor:
    tensor, version = saved
    if tensor._storage.version != version:
        raise RuntimeError(_overwritten(tensor, version, None, node))
    return tensor


def _unpack_result(saved: tuple[Storage, int, int, Layout, int], node: Node) -> Tensor:
    storage, version, offset, layout, position = saved
    result = wrap(storage, offset, layout)
    if storage.version != version:
        raise RuntimeError(_overwritten(result, version, position, node))
    result._edge = (node, position)
    return result


def _restored(saved: SavedTensor, node: Node) -> Tensor:
    if saved.hooked is not None:
        return _from_hook(saved, node)
    tensor = saved.tensor
    if tensor._storage.version != saved.version:
        raise RuntimeError(_overwritten(tensor, saved.version, saved.position, node))
    if saved.position is None:
        return tensor
    result = wrap(tensor._storage, tensor._offset, tensor._layout)
    result._edge = (node, saved.position)
    return result


def _from_hook(saved: SavedTensor, node: Node) -> Tensor:
    """What the unpack hook returns, with the edge of the tensor that was saved."""
    assert saved.hooked is not None  # checked by the caller
    unpack_hook, packed, edge = saved.hooked
    found = unpack_hook(packed)
    if not isinstance(found, Tensor):
        raise TypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got {type(found).__name__}."
        )
    alias = wrap(found._storage, found._offset, found._layout)
    alias._edge = edge if saved.position is None else (node, saved.position)
    return alias


def _overwritten(tensor: Tensor, version: int, position: int | None, node: Node) -> str:
    role = (
        f"which is output {position} of {node.name()}" if position is not None else f"needed by {node.name()}"
    )
    where = (
        f" The forward line was: {node.forward_line}."
        if node.forward_line
        else (
            " Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "raxis.autograd.set_detect_anomaly(True)."
        )
    )
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor.dtype} {list(tensor._layout.shape)}], {role}, is at version {tensor._storage.version}; expected "
        f"version {version} instead.{where}"
    )
