"""Algebraic rules as text: ``mul(x, 1) -> x``.

A small letter stands for any value, a capital one for a constant with one number everywhere, a number for such a
constant. The same letter twice means the same value. Where the order of operands does not matter, either is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple, TypeAlias

from raxis.dtypes import DType
from raxis.ptir.attributes import attribute_key, number_type
from raxis.ptir.passes.rewriter import Rewriter, Rule, RuleTable
from raxis.ptir.program import Instruction, Value

COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "eq", "ne"})
"""Primitives that give the same for either order of operands, mathematically."""

ORDERED_UP_TO_ZERO = frozenset({"maximum", "minimum"})
"""Primitives that do so but for the sign of zero."""


def commutes(instruction: Instruction) -> bool:
    """Whether the operands' order makes no difference, to the last bit: complex products may round by it."""
    primitive = instruction.primitive
    return primitive in COMMUTATIVE and not (
        primitive == "mul" and instruction.operands[0].type.dtype.is_complex
    )


class Term(NamedTuple):
    """A primitive applied to expressions."""

    primitive: str
    operands: tuple[Expression, ...]


class Letter(NamedTuple):
    """Any value, or any uniform constant."""

    name: str

    @property
    def is_constant(self) -> bool:
        """Whether it stands for constants only."""
        return self.name.isupper()


class Number(NamedTuple):
    """A constant with this number everywhere."""

    value: float


Expression: TypeAlias = "Term | Letter | Number"
Bindings: TypeAlias = "dict[str, Value]"

_TOKEN = re.compile(r"\s*(->|-?\d+(?:\.\d+)?|\w+|[(),])")


def parse_rewrite(text: str) -> tuple[Term, Expression]:
    """The two sides of a rule."""
    tokens = iter(_TOKEN.findall(text))
    left, arrow = _expression(tokens)
    if not isinstance(left, Term) or arrow != "->":
        raise ValueError(f"a rule reads 'primitive(...) -> expression', not {text!r}.")
    return left, _expression(tokens)[0]


def _expression(tokens: Iterator[str]) -> tuple[Expression, str]:
    """One expression, and the token after it."""
    word = next(tokens)
    after = next(tokens, "")
    if after != "(":
        is_letter = len(word) == 1 and word.isalpha()
        return (Letter(word) if is_letter else Number(float(word))), after
    operands = []
    while after != ")":
        operand, after = _expression(tokens)
        operands.append(operand)
    return Term(word, tuple(operands)), next(tokens, "")


def _orders(expression: Expression) -> Iterator[Expression]:
    """The expression, with the operands of its commutative terms in every order."""
    if not isinstance(expression, Term):
        yield expression
        return
    for operands in product(*(tuple(_orders(operand)) for operand in expression.operands)):
        yield Term(expression.primitive, operands)
        swapped = operands[::-1]
        if expression.primitive in COMMUTATIVE | ORDERED_UP_TO_ZERO and swapped != operands:
            yield Term(expression.primitive, swapped)


class Rewrite:
    """One rule for instructions whose last operand has one of `dtypes`.

    Attributes:
        text: the rule; it also is its name in reports.
        dtypes: the dtypes it holds for.
    """

    def __init__(self, text: str, dtypes: frozenset[DType]) -> None:
        self.text = text
        self.dtypes = dtypes

    @cached_property
    def sides(self) -> tuple[Term, Expression]:
        """Left and right side."""
        return parse_rewrite(self.text)

    def rules(self) -> Iterator[Rule]:
        """The rule as the rewriter takes it, once for each order of operands."""
        left, right = self.sides
        for order in dict.fromkeys(_orders(left)):
            if isinstance(order, Term):
                yield Rule(
                    self.text,
                    (left.primitive,),
                    self._rewriting(order, right),
                    tuple(map(_maker, order.operands)),
                )

    def _rewriting(self, left: Term, right: Expression) -> Callable[[Rewriter, Instruction], Value | None]:
        def rewrite(rewriter: Rewriter, instruction: Instruction) -> Value | None:
            if instruction.operands[-1].type.dtype not in self.dtypes:
                return None
            bound: Bindings = {}
            if not _match_all(left.operands, instruction.operands, rewriter, bound):
                return None
            return _build(right, rewriter, bound, instruction.results[0])

        return rewrite


def _maker(expression: Expression) -> str:
    """The primitive that must have made a value for the expression to match; "" for any."""
    if isinstance(expression, Term):
        return expression.primitive
    return "constant" if isinstance(expression, Number) or expression.is_constant else ""


def _match_all(
    expressions: Sequence[Expression], values: Sequence[Value], rewriter: Rewriter, bound: Bindings
) -> bool:
    for expression, value in zip(expressions, values, strict=True):
        if not _match(expression, value, rewriter, bound):
            return False
    return True


def _match(expression: Expression, value: Value, rewriter: Rewriter, bound: Bindings) -> bool:
    if isinstance(expression, Letter):
        if expression.is_constant and rewriter.number(value) is None:
            return False
        return bound.setdefault(expression.name, value) is value
    if isinstance(expression, Number):
        number = rewriter.number(value)
        return number is not None and is_number(number, expression.value, value.type.dtype)
    made = rewriter.made_by(value, expression.primitive)
    return made is not None and _match_all(expression.operands, made.operands, rewriter, bound)


def is_number(found: object, wanted: float, dtype: DType) -> bool:
    """Whether a constant's number is `wanted`, the sign of zero included."""
    return found == wanted and attribute_key(found) == attribute_key(number_type(dtype)(wanted))


def _build(expression: Expression, rewriter: Rewriter, bound: Bindings, result: Value) -> Value:
    if isinstance(expression, Letter):
        return bound[expression.name]
    if isinstance(expression, Number):
        return rewriter.constant(expression.value, result.type)
    return rewriter.emit(
        expression.primitive, *(_build(part, rewriter, bound, result) for part in expression.operands)
    )


def rule_table(rewrites: Sequence[Rewrite], *others: Rule) -> RuleTable:
    """The table of textual rules, and others after them."""
    return RuleTable([*(rule for rewrite in rewrites for rule in rewrite.rules()), *others])
