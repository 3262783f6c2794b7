"""The op table: one record per op, from which functions, methods, stubs and docs are derived.

An op's body is written in one of three ways:

`lowered`
    in primitives, on traced tensors; gives shape and dtype rule and program at once, and has a `vjp`,
`composed`
    in other ops; needs no derivative of its own,
`viewed`
    as stride arithmetic; shares storage with its operand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from types import MappingProxyType
from typing import Any

from raxis.ops.promotion import Promotion
from raxis.ops.schema import Parameter, Schema, parse


class Effect(Enum):
    """What an op does besides computing its result."""

    PURE = "pure"
    RANDOM = "random"
    WRITES = "writes"


class Kind(Enum):
    """In which way the body of an op is written."""

    LOWERED = "lowered"
    COMPOSED = "composed"
    VIEWED = "viewed"


Exactness = bool | Callable[..., bool]

INTERNAL: Mapping[str, Any] = MappingProxyType({"method": False, "function": False, "out": False})
"""Options of ops that only other ops are made of."""


class Formula:
    """The derivative with respect to the arguments `targets`.

    The function's parameter names say what is kept for backward: see docs/architecture.md.
    """

    __slots__ = ("function", "targets")

    def __init__(self, targets: str | tuple[str, ...], function: Callable[..., Any]) -> None:
        self.targets = (targets,) if isinstance(targets, str) else targets
        self.function = function

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the function's parameters."""
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount]


class Op:
    """One record of the table.

    Args:
        signature: the schema's text; parsed when first needed, so that importing the table stays cheap.
        kind: in which way `body` is written.
        body: the lowering, the composition or the stride arithmetic; its docstring is the op's.
        vjp: the derivative formulas.
        promotion: how the computation dtype is chosen.
        promoted: the parameters that take part; default: all tensors.
        effect: what the op does besides computing its result.
        lower: for views: the op on values, used while tracing.
        composite: whether backends may claim the op by name.
        method: whether tensors have it as a method.
        attribute: whether the method is a property of tensors (``x.T``).
        function: whether it is a function of `namespace`.
        inplace: whether there is an ``op_`` form.
        out: whether the function takes ``out=``.
        apart: whether ``out=`` must share no memory with an operand, and none among its own elements.
        exact: whether ``out=`` must have the result's dtype, or a function that tells it from `out` and those
            arguments that its parameters name; default: if operands are not brought to a common dtype.
        adopts: whether an absent `dtype` is that of ``out=``.
        refusal: what an ``out=`` that results cannot be cast to raises.
        creates: whether a composed op's body returns a function that makes the tensor, see `raxis.ops.creating`.
        operator: the Python operator served, such as ``__add__``; binary ones serve the reflected and in-place
            forms too.
        namespace: the module the function belongs to.
        aliases: other names of the same function and methods (``absolute`` for ``abs``).
        check: raises for operands that promotion would hide; gets the arguments that its parameters name,
            at cache misses only, so it may look at dtypes, shapes, types of numbers and static values.
    """

    def __init__(
        self,
        signature: str,
        kind: Kind,
        body: Callable[..., Any],
        *,
        vjp: Vjp | None = None,
        promotion: Promotion = Promotion.NONE,
        promoted: tuple[str, ...] | None = None,
        effect: Effect = Effect.PURE,
        lower: Callable[..., Any] | None = None,
        composite: bool = False,
        method: bool = True,
        attribute: bool = False,
        function: bool = True,
        inplace: bool = False,
        out: bool = True,
        apart: bool = False,
        exact: Exactness | None = None,
        adopts: bool = False,
        refusal: type[Exception] = RuntimeError,
        creates: bool = False,
        operator: str = "",
        namespace: str = "raxis",
        aliases: tuple[str, ...] = (),
        check: Callable[..., None] | None = None,
    ) -> None:
        self.name = signature[: signature.index("(")]
        self.signature = signature
        self.kind = kind
        self.body = body
        self.vjp = tuple([Formula(targets, formula) for targets, formula in (vjp or {}).items()])
        self.promotion = promotion
        self.effect = effect
        self.lower = lower
        self.composite = composite
        self.method = method
        self.attribute = attribute
        self.function = function
        self.inplace = inplace
        self.out = out
        self.apart = apart
        self.adopts = adopts
        self.refusal = refusal
        self.creates = creates
        self.operator = operator
        self.namespace = namespace
        self.aliases = aliases
        self.check = check
        self.plans: dict[Any, Any] = {}
        self.inplace_plans: dict[Any, Any] = {}
        self.out_plans: dict[Any, Any] = {}
        self.tables = (self.plans, self.inplace_plans, self.out_plans)
        self._promoted = promoted
        self._exact = exact

    @cached_property
    def schema(self) -> Schema:
        """The parsed signature."""
        return parse(self.signature)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The schema's parameters."""
        return self.schema.parameters

    @cached_property
    def promoted(self) -> tuple[str, ...]:
        """Names of the parameters that take part in promotion."""
        if self._promoted is not None:
            return self._promoted
        return tuple(parameter.name for parameter in self.parameters if parameter.is_tensor)

    @cached_property
    def exact(self) -> Exactness:
        """Whether ``out=`` must have the result's dtype, or what tells it."""
        if self._exact is not None:
            return self._exact
        alone = self.promotion is Promotion.ARITHMETIC and len(self.promoted) == 1
        return alone or self.promotion is Promotion.NONE

    @property
    def public_name(self) -> str:
        """The name for messages: an internal op goes by the name of the op it serves."""
        return self.name.lstrip("_")

    @property
    def doc(self) -> str:
        """The docstring, without its indentation."""
        return inspect.cleandoc(self.body.__doc__ or "")

    def __repr__(self) -> str:
        return f"<op {self.signature}>"


Vjp = Mapping[str | tuple[str, ...], Callable[..., Any]]
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

OPS: dict[str, Op] = {}
"""Every op, by ``name`` in namespace raxis or ``namespace.name`` elsewhere."""


def qualified_name(op: Op) -> str:
    """The op's key in `OPS`: unqualified in the main namespace."""
    prefix = op.namespace.removeprefix("raxis").lstrip(".")
    return f"{prefix}.{op.name}" if prefix else op.name


def lowered(
    schema: str, *, vjp: Vjp | None = None, promotion: Promotion = Promotion.NONE, **options: Any
) -> Decorator:
    """Register an op whose body emits primitives on traced tensors (its docstring becomes the op's)."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        return register(schema, Kind.LOWERED, body, vjp=vjp, promotion=promotion, **options)

    return decorate


def composed(schema: str, **options: Any) -> Decorator:
    """Register an op written in other ops."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        return register(schema, Kind.COMPOSED, body, **options)

    return decorate


def created(schema: str, **options: Any) -> Decorator:
    """Register a creation op; its body returns a function that makes the tensor."""
    return composed(schema, out=False, creates=True, **options)


def viewed(schema: str, *, lower: Callable[..., Any], vjp: Vjp, **options: Any) -> Decorator:
    """Register a view op; the body maps (layout, static arguments) to (shape, strides, offset step)."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        return register(schema, Kind.VIEWED, body, lower=lower, vjp=vjp, out=False, **options)

    return decorate


def elementwise(
    schema: str,
    primitive: str,
    doc: str,
    *,
    promotion: Promotion = Promotion.ARITHMETIC,
    vjp: Vjp | None = None,
    inplace: bool = True,
    **options: Any,
) -> Callable[..., Any]:
    """Register an op that is one primitive on its promoted operands."""

    def body(**operands: Any) -> Any:
        from raxis.ops.trace import emit

        return emit(primitive, *operands.values())

    body.__doc__ = doc
    return register(schema, Kind.LOWERED, body, vjp=vjp, promotion=promotion, inplace=inplace, **options)


def register(schema: str, kind: Kind, body: Callable[..., Any], **options: Any) -> Any:
    """Make the record, its function and its methods; the function is returned."""
    op = Op(schema, kind, body, **options)
    key = qualified_name(op)
    if key in OPS:
        raise ValueError(f"op {key!r} is defined twice")
    OPS[key] = op
    from raxis.ops.entry import publish

    return publish(op)
