"""Factors and summands of frozen channels go into the weights: a batch normalisation after a convolution vanishes.

What this makes of weights depends on frozen parameters only, so that `split` takes it out of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from raxis.ptir.passes.derived import is_deterministic
from raxis.ptir.passes.record import Context, Pass
from raxis.ptir.passes.rewriter import Rewriter, Rule, RuleTable, sweep
from raxis.ptir.passes.views import repeated, squeezed
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction, Program, Value

_Rewrite: TypeAlias = "Callable[[Rewriter, Instruction], Value | None]"


class _Channels(NamedTuple):
    """Frozen numbers, one for each place along `dims` of a larger value."""

    numbers: Value
    dims: tuple[int, ...]


class _Scaling:
    """The rules, for one program and its frozen parameters."""

    def __init__(self, program: Program, context: Context) -> None:
        self._frozen: dict[Value, bool] = {
            value: place in context.frozen for place, value in enumerate(program.parameters)
        }

    def rules(self) -> Iterator[Rule]:
        """All rules; those for operands in the other order too, since constants only have their place at the right."""
        for place in (0, 1):
            needs = tuple("broadcast" if place == each else "" for each in (0, 1))
            yield Rule("factor into weights", ("mul",), self._factor(place), needs)
            yield Rule("summands joined", ("add",), self._summand(place), needs)
        yield Rule("difference as sum", ("sub",), self._difference, ("", "broadcast"))
        yield Rule("quotient as product", ("div",), self._quotient, ("", "broadcast"))

    def _is_frozen(self, rewriter: Rewriter, value: Value) -> bool:
        known = self._frozen.get(value)
        if known is None:
            made = rewriter.producer[value]
            known = is_deterministic(made) and all(self._is_frozen(rewriter, each) for each in made.operands)
            self._frozen[value] = known
        return known

    def _channels(self, rewriter: Rewriter, value: Value) -> _Channels | None:
        """What a broadcast of frozen numbers repeats; None if it is something else."""
        made = rewriter.made_by(value, "broadcast")
        if made is None or not self._is_frozen(rewriter, made.operands[0]):
            return None
        source = made.operands[0]
        dims = [
            dim for dim, size in zip(made.attributes["dims"], source.type.shape, strict=True) if size != 1
        ]
        if not dims:
            return None
        return _Channels(squeezed(rewriter, source), tuple(dims))

    def _weight(
        self, rewriter: Rewriter, value: Value, dims: tuple[int, ...]
    ) -> tuple[int, tuple[int, ...]] | None:
        """Which operand of a product is a frozen weight that has `dims` of the product, and where it has them."""
        product = rewriter.producer.get(value)
        if product is None or rewriter.uses(value) > 1 or product.primitive not in _OUTPUT_DIMS:
            return None
        for place, outputs in _OUTPUT_DIMS[product.primitive](product):
            if all(dim in outputs for dim in dims) and self._is_frozen(rewriter, product.operands[place]):
                return place, tuple(outputs[dim] for dim in dims)
        return None

    def _ends_in_weight(self, rewriter: Rewriter, value: Value, dims: tuple[int, ...]) -> bool:
        """Whether `value` is such a product, or one plus numbers for the same channels."""
        return self._weight(rewriter, value, dims) is not None or self._sum(rewriter, value, dims) is not None

    def _sum(self, rewriter: Rewriter, value: Value, dims: tuple[int, ...]) -> tuple[Value, Value] | None:
        """The product and the numbers of a sum of both."""
        made = rewriter.made_by(value, "add")
        if made is None or rewriter.uses(value) > 1:
            return None
        for product, summand in (made.operands, made.operands[::-1]):
            channels = self._channels(rewriter, summand)
            if (
                channels is not None
                and channels.dims == dims
                and self._weight(rewriter, product, dims) is not None
            ):
                return product, channels.numbers
        return None

    def _factor(self, place: int) -> _Rewrite:
        def rewrite(rewriter: Rewriter, instruction: Instruction) -> Value | None:
            channels = self._channels(rewriter, instruction.operands[place])
            if channels is None:
                return None
            return self._scaled(rewriter, instruction.operands[1 - place], channels)

        return rewrite

    def _scaled(self, rewriter: Rewriter, value: Value, factor: _Channels) -> Value | None:
        """`value` times the factor, in its weights."""
        weight = self._weight(rewriter, value, factor.dims)
        if weight is not None:
            return _with_scaled_weight(rewriter, rewriter.producer[value], *weight, factor.numbers)
        parts = self._sum(rewriter, value, factor.dims)
        if parts is None:
            return None
        product, numbers = parts
        scaled = self._scaled(rewriter, product, factor)
        if scaled is None:
            return None
        summand = _Channels(rewriter.emit("mul", numbers, factor.numbers), factor.dims)
        return rewriter.emit("add", scaled, _spread(rewriter, summand, value))

    def _summand(self, place: int) -> _Rewrite:
        def rewrite(rewriter: Rewriter, instruction: Instruction) -> Value | None:
            """(product + a) + b is product + (a + b)."""
            channels = self._channels(rewriter, instruction.operands[place])
            if channels is None:
                return None
            parts = self._sum(rewriter, instruction.operands[1 - place], channels.dims)
            if parts is None:
                return None
            product, numbers = parts
            total = _Channels(rewriter.emit("add", numbers, channels.numbers), channels.dims)
            return rewriter.emit("add", product, _spread(rewriter, total, product))

        return rewrite

    def _difference(self, rewriter: Rewriter, instruction: Instruction) -> Value | None:
        value, other = instruction.operands
        channels = self._channels(rewriter, other)
        if channels is None or not self._ends_in_weight(rewriter, value, channels.dims):
            return None
        negated = _Channels(rewriter.emit("neg", channels.numbers), channels.dims)
        return rewriter.emit("add", value, _spread(rewriter, negated, value))

    def _quotient(self, rewriter: Rewriter, instruction: Instruction) -> Value | None:
        value, other = instruction.operands
        channels = self._channels(rewriter, other)
        if channels is None or not value.type.dtype.is_floating_point:
            return None
        if not self._ends_in_weight(rewriter, value, channels.dims):
            return None
        one = rewriter.constant(1, channels.numbers.type)
        inverse = _Channels(rewriter.emit("div", one, channels.numbers), channels.dims)
        return rewriter.emit("mul", value, _spread(rewriter, inverse, value))


def _spread(rewriter: Rewriter, channels: _Channels, like: Value) -> Value:
    """The numbers repeated to the shape of `like`."""
    return repeated(rewriter, channels.numbers, like.type.shape, channels.dims)


def _with_scaled_weight(
    rewriter: Rewriter, product: Instruction, place: int, dims: tuple[int, ...], factor: Value
) -> Value:
    operands = list(product.operands)
    weight = operands[place]
    operands[place] = rewriter.emit("mul", weight, _spread(rewriter, _Channels(factor, dims), weight))
    return rewriter.emit(product.primitive, *operands, **product.attributes)


def _of_convolution(_: Instruction) -> list[tuple[int, dict[int, int]]]:
    return [(1, {1: 0})]


def _of_dot(product: Instruction) -> list[tuple[int, dict[int, int]]]:
    """For each operand: from dims of the result to its own."""
    found = []
    place = len(product.attributes["lhs_batch"])
    for number, (operand, side) in enumerate(zip(product.operands, ("lhs", "rhs"), strict=True)):
        batch, contract = (product.attributes[f"{side}_{role}"] for role in ("batch", "contract"))
        free = free_dims(operand.type.rank, batch, contract)
        found.append((number, {place + offset: dim for offset, dim in enumerate(free)}))
        place += len(free)
    return found


_OUTPUT_DIMS: Mapping[str, Callable[[Instruction], list[tuple[int, dict[int, int]]]]] = {
    "convolution": _of_convolution,
    "dot_general": _of_dot,
}
"""For each operand that can be a weight, from dims of the product to those of the weight that make them."""


def _run(program: Program, context: Context) -> Program:
    if not context.frozen:
        return program
    return sweep(program, RuleTable(_Scaling(program, context).rules()), context)


SCALING = Pass("scaling", "factors and summands of frozen channels go into frozen weights", _run, exact=False)
