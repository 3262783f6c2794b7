"""Functions run on arguments that the tape knows: what all derivatives of functions begin with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from raxis.autograd.grad_mode import enable_grad, mode
from raxis.autograd.gradients import grad as gradients_of
from raxis.autograd.node import Gradients, Node, next_number
from raxis.autograd.record import constant_of
from raxis.func.levels import here, lifted
from raxis.tensor import Tensor, wrap
from raxis.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

Argnums = int | tuple[int, ...]


class _Alias(Node):
    """Backward of a second name for the same tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self.number = next_number()
        self.edges = [tensor._edge]
        self.result_layouts = (tensor._layout,)

    def apply(self, gradients: Gradients) -> Gradients:
        return gradients


def _tracked(leaf: Any) -> Tensor:
    """A tensor like `leaf` whose gradient can be asked for, and goes on to `leaf` if that requires grad."""
    if not isinstance(leaf, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
    tensor = lifted(leaf, here(leaf.device))
    if tensor._edge is None or not mode.enabled:
        return tensor.detach().requires_grad_()
    alias = wrap(tensor._storage, tensor._offset, tensor._layout)
    alias._edge = (_Alias(tensor), 0)
    return alias


class Traced:
    """One run of a function on tracked arguments.

    Args:
        func: takes the arguments.
        args: trees of tensors.
        has_aux: whether `func` returns a pair of which only the first is differentiated.

    Attributes:
        outputs: the leaves of what was returned.
        structure: the containers around them.
        aux: the second of the pair, as the caller gets it.
        inputs: the tracked leaves of the arguments.
        leads_outside: whether something outside that requires grad had a part.
    """

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], has_aux: bool = False) -> None:
        self._first_node = next_number()
        leaves, self._given = tree_flatten(args)
        self.inputs = [_tracked(leaf) for leaf in leaves]
        self._own: set[Node] = set()
        self.own(self.inputs)
        with enable_grad():
            returned = func(*tree_unflatten(self.inputs, self._given))
        self._last_node = next_number()
        self.aux: Any = None
        if has_aux:
            returned, self.aux = _pair(returned)
        leaves, self.structure = tree_flatten(returned)
        self.outputs: list[Tensor] = leaves
        self.leads_outside = mode.enabled and any(map(self._leads_outside, [*leaves, *tree_leaves(self.aux)]))
        self.aux = tree_map(self.shown, self.aux)

    def own(self, tensors: Iterable[Tensor]) -> None:
        """Let results not be on the tape because of these leaves."""
        self._own |= {tensor._edge[0] for tensor in tensors if tensor._edge is not None and tensor.is_leaf}

    def shown(self, leaf: Any) -> Any:
        """A leaf as the caller gets it: on the tape only if that leads to something outside."""
        if not isinstance(leaf, Tensor) or leaf._edge is None:
            return leaf
        return leaf if mode.enabled and self._leads_outside(leaf) else leaf.detach()

    def _leads_outside(self, leaf: Any) -> bool:
        """Whether a leaf depends on something that requires grad for another reason than the tracked arguments."""
        waiting = [leaf._edge[0]] if isinstance(leaf, Tensor) and leaf._edge is not None else []
        seen = set(self._own)
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            made_inside = (
                self._first_node < node.number < self._last_node
            )  # such as by transforms in the function
            if node.number < self._first_node or (node.is_accumulator and not made_inside):
                return True
            seen.add(node)
            waiting += [edge[0] for edge in node.edges if edge is not None]
        return False

    def result(self) -> Any:
        """What was returned."""
        return tree_unflatten([self.shown(leaf) for leaf in self.outputs], self.structure)

    def pull(
        self, cotangents: Sequence[Tensor], *, keep: bool = True, record: bool | None = None
    ) -> list[Tensor]:
        """The gradients of the arguments for those of the outputs.

        Args:
            cotangents: one for each output.
            keep: let it be asked for again.
            record: whether the gradients are to be differentiable; None: if something outside requires grad.
        """
        if record is None:
            record = mode.enabled and (self.leads_outside or any(item.requires_grad for item in cotangents))
        found = derived(self.outputs, self.inputs, cotangents, keep=keep or record, record=record)
        return [self.shown(gradient) for gradient in found]

    def as_arguments(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """Leaves in the containers of the arguments."""
        found: tuple[Any, ...] = tree_unflatten(leaves, self._given)
        return found


def _pair(returned: Any) -> tuple[Any, Any]:
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise RuntimeError(
            "a function with has_aux=True is expected to return a pair (output, aux), but returned "
            f"{type(returned).__name__}."
        )
    return returned


def derived(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    *,
    keep: bool,
    record: bool,
) -> list[Tensor]:
    """The gradients of `inputs`, zeros for those that the outputs do not depend on."""
    pairs = [(out, given) for out, given in zip(outputs, cotangents, strict=True) if out._edge is not None]
    found: Sequence[Tensor | None] = [None] * len(inputs)
    if pairs:
        found = gradients_of(
            [out for out, _ in pairs], inputs, [given for _, given in pairs], retain_graph=keep, create_graph=record,
            allow_unused=True,
        )  # fmt: skip
    return [
        constant_of(tensor._layout, 0) if gradient is None else gradient
        for tensor, gradient in zip(inputs, found, strict=True)
    ]


def require_tensors(name: str, leaves: Sequence[Any]) -> None:
    """Raise RuntimeError unless a function returned tensors, at least one."""
    others = [type(leaf).__name__ for leaf in leaves if not isinstance(leaf, Tensor)]
    if others or not leaves:
        raise RuntimeError(
            f"{name}(f, ...): Expected f to be a function that has non-empty output and only returns Tensors, but got "
            f"{', '.join(others) or 'nothing'}."
        )


class Chosen:
    """A function of those arguments only that it is differentiated for.

    Raises:
        RuntimeError: if `argnums` names no arguments.
    """

    def __init__(
        self, func: Callable[..., Any], argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._func = func
        self._single = isinstance(argnums, int)
        self._positions = _positions(argnums, len(args))
        self._args = args
        self._kwargs = kwargs
        self.arguments = tuple(args[position] for position in self._positions)

    def function(self, *chosen: Any) -> Any:
        """`func` with `chosen` among the other arguments."""
        args = list(self._args)
        for position, value in zip(self._positions, chosen, strict=True):
            args[position] = value
        return self._func(*args, **self._kwargs)

    def like_argnums(self, found: tuple[Any, ...]) -> Any:
        """One thing for each chosen argument, as the caller gets them."""
        return found[0] if self._single else found


def _positions(argnums: Any, count: int) -> tuple[int, ...]:
    given = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(given, tuple) or not all(isinstance(item, int) for item in given):
        raise RuntimeError(f"argnum should be of type int or Tuple[int, ...], got {type(argnums)}.")
    if not given:
        raise RuntimeError("argnums must not be an empty tuple.")
    if not all(-count <= item < count for item in given):
        raise RuntimeError(f"Got argnum={argnums}, but only {count} positional inputs.")
    positions = tuple(item % count for item in given)
    if len(set(positions)) < len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}.")
    return positions
