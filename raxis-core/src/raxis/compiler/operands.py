"""Checks of what control flow is given and returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from raxis.compiler.breaks import RegionError
from raxis.compiler.recording import Recording, user_line
from raxis.compiler.signature import describe
from raxis.layout import Layout
from raxis.tensor import Tensor
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


def require_tensors(name: str, what: str, leaves: Iterable[Any]) -> None:
    """Raise RuntimeError unless all leaves are tensors, or layouts that stand for them."""
    other = next((leaf for leaf in leaves if not isinstance(leaf, (Tensor, Layout))), None)
    if other is not None:
        raise RuntimeError(
            f"{name} expected {what} to be tensors, but got {type(other).__name__}. Numbers become tensors by "
            "raxis.tensor(number)."
        )


def noted(recording: Recording, leaves: Sequence[Any]) -> list[Tensor]:
    """The tensors among the leaves, noted as operands.

    Raises:
        RegionError: if they live on several devices.
    """
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    devices = {leaf._layout.device: None for leaf in tensors}
    if recording.device is not None:
        devices[recording.device] = None
    if len(devices) > 1:
        raise RegionError(
            user_line(),
            f"several devices take part: {', '.join(str(device) for device in devices)}",
            "Move the tensors to one device first.",
        )
    for tensor in tensors:
        recording.note((tensor,), tensor._layout.device)
    return tensors


def check_carry(
    name: str,
    function: str,
    given: Sequence[Tensor],
    structure: TreeSpec,
    made: Sequence[Any],
    made_structure: TreeSpec,
) -> None:
    """Raise RuntimeError unless a carry that was made can be given to the next turn."""
    if structure != made_structure or kinds(given) != kinds(made):
        raise RuntimeError(
            f"{name} expected {function} to return a carry like the first one, {listed(given)}, in the same structure, "
            f"but got {listed(made)}. Shapes and dtypes must stay as they are."
        )


def kinds(leaves: Iterable[Any]) -> list[Any]:
    """What must agree of leaves: dtype and shape of tensors and layouts, other things as they are."""
    layouts = [leaf._layout if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    return [(item.dtype, item.shape) if isinstance(item, Layout) else item for item in layouts]


def listed(leaves: Iterable[Any]) -> str:
    """Leaves, or layouts that stand for them, as text."""
    texts = [
        f"{item.dtype.name}{list(item.shape)}" if isinstance(item, Layout) else describe([item])
        for item in leaves
    ]
    return f"({', '.join(texts)})"


def own(results: Any, given: Any) -> Any:
    """Results of which those that share memory with given tensors are copied."""
    storages = {id(leaf._storage) for leaf in tree_flatten(given)[0] if isinstance(leaf, Tensor)}
    leaves, structure = tree_flatten(results)
    copied = [
        leaf.clone() if isinstance(leaf, Tensor) and id(leaf._storage) in storages else leaf
        for leaf in leaves
    ]
    return tree_unflatten(copied, structure)
