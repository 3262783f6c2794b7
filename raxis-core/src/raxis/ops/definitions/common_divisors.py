"""Greatest common divisors and least common multiples."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.control import region
from raxis.ops.definitions.elementwise import binary, computed, require_category
from raxis.ops.promotion import Promotion
from raxis.ops.trace import emit
from raxis.tensor import Tensor


def _some_left(_: Tensor, divisor: Tensor) -> tuple[Tensor, ...]:
    return (emit("reduce_or", divisor != 0, dims=tuple(range(divisor.ndim))),)


def _euclid_step(number: Tensor, divisor: Tensor) -> tuple[Tensor, ...]:
    done = divisor == 0
    rest = emit("fmod", number, where(done, 1, divisor))
    return where(done, number, divisor), where(done, 0, rest)


def _greatest_common_divisor(input: Tensor, other: Tensor) -> Any:
    require_category("gcd", input, Category.INTEGER)
    operands = (input, other)
    found = emit("while", *operands, regions=(region(operands, _some_left), region(operands, _euclid_step)))
    return emit("abs", found[0])


gcd = computed(
    "gcd(Tensor input, Tensor other) -> Tensor",
    binary(
        "gcd", "The greatest common divisor, by Euclid's algorithm.", "raxis.tensor([12]), raxis.tensor([18])", "[6]",
        " of an integer dtype",
    ),
    _greatest_common_divisor,
    promotion=Promotion.ARITHMETIC,
)  # fmt: skip


def _least_common_multiple(input: Tensor, other: Tensor) -> Any:
    divisor = _greatest_common_divisor(input, other)
    return emit("abs", emit("mul", emit("div", input, where(divisor == 0, 1, divisor)), other))


lcm = computed(
    "lcm(Tensor input, Tensor other) -> Tensor",
    binary(
        "lcm", "The least common multiple; 0 if either is 0.", "raxis.tensor([4]), raxis.tensor([6])", "[12]",
        " of an integer dtype",
    ),
    _least_common_multiple,
    promotion=Promotion.ARITHMETIC,
)  # fmt: skip
