"""Derivatives of functions: `grad`, `grad_and_value`, `vjp`, `jvp`, `linearize`.

A function runs on copies of its arguments that the tape knows; nesting is what the tape does with them. Forward mode is
the derivative of the gradient with respect to its cotangent, in which it is linear: exact, at the price of a backward
pass that is recorded (J. Townsend, A new trick for calculating Jacobian vector products, 2017).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd.grad_mode import enable_grad, mode, no_grad
from raxis.autograd.gradients import grad as gradients_of
from raxis.autograd.node import Gradients, Node, next_number
from raxis.autograd.record import constant_of
from raxis.dtypes import Category
from raxis.func.levels import here, lifted
from raxis.tensor import Tensor, wrap
from raxis.utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten

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
        first = next_number()
        leaves, self._given = tree_flatten(args)
        self.inputs = [_tracked(leaf) for leaf in leaves]
        with enable_grad():
            returned = func(*tree_unflatten(self.inputs, self._given))
        self.aux: Any = None
        if has_aux:
            returned, self.aux = _pair(returned)
        leaves, self.structure = tree_flatten(returned)
        self.outputs: list[Tensor] = leaves
        shown = [*leaves, *tree_flatten(self.aux)[0]]
        self.leads_outside = mode.enabled and _leads_outside(self.inputs, shown, first)
        self.aux = tree_map(self.shown, self.aux)

    def shown(self, leaf: Any) -> Any:
        """A leaf as the caller gets it: on the tape only if that leads to something outside."""
        return leaf if self.leads_outside or not isinstance(leaf, Tensor) else leaf.detach()

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
        return derived(self.outputs, self.inputs, cotangents, keep=keep or record, record=record)

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


def _leads_outside(inputs: Sequence[Tensor], outputs: Sequence[Any], first: int) -> bool:
    """Whether outputs depend on something that required grad before the function ran."""
    nodes = {tensor._edge[0] for tensor in inputs if tensor._edge is not None}
    if any(not node.is_accumulator for node in nodes):
        return True
    waiting = [leaf._edge[0] for leaf in outputs if isinstance(leaf, Tensor) and leaf._edge is not None]
    while waiting:
        node = waiting.pop()
        if node in nodes:
            continue
        if node.number < first:
            return True
        nodes.add(node)
        waiting += [edge[0] for edge in node.edges if edge is not None]
    return False


def require_tensors(name: str, leaves: Sequence[Any]) -> None:
    """Raise RuntimeError unless a function returned tensors, at least one."""
    others = [type(leaf).__name__ for leaf in leaves if not isinstance(leaf, Tensor)]
    if others or not leaves:
        raise RuntimeError(
            f"{name}(f, ...): Expected f to be a function that has non-empty output and only returns Tensors, but got "
            f"{', '.join(others) or 'nothing'}."
        )


# ---- reverse mode --------------------------------------------------------------------------------------


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of `func`, which returns one number.

    Args:
        func: returns a tensor without dimensions.
        argnums: for which positional arguments; a tuple gives a tuple of gradients.
        has_aux: `func` returns a pair ``(output, aux)``; the result is ``(gradient, aux)``.

    Raises:
        RuntimeError: on a call, if `func` returns something else, or there are fewer arguments.

    Example:
        >>> import raxis
        >>> from raxis.func import grad
        >>> grad(raxis.sin)(raxis.tensor(0.0))
        tensor(1.)
        >>> grad(grad(lambda x: x ** 3))(raxis.tensor(2.0))
        tensor(12.)
    """

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        gradient, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derivative


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Like `grad`; the function gives the pair ``(gradient, value)``, with `has_aux` ``(gradient, (value, aux))``.

    Example:
        >>> import raxis
        >>> raxis.func.grad_and_value(lambda x: (x * x).sum())(raxis.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        chosen = Chosen(func, argnums, args, kwargs)
        traced = Traced(chosen.function, chosen.arguments, has_aux)
        output = _number(traced)
        gradients = traced.pull([constant_of(output._layout, 1)], keep=False)
        found = chosen.like_argnums(traced.as_arguments(gradients))
        value = traced.result()
        return found, ((value, traced.aux) if has_aux else value)

    return derivative


def _number(traced: Traced) -> Tensor:
    """The one output."""
    output = traced.outputs[0] if traced.structure.type is None else traced.structure
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got {type(traced.result()).__name__}"
        )
    if output.ndim:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
            f"{output.ndim} dims. Maybe you forgot to reduce it?"
        )
    return output


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


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of `func`, and the function that multiplies its Jacobian by a cotangent from the left.

    Args:
        func: takes and returns tensors or containers of them.
        primals: the arguments.
        has_aux: `func` returns a pair ``(output, aux)``.

    Returns:
        ``(output, vjp_fn)``, or ``(output, vjp_fn, aux)``. ``vjp_fn`` takes one tree of cotangents like the output, and
        gives the gradient of the argument, or a tuple of those of several.

    Raises:
        RuntimeError: if `func` returns other things, or cotangents do not fit the output.

    Example:
        >>> import raxis
        >>> output, pull = raxis.func.vjp(lambda x: x * x, raxis.tensor([1.0, 2.0]))
        >>> pull(raxis.ones(2))
        (tensor([2., 4.]),)
    """
    traced = Traced(func, primals, has_aux)
    require_tensors("vjp", traced.outputs)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        found = traced.pull(_like_outputs(traced, cotangents), keep=retain_graph, record=create_graph)
        return traced.as_arguments(found)

    return (traced.result(), pull, traced.aux) if has_aux else (traced.result(), pull)


def _like_outputs(traced: Traced, cotangents: Any) -> list[Tensor]:
    leaves, structure = tree_flatten(cotangents)
    if structure != traced.structure:
        raise RuntimeError(
            f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
            f"cotangents: {structure}, primal output: {traced.structure}"
        )
    return leaves


# ---- forward mode --------------------------------------------------------------------------------------


class _Linear:
    """The Jacobian of a traced function as a linear function of tangents."""

    def __init__(self, traced: Traced, record: bool) -> None:
        self._traced = traced
        self._record = record
        with no_grad():
            zeros = [constant_of(output._layout, 0) for output in traced.outputs]
        floats = [output._edge is not None for output in traced.outputs]
        self._cotangents = [
            zero.requires_grad_() if tracked else zero for zero, tracked in zip(zeros, floats, strict=True)
        ]
        with enable_grad():
            self._gradients = traced.pull(self._cotangents, record=True)

    def __call__(self, tangents: Sequence[Tensor], *, keep: bool) -> list[Tensor]:
        """The tangents of the outputs."""
        wanted = [item for item in self._cotangents if item._edge is not None]
        record = self._record or (mode.enabled and any(tangent.requires_grad for tangent in tangents))
        found = iter(
            derived(self._gradients, wanted, tangents, keep=keep or record, record=record) if wanted else ()
        )
        return [next(found) if item._edge is not None else item for item in self._cotangents]


def pushing(traced: Traced) -> _Linear:
    """What multiplies the Jacobian of a traced function by tangents."""
    return _Linear(traced, record=mode.enabled and traced.leads_outside)


def jvp(
    func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The value of `func`, and its Jacobian times a tangent: the directional derivative.

    Args:
        func: takes and returns tensors or containers of them.
        primals: the arguments.
        tangents: one for each, of its structure and shapes.
        strict: raise if an output does not depend on the primals, instead of giving zeros.
        has_aux: `func` returns a pair ``(output, aux)``; the result is ``(output, tangent, aux)``.

    Raises:
        RuntimeError: if primals are no tuple or tangents do not fit them.

    Example:
        >>> import raxis
        >>> raxis.func.jvp(raxis.sin, (raxis.tensor(0.0),), (raxis.tensor(2.0),))
        (tensor(0.), tensor(2.))
    """
    leaves = _checked_tangents(primals, tangents)
    traced = Traced(func, primals, has_aux)
    require_tensors("jvp", traced.outputs)
    if strict and any(output._edge is None for output in traced.outputs):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed "
            "with strict=True."
        )
    pushed = pushing(traced)(leaves, keep=False)
    tangent = tree_unflatten(pushed, traced.structure)
    return (traced.result(), tangent, traced.aux) if has_aux else (traced.result(), tangent)


def _checked_tangents(primals: Any, tangents: Any) -> list[Tensor]:
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to be tuples, but got "
            f"{type(primals).__name__} and {type(tangents).__name__}. E.g. it should be valid to call f(*primals)."
        )
    given, structure = tree_flatten(primals)
    check_primals("jvp", given)
    return fitting_tangents(given, structure, tangents)


def check_primals(name: str, primals: Sequence[Any]) -> None:
    """Raise unless forward mode can differentiate for these.

    Raises:
        RuntimeError: if one is no tensor.
        ValueError: if one is of an integer dtype.
    """
    for primal in primals:
        if not isinstance(primal, Tensor):
            raise RuntimeError(f"{name}: Expected primals to only contain Tensors, got {type(primal)}")
        if primal.dtype.category < Category.FLOAT:
            raise ValueError(
                f"{name}: Expected primal to be floating point or complex, but got: {primal.dtype}"
            )


def fitting_tangents(primals: Sequence[Any], structure: TreeSpec, tangents: Any) -> list[Tensor]:
    """The leaves of tangents.

    Raises:
        RuntimeError: if they do not fit the primals.
    """
    leaves, own = tree_flatten(tangents)
    if own != structure:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure, but got "
            f"primals with structure {structure} and tangents with structure {own}."
        )
    for primal, tangent in zip(primals, leaves, strict=True):
        if not isinstance(tangent, Tensor) or tangent.shape != primal.shape:
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected a tangent to be a tensor of its primal's shape, "
                f"{list(primal.shape)}, but got "
                f"{list(tangent.shape) if isinstance(tangent, Tensor) else type(tangent).__name__}."
            )
    return leaves


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `func`, and the function that multiplies its Jacobian by tangents; `func` runs once.

    Example:
        >>> import raxis
        >>> output, push = raxis.func.linearize(lambda x: x * x, raxis.tensor([1.0, 2.0]))
        >>> push(raxis.ones(2))
        tensor([2., 4.])
    """
    given, structure = tree_flatten(primals)
    check_primals("linearize", given)
    traced = Traced(func, primals)
    require_tensors("linearize", traced.outputs)
    linear = pushing(traced)

    def push(*tangents: Any) -> Any:
        leaves = fitting_tangents(given, structure, tangents)
        return tree_unflatten(linear(leaves, keep=True), traced.structure)

    return traced.result(), push
