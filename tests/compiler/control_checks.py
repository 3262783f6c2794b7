"""What tests of control flow share: results as arrays, and comparing eager with compiled calls."""

from __future__ import annotations

import numpy as np

import raxis
from raxis.utils._pytree import tree_flatten


def arrays(results) -> list[np.ndarray]:
    return [leaf.detach().numpy() for leaf in tree_flatten(results)[0]]


def primitives(compiled) -> list[str]:
    """The instructions of the last program, after the passes."""
    return [item.primitive for item in compiled.replays()[-1].artifact.program.instructions]


def check(function, *arguments, again=()) -> raxis.compiler.Compiled:
    """Eager, recorded, repeated and interpreted results are equal, also for other arguments of the same kind."""
    compiled, interpreted = raxis.compile(function), raxis.compile(function, backend="reference")
    for given in (arguments, arguments, *again):
        expected = function(*given)
        for one in (compiled(*given), interpreted(*given)):
            assert tree_flatten(one)[1] == tree_flatten(expected)[1]
            for found, wanted in zip(arrays(one), arrays(expected), strict=True):
                assert found.shape == wanted.shape
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert len(compiled.misses()) == 1
    return compiled
