"""The classical orthogonal polynomials by their recurrences: Chebyshev, Hermite, Laguerre, Legendre.

Source: Abramowitz & Stegun 22.7; beyond some order Chebyshev's are computed as sines and cosines (22.3.15, 22.3.16).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.control import region
from raxis.ops.definitions.elementwise import SPECIAL, binary, check_some_tensor, computed
from raxis.ops.promotion import Promotion
from raxis.ops.trace import emit
from raxis.tensor import Tensor

Step = Callable[[Any, Any, Any, Any], Any]
"""The polynomial of order k + 1 from: k, the argument, the polynomials of order k and k - 1."""

_TRIGONOMETRIC = 8
"""Orders above are sines and cosines inside (-1, 1), where the recurrence would take long."""


def _run(step: Step, order: Tensor, x: Tensor, first: Tensor) -> Tensor:
    """The polynomial of `order` (an integer, by element), whose orders 0 and 1 are 1 and `first`."""
    one = x * 0 + 1
    state = (one, order, x, where(order < 1, one, first), one)
    regions = (region(state, _orders_left), region(state, functools.partial(_next_order, step)))
    return emit("while", *state, regions=regions)[3]


def _orders_left(
    k: Tensor, order: Tensor, x: Tensor, current: Tensor, previous: Tensor
) -> tuple[Tensor, ...]:
    return (emit("reduce_or", k < order, dims=tuple(range(k.ndim))),)


def _next_order(
    step: Step, k: Tensor, order: Tensor, x: Tensor, current: Tensor, previous: Tensor
) -> tuple[Tensor, ...]:
    left = k < order
    following = where(left, step(k, x, current, previous), current)
    return k + 1, order, x, following, where(left, current, previous)


def _polynomial(input: Tensor, n: Tensor, first: Callable[[Any], Any], step: Step) -> Any:
    """Negative orders give 0."""
    order = emit("trunc", n)
    return where(order < 0, 0, _run(step, order, input, first(input)))


def _chebyshev_step(_k: Any, x: Any, current: Any, previous: Any) -> Any:
    return 2 * x * current - previous


def _chebyshev(
    input: Tensor, n: Tensor, first: Callable[[Any], Any], waves: Callable[[Any, Any], Any], shifted: bool
) -> Any:
    x = 2 * input - 1 if shifted else input
    order = emit("trunc", n)
    wavy = (order > _TRIGONOMETRIC) & (x.abs() < 1)
    short = _run(_chebyshev_step, where(wavy, 0, order), x, first(x))
    angle = emit("acos", where(wavy, x, 0.5))
    return where(order < 0, 0, where(wavy, waves(order, angle), short))


def _register(
    name: str, summary: str, arguments: str, result: str, body: Callable[..., Any]
) -> Callable[..., Any]:
    return computed(
        f"{name}(Tensor|Scalar input, Tensor|Scalar n) -> Tensor",
        binary(f"special.{name}", summary, arguments, result).replace("other: ", "n: the order, truncated; "),
        body,
        promotion=Promotion.FLOAT,
        namespace=SPECIAL,
        method=False,
        inplace=False,
        check=lambda input, n: check_some_tensor(input, n),
    )


_CHEBYSHEV: dict[str, tuple[str, Callable[[Any], Any], Callable[[Any, Any], Any], str, str]] = {
    "t": ("first", lambda x: x, lambda n, angle: emit("cos", n * angle), "-0.5000", "-0.5000"),
    "u": (
        "second", lambda x: 2 * x, lambda n, angle: emit("sin", (n + 1) * angle) / emit("sin", angle), "0.",
        "0.",
    ),
    "v": (
        "third", lambda x: 2 * x - 1, lambda n, angle: emit("cos", (n + 0.5) * angle) / emit("cos", angle / 2),
        "-1.", "-1.",
    ),
    "w": (
        "fourth", lambda x: 2 * x + 1, lambda n, angle: emit("sin", (n + 0.5) * angle) / emit("sin", angle / 2),
        "1.", "1.",
    ),
}  # fmt: skip


def _register_chebyshev(letter: str, shifted: bool) -> Callable[..., Any]:
    kind, first, waves, result, shifted_result = _CHEBYSHEV[letter]
    name = f"chebyshev_polynomial_{letter}"
    argument = "0.75" if shifted else "0.5"
    return _register(
        f"shifted_{name}" if shifted else name,
        f"Chebyshev's polynomial of the {kind} kind and order `n`{' at ``2 * input - 1``' if shifted else ''}.",
        f"raxis.tensor([{argument}]), 2",
        f"[{shifted_result if shifted else result}]",
        lambda input, n: _chebyshev(input, n, first, waves, shifted),
    )


chebyshev_polynomial_t = _register_chebyshev("t", False)
chebyshev_polynomial_u = _register_chebyshev("u", False)
chebyshev_polynomial_v = _register_chebyshev("v", False)
chebyshev_polynomial_w = _register_chebyshev("w", False)
shifted_chebyshev_polynomial_t = _register_chebyshev("t", True)
shifted_chebyshev_polynomial_u = _register_chebyshev("u", True)
shifted_chebyshev_polynomial_v = _register_chebyshev("v", True)
shifted_chebyshev_polynomial_w = _register_chebyshev("w", True)

hermite_polynomial_h = _register(
    "hermite_polynomial_h",
    "Hermite's polynomial of order `n`, in the physicist's form.",
    "raxis.tensor([1.0, 2.0]), 2",
    "[ 2., 14.]",
    lambda input, n: _polynomial(
        input, n, lambda x: 2 * x, lambda k, x, current, previous: 2 * x * current - 2 * k * previous
    ),
)
hermite_polynomial_he = _register(
    "hermite_polynomial_he",
    "Hermite's polynomial of order `n`, in the probabilist's form.",
    "raxis.tensor([1.0, 2.0]), 2",
    "[0., 3.]",
    lambda input, n: _polynomial(
        input, n, lambda x: x, lambda k, x, current, previous: x * current - k * previous
    ),
)
laguerre_polynomial_l = _register(
    "laguerre_polynomial_l",
    "Laguerre's polynomial of order `n`.",
    "raxis.tensor([1.0, 2.0]), 2",
    "[-0.5000, -1.0000]",
    lambda input, n: _polynomial(
        input,
        n,
        lambda x: 1 - x,
        lambda k, x, current, previous: ((2 * k + 1 - x) * current - k * previous) / (k + 1),
    ),
)
legendre_polynomial_p = _register(
    "legendre_polynomial_p",
    "Legendre's polynomial of order `n`.",
    "raxis.tensor([1.0, 0.5]), 2",
    "[ 1.0000, -0.1250]",
    lambda input, n: _polynomial(
        input,
        n,
        lambda x: x,
        lambda k, x, current, previous: ((2 * k + 1) * x * current - k * previous) / (k + 1),
    ),
)
