"""Whether compiled functions do what the functions do: results, gradients, writes and random state, call by call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import raxis
from raxis import Tensor
from raxis.utils._pytree import tree_flatten, tree_map


class Case(NamedTuple):
    """A function with what is needed to call it.

    Attributes:
        function: what is compiled.
        arguments: makes the arguments of the n-th call.
        after: takes result and arguments of a call; what it returns is compared, too.
    """

    function: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    after: Callable[[Any, tuple[Any, ...]], Any] = lambda result, arguments: None


def run(build: Callable[[], Case], calls: int, compiled: Callable[[Any], Any] | None) -> list[Any]:
    """Everything that can be seen of some calls."""
    raxis.manual_seed(0)
    case = build()
    function = case.function if compiled is None else compiled(case.function)
    seen: list[Any] = []
    for number in range(calls):
        arguments = case.arguments(number)
        try:
            result = function(*arguments)
            after = case.after(result, arguments)
        except RuntimeError as error:  # such as a value that backward needs and that was written: so in both
            result, after = type(error).__name__, None
        seen.append(_shown((result, after, arguments, tree_map(_grad, arguments))))
    return [*seen, _shown(raxis.rand(2))]


def agree(build: Callable[[], Case], calls: int = 4, **options: Any) -> Any:
    """Compare eager with compiled calls; the compiled function is returned."""
    made: list[Any] = []

    def compiled(function: Any) -> Any:
        made.append(raxis.compile(function, **options))
        return made[-1]

    for number, pair in enumerate(zip(run(build, calls, None), run(build, calls, compiled), strict=True)):
        compare(*pair, f"call {number}")
    return made[0]


def compare(expected: Any, found: Any, where: str) -> None:
    """Assert that two snapshots are the same."""
    leaves, structure = tree_flatten(expected)
    others, other_structure = tree_flatten(found)
    assert structure == other_structure, where
    for one, other in zip(leaves, others, strict=True):
        assert type(one) is type(other), f"{where}: {one!r}, {other!r}"
        if isinstance(one, np.ndarray):
            assert (one.dtype, one.shape) == (other.dtype, other.shape), where
            np.testing.assert_allclose(other, one, rtol=2e-4, atol=1e-5, err_msg=where)
        else:
            assert one == other or repr(one) == repr(other), f"{where}: {one!r}, {other!r}"


def _shown(value: Any) -> Any:
    return tree_map(_leaf, value)


def _leaf(leaf: Any) -> Any:
    if not isinstance(leaf, Tensor):
        return leaf
    wide = leaf.detach().clone()
    array = wide.float().numpy() if leaf.dtype in (raxis.float16, raxis.bfloat16) else wide.numpy()
    return leaf.dtype.name, leaf.requires_grad, leaf.is_inference(), array.copy()


def _grad(leaf: Any) -> Any:
    return leaf.grad if isinstance(leaf, Tensor) and leaf.is_leaf else None
