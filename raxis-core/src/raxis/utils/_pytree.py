"""Nested containers as flat lists of leaves, and back (the interface of PyTorch's ``torch.utils._pytree``)."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

Flatten = Callable[[Any], tuple[list[Any], Any]]
"""Gives the children, and a hashable context."""
Unflatten = Callable[[list[Any], Any], Any]


class NodeDef(NamedTuple):
    """How containers of one type come apart and together."""

    flatten: Flatten
    unflatten: Unflatten


class TreeSpec(NamedTuple):
    """The structure of a tree without its leaves; comparable and hashable if the containers' contexts are.

    Attributes:
        type: the container's type; None for a leaf.
        context: what besides the children makes up the container, such as the keys of a dict.
        children: the structures of its children.
    """

    type: type | None
    context: Hashable
    children: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        """How many leaves the tree has."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children)


LEAF = TreeSpec(None, None, ())
SUPPORTED_NODES: dict[type, NodeDef] = {}


def register_pytree_node(cls: type, flatten_fn: Flatten, unflatten_fn: Unflatten) -> None:
    """Let values of `cls` count as containers.

    Raises:
        ValueError: if it is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls.__name__} is registered as a pytree node already.")
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn)


def _dict_parts(value: dict[Any, Any]) -> tuple[list[Any], Hashable]:
    return list(value.values()), tuple(value)


def _default_dict_parts(value: defaultdict[Any, Any]) -> tuple[list[Any], Hashable]:
    return list(value.values()), (value.default_factory, tuple(value))


register_pytree_node(list, lambda value: (value, None), lambda leaves, _: list(leaves))
register_pytree_node(tuple, lambda value: (list(value), None), lambda leaves, _: tuple(leaves))
register_pytree_node(dict, _dict_parts, lambda leaves, keys: dict(zip(keys, leaves, strict=True)))
register_pytree_node(
    OrderedDict, _dict_parts, lambda leaves, keys: OrderedDict(zip(keys, leaves, strict=True))
)
register_pytree_node(
    defaultdict,
    _default_dict_parts,
    lambda leaves, context: defaultdict(context[0], zip(context[1], leaves, strict=True)),
)
register_pytree_node(deque, lambda value: (list(value), value.maxlen), deque)

_NAMED_TUPLE = NodeDef(lambda value: (list(value), type(value)), lambda leaves, cls: cls(*leaves))


def _definition(value: Any) -> NodeDef | None:
    found = SUPPORTED_NODES.get(type(value))
    if found is None and isinstance(value, tuple) and hasattr(value, "_fields"):
        return _NAMED_TUPLE
    return found


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """The leaves of nested containers in order, and the structure.

    Example:
        >>> from raxis.utils._pytree import tree_flatten
        >>> tree_flatten({"a": [1, 2], "b": 3})[0]
        [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _flatten_into(tree, leaves)


def _flatten_into(tree: Any, leaves: list[Any]) -> TreeSpec:
    definition = _definition(tree)
    if definition is None:
        leaves.append(tree)
        return LEAF
    parts, context = definition.flatten(tree)
    return TreeSpec(type(tree), context, tuple([_flatten_into(part, leaves) for part in parts]))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of a structure with these leaves.

    Raises:
        ValueError: if there are not as many leaves as the structure has.
    """
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten expected {treespec.num_leaves} leaves for this structure, but got {len(given)}."
        )
    return _unflatten(iter(given), treespec)


def _unflatten(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    parts = [_unflatten(leaves, child) for child in spec.children]
    definition = SUPPORTED_NODES.get(spec.type, _NAMED_TUPLE)
    return definition.unflatten(parts, spec.context)


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """The tree with every leaf replaced by ``func(leaf, *the same leaves of the other trees)``.

    Example:
        >>> from raxis.utils._pytree import tree_map
        >>> tree_map(lambda leaf: leaf * 2, (1, [2]))
        (2, [4])
    """
    leaves, spec = tree_flatten(tree)
    others = [tree_flatten(rest)[0] for rest in rests]
    return _unflatten(iter([func(*group) for group in zip(leaves, *others, strict=True)]), spec)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of nested containers in order."""
    return tree_flatten(tree)[0]
