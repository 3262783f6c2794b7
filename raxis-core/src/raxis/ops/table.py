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
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from raxis.ops import schema as schemas
from raxis.ops.promotion import Promotion
from raxis.ops.schema import Parameter, Schema


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


@dataclass(frozen=True)
class Formula:
    """The derivative with respect to the arguments `targets`.

    `names`, the function's parameters, say what is kept for backward: see docs/architecture.md.
    """

    targets: tuple[str, ...]
    function: Callable[..., Any]
    names: tuple[str, ...]


@dataclass(eq=False)
class Op:
    """One record of the table."""

    schema: Schema
    kind: Kind
    body: Callable[..., Any]
    doc: str
    vjp: tuple[Formula, ...] = ()
    promotion: Promotion = Promotion.NONE
    promoted: tuple[str, ...] = ()
    effect: Effect = Effect.PURE
    lower: Callable[..., Any] | None = None
    """For views: the op on values, used while tracing."""
    composite: bool = False
    """Whether backends may claim the op by name."""
    method: bool = True
    attribute: bool = False
    """Whether the method is a property of tensors (``x.T``)."""
    function: bool = True
    inplace: bool = False
    out: bool = True
    operator: str = ""
    """Python operator served, such as ``__add__``; binary ones serve the reflected and in-place forms too."""
    namespace: str = "raxis"
    aliases: tuple[str, ...] = ()
    """Other names of the same function and methods (``absolute`` for ``abs``)."""
    check: Callable[..., None] | None = None
    """Raises for operands that promotion would hide; sees the call's arguments, at cache misses only, so it
    may look at dtypes, shapes, types of numbers and static values."""
    plans: dict[Any, Any] = field(default_factory=dict, repr=False)
    inplace_plans: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Name of the function and the method."""
        return self.schema.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The schema's parameters."""
        return self.schema.parameters


OPS: dict[str, Op] = {}
"""Every op, by ``name`` in namespace raxis or ``namespace.name`` elsewhere."""


def qualified_name(op: Op) -> str:
    """The op's key in `OPS`: unqualified in the main namespace."""
    prefix = op.namespace.removeprefix("raxis").lstrip(".")
    return f"{prefix}.{op.name}" if prefix else op.name


Vjp = Mapping[str | tuple[str, ...], Callable[..., Any]]
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def lowered(schema: str, *, vjp: Vjp | None = None, promotion: Promotion = Promotion.NONE, **options: Any) -> Decorator:
    """Register an op whose body emits primitives on traced tensors (its docstring becomes the op's)."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        return register(schema, Kind.LOWERED, body, vjp=vjp, promotion=promotion, **options)

    return decorate


def composed(schema: str, **options: Any) -> Decorator:
    """Register an op written in other ops."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        return register(schema, Kind.COMPOSED, body, **options)

    return decorate


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
    return register(
        schema, Kind.LOWERED, body, vjp=vjp, promotion=promotion, inplace=inplace, **options
    )


def register(schema: str, kind: Kind, body: Callable[..., Any], *, vjp: Vjp | None = None, **options: Any) -> Any:
    """Make the record, its function and its methods; the function is returned."""
    parsed = schemas.parse(schema)
    promoted = options.pop("promoted", None)
    if promoted is None:
        promoted = tuple(parameter.name for parameter in parsed.parameters if parameter.is_tensor)
    formulas = tuple(_formula(targets, function) for targets, function in (vjp or {}).items())
    doc = inspect.cleandoc(body.__doc__ or "")
    op = Op(parsed, kind, body, doc, vjp=formulas, promoted=promoted, **options)
    key = qualified_name(op)
    if key in OPS:
        raise ValueError(f"op {key!r} is defined twice")
    OPS[key] = op
    from raxis.ops.entry import publish

    return publish(op)


def _formula(targets: str | tuple[str, ...], function: Callable[..., Any]) -> Formula:
    names = tuple(inspect.signature(function).parameters)
    return Formula((targets,) if isinstance(targets, str) else targets, function, names)
