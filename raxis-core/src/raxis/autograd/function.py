"""Custom differentiable functions: subclasses of `Function`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from raxis.autograd import anomaly
from raxis.autograd.grad_mode import mode
from raxis.autograd.node import Gradients, Node, next_number
from raxis.autograd.record import constant_of, fit, freed
from raxis.autograd.saved import save, save_result, unpack
from raxis.dtypes import Category
from raxis.tensor import Tensor


class FunctionCtx:
    """What `forward` leaves for `backward`."""

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors (inputs, results or intermediates) for `backward`, with version checks."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs `forward` wrote in place; they must be among its results."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which results get no gradient."""
        self._non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (the default) or None for results without a gradient."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors given to `save_for_backward`.

        Raises:
            RuntimeError: if they were freed, or one was written in place since.
        """
        node = self._node()
        return () if node is None else node.saved_tensors()

    _to_save: Sequence[Tensor | None] = ()
    _dirty: Sequence[Tensor] = ()
    _non_differentiable: Sequence[Tensor] = ()
    _materialize: bool = True
    _node: weakref.ref[FunctionNode]
    """The node, which holds this object: a strong reference would be a cycle."""


class FunctionNode(Node):
    """The node of one call of a custom function."""

    def __init__(self, function: type[Function], ctx: FunctionCtx) -> None:
        self.number = next_number()
        self.function = function
        self.ctx = ctx
        self.saved: list[Any] | None = []
        self.positions: list[int] = []
        self.argument_count = 0
        self.argument_layouts: dict[int, Any] = {}

    def name(self) -> str:
        return f"{self.function.__name__}Backward"

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors kept for backward."""
        if self.saved is None:
            raise freed(self)
        return tuple(None if item is None else unpack(item, self) for item in self.saved)

    def apply(self, gradients: Gradients) -> Gradients:
        if self.ctx._materialize:
            gradients = [
                constant_of(layout, 0) if gradient is None and layout is not None else gradient
                for gradient, layout in zip(gradients, self.result_layouts, strict=True)
            ]
        returned = self.function._backward()(self.ctx, *gradients)
        results = returned if isinstance(returned, tuple) else (returned,)
        return self._by_edge(results)

    def _by_edge(self, results: Sequence[Any]) -> list[Tensor | None]:
        extra = results[self.argument_count :]
        if len(results) < self.argument_count or any(item is not None for item in extra):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {self.argument_count}, "
                f"got {len(results)})"
            )
        found = []
        for edge, position in zip(self.edges, self.positions, strict=True):
            gradient = results[position]
            if gradient is not None and not isinstance(gradient, Tensor):
                raise TypeError(
                    f"function {self.name()} returned a {type(gradient).__name__} as gradient {position}; expected a "
                    "Tensor or None."
                )
            found.append(None if edge is None or gradient is None else self._fitted(gradient, position))
        return found

    def _fitted(self, gradient: Tensor, position: int) -> Tensor:
        """The gradient in the shape and dtype of its argument."""
        own, layout = gradient._layout, self.argument_layouts[position]
        if own is layout:
            return gradient
        made = next(known for known in self.result_layouts if known is not None).device
        if made is not layout.device:
            gradient = made.gathered(gradient, layout.device)
            own = gradient._layout
        if own.device.base is not layout.device.base or not _reduces_to(own.shape, layout.shape):
            raise RuntimeError(
                f"Function {self.name()} returned an invalid gradient at index {position} - got "
                f"{list(own.shape)} on {own.device} but expected shape compatible with {list(layout.shape)} on "
                f"{layout.device}"
            )
        return fit(gradient, layout)


def _reduces_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `target` broadcasts to `shape`."""
    aligned = shape[len(shape) - len(target) :] if len(shape) >= len(target) else None
    return aligned is not None and all(
        wanted in (1, size) for size, wanted in zip(aligned, target, strict=True)
    )


class Function:
    """Base of custom differentiable functions.

    Subclasses define the static methods ``forward(ctx, *args)`` (or ``forward(*args)`` together with
    ``setup_context(ctx, inputs, output)``) and ``backward(ctx, *grads)``, which returns one gradient (or
    None) per argument of forward. Call them by ``apply``.

    Example:
        >>> import raxis
        >>> class Square(raxis.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (x,) = ctx.saved_tensors
        ...         return 2 * x * grad
        >>> x = raxis.tensor(3.0, requires_grad=True)
        >>> Square.apply(x).backward()
        >>> x.grad
        tensor(6.)
    """

    setup_context: Callable[..., Any] | None = None

    @staticmethod
    def forward(*arguments: Any) -> Any:
        """Compute the results; defined by the subclass."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    def __init__(self) -> None:
        raise RuntimeError(
            f"{type(self).__name__} should not be instantiated. Call {type(self).__name__}.apply(...) instead."
        )

    @classmethod
    def _backward(cls) -> Callable[..., Any]:
        for name in ("backward", "vjp"):
            found: Callable[..., Any] | None = getattr(cls, name, None)
            if found is not None:
                return found
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            f"backward mode AD; {cls.__name__} has neither."
        )

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        """Run `forward` unrecorded and put one node for it on the tape."""
        ctx = FunctionCtx()
        edges = [argument._edge if isinstance(argument, Tensor) else None for argument in arguments]
        recorded = mode.enabled and any(edge is not None for edge in edges)
        ctx.needs_input_grad = tuple(edge is not None and recorded for edge in edges)
        node = FunctionNode(cls, ctx)
        ctx._node = weakref.ref(node)
        returned = cls._forward(ctx, arguments)
        if recorded:
            return _attach(node, arguments, edges, returned)
        return returned

    @classmethod
    def _forward(cls, ctx: FunctionCtx, arguments: Sequence[Any]) -> Any:
        before = mode.enabled
        mode.enabled = False
        try:
            if cls.setup_context is None:
                return cls.forward(ctx, *arguments)
            returned = cls.forward(*arguments)
            cls.setup_context(ctx, arguments, returned)
            return returned
        finally:
            mode.enabled = before


def _attach(node: FunctionNode, arguments: Sequence[Any], edges: Sequence[Any], returned: Any) -> Any:
    """Give the results of `forward` their edges."""
    ctx = node.ctx
    several = isinstance(returned, (tuple, list))
    results = list(returned) if several else [returned]
    node.argument_count = len(arguments)
    node.positions = [i for i, argument in enumerate(arguments) if isinstance(argument, Tensor)]
    node.edges = [edges[position] for position in node.positions]
    node.argument_layouts = {position: arguments[position]._layout for position in node.positions}
    if anomaly.state.enabled:
        node.forward_line = anomaly.user_line()
    kept = [_own_result(ctx, arguments, result) for result in results]
    node.result_layouts = tuple(result._layout if isinstance(result, Tensor) else None for result in kept)
    node.saved = [_save(item, results, kept) for item in ctx._to_save]
    for position, result in enumerate(kept):
        if isinstance(result, Tensor):
            _set_edge(node, result, results, position)
    ctx._to_save = ctx._dirty = ctx._non_differentiable = ()  # a result held here would be a cycle
    return type(returned)(kept) if several else kept[0]


def _own_result(ctx: FunctionCtx, arguments: Sequence[Any], result: Any) -> Any:
    """An input returned unchanged becomes an alias, so that it can have an edge of its own."""
    if not isinstance(result, Tensor) or any(result is dirty for dirty in ctx._dirty):
        return result
    if any(result is argument for argument in arguments):
        return result.detach()
    return result


def _save(item: Tensor | None, raw: Sequence[Any], kept: Sequence[Any]) -> Any:
    if item is None:
        return None
    for position, (before, after) in enumerate(zip(raw, kept, strict=True)):
        if item is after or item is before:
            return save_result(after, position)
    return save(item)


def _set_edge(node: FunctionNode, tensor: Tensor, raw: Sequence[Any], position: int) -> None:
    ctx = node.ctx
    skipped = any(tensor is item or raw[position] is item for item in ctx._non_differentiable)
    if skipped or tensor._layout.dtype.category < Category.FLOAT:
        return
    tensor._edge = (node, position)
    if any(tensor is dirty for dirty in ctx._dirty):
        tensor._storage.version += 1
        tensor._rebased += 1


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for `backward` methods that must not be differentiated again."""

    def wrapped(ctx: FunctionCtx, *gradients: Any) -> Any:
        before = mode.enabled
        mode.enabled = False
        try:
            return backward(ctx, *gradients)
        finally:
            mode.enabled = before

    return wrapped
