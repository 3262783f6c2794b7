"""Patterns of composites, from the op table's own decompositions and other ways to spell the same.

Written in ops and traced: there is no second definition of any op.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from raxis.device import Device
from raxis.ops.schema import REQUIRED
from raxis.ops.table import OPS
from raxis.ops.trace import Tracer, tracing
from raxis.ptir.passes.patterns import Pattern
from raxis.ptir.program import Program
from raxis.ptir.types import TensorType
from raxis.tensor import Tensor

_INNER, _KEYS = 3, 5
"""Sizes in templates that the result's type does not tell; any but 1 do."""


class Spelling(NamedTuple):
    """One way to write a composite.

    Attributes:
        name: the composite op.
        anchor: the primitive of its last instruction.
        write: the result, from the op's tensors and static arguments.
        operands: types of operands that give a result of some type.
        static: the static arguments that a result of some rank can have.
        number: the static argument that is a number in the program, if there is one.
    """

    name: str
    anchor: str
    write: Callable[..., Tensor]
    operands: Callable[[TensorType], Sequence[TensorType]]
    static: Callable[[int], Iterable[Mapping[str, Any]]]
    number: str | None = None

    def program(self, types: Sequence[TensorType], static: Mapping[str, Any]) -> Program:
        """The decomposition for these operands, in the form that programs have when patterns are looked for."""
        from raxis.ptir.passes.elimination import DCE
        from raxis.ptir.passes.pipeline import NORMALISE, optimise

        tracer = Tracer(self.name, Device("cpu"))
        with tracing(tracer):
            operands = [tracer.parameter(type.dtype, type.shape) for type in types]
            result = self.write(*operands, **static)
        attributes = {**self._defaults(), **static}
        traced = tracer.builder.build([result._value], attributes)  # type: ignore[attr-defined]
        return optimise(traced, passes=(*NORMALISE, DCE))

    def _defaults(self) -> dict[str, Any]:
        """The op's static arguments that need not be given, and are not None."""
        known = {each.name: each.default for each in OPS[self.name].parameters if each.is_static}
        return {name: value for name, value in known.items() if value is not None and value is not REQUIRED}

    def pattern(self) -> Pattern:
        """The spelling as the passes take it."""

        @lru_cache(maxsize=256)
        def templates(result: TensorType) -> tuple[Program, ...]:
            if not result.dtype.is_floating_point:
                return ()
            operands = self.operands(result)
            return tuple(self.program(operands, static) for static in self.static(result.rank))

        @lru_cache(maxsize=256)
        def written(types: tuple[TensorType, ...], static: tuple[tuple[str, Any], ...]) -> Program:
            return self.program(types, dict(static))

        def written_out(
            template: Program, types: Sequence[TensorType], numbers: Sequence[Any]
        ) -> Iterable[Program]:
            own = dict(template.attributes)
            ways = (
                [{}] if self.number is None else [{self.number: number} for number in dict.fromkeys(numbers)]
            )
            for way in ways:
                yield written(tuple(types), tuple((own | way).items()))

        return Pattern(self.name, self.anchor, templates, written_out)


def _softmax(input: Tensor, dim: int, **_: Any) -> Tensor:
    return input.softmax(dim)


def _log_softmax(input: Tensor, dim: int, **_: Any) -> Tensor:
    return input.log_softmax(dim)


def _any_dim(rank: int) -> Iterable[Mapping[str, Any]]:
    return [{"dim": dim} for dim in range(rank)]


def _same(result: TensorType) -> Sequence[TensorType]:
    return [result]


def _attended(result: TensorType) -> Sequence[TensorType]:
    """Types of query, key and value."""
    if result.rank < 2:
        return [result] * 3
    *batch, queries, features = result.shape
    shapes = ((queries, _INNER), (_KEYS, _INNER), (_KEYS, features))
    return [TensorType(result.dtype, (*batch, *shape)) for shape in shapes]


def _attention(query: Tensor, key: Tensor, value: Tensor, is_causal: bool, scale: float, **_: Any) -> Tensor:
    from raxis.ops.definitions.attention import _attention as attention

    return attention(query, key, value, None, is_causal, scale)


def _scaled_scores(query: Tensor, key: Tensor, value: Tensor, scale: float, **_: Any) -> Tensor:
    """Scores times a factor, as most people write it."""
    return ((query @ key.transpose(-2, -1)) * scale).softmax(-1) @ value


def _attention_arguments(rank: int) -> Iterable[Mapping[str, Any]]:
    return [{"is_causal": is_causal, "scale": 0.7} for is_causal in (False, True)] if rank >= 2 else []


def _attention_without_mask(rank: int) -> Iterable[Mapping[str, Any]]:
    return [{"is_causal": False, "scale": 0.7}] if rank >= 2 else []


SPELLINGS: tuple[Spelling, ...] = (
    Spelling("softmax", "div", _softmax, _same, _any_dim),
    Spelling("log_softmax", "sub", _log_softmax, _same, _any_dim),
    Spelling("_attention", "dot_general", _attention, _attended, _attention_arguments, "scale"),
    Spelling("_attention", "dot_general", _scaled_scores, _attended, _attention_without_mask, "scale"),
)
"""What can be recognised."""


def patterns(names: Collection[str]) -> tuple[Pattern, ...]:
    """Patterns of the composites that a device claims, those of larger ones first.

    Example:
        >>> [pattern.name for pattern in patterns({"softmax", "no_such_op"})]
        ['softmax']
    """
    known = [spelling.pattern() for spelling in SPELLINGS if spelling.name in names]
    return tuple(sorted(known, key=lambda pattern: pattern.anchor != "dot_general"))
