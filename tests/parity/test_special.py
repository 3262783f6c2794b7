"""Special functions against torch's operator database."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import raxis
from tests.parity import opinfo

NAMES = (
    "digamma", "erf", "erfc", "erfinv", "frexp", "i0", "igamma", "igammac", "ldexp", "lgamma", "mvlgamma",
    "polygamma", "special.airy_ai", "special.bessel_j0", "special.bessel_j1", "special.bessel_y0",
    "special.bessel_y1", "special.chebyshev_polynomial_t", "special.chebyshev_polynomial_u",
    "special.chebyshev_polynomial_v", "special.chebyshev_polynomial_w", "special.entr", "special.erfcx",
    "special.hermite_polynomial_h", "special.hermite_polynomial_he", "special.i0e", "special.i1", "special.i1e",
    "special.laguerre_polynomial_l", "special.legendre_polynomial_p", "special.log_ndtr",
    "special.modified_bessel_i0", "special.modified_bessel_i1", "special.modified_bessel_k0",
    "special.modified_bessel_k1", "special.ndtr", "special.ndtri", "special.polygamma",
    "special.scaled_modified_bessel_k0", "special.scaled_modified_bessel_k1",
    "special.shifted_chebyshev_polynomial_t", "special.shifted_chebyshev_polynomial_u",
    "special.shifted_chebyshev_polynomial_v", "special.shifted_chebyshev_polynomial_w",
    "special.spherical_bessel_j0", "special.xlog1py", "special.zeta",
)  # fmt: skip


@pytest.mark.parametrize("case", opinfo.cases(*NAMES), ids=str)
def test_special(case: opinfo.Case) -> None:
    case.run()


BELOW, ABOVE = np.linspace(-60, 0, 301), np.linspace(0, 60, 602)[1:]
EDGES = [0.0, math.inf, math.nan, 1e-12, 7.999, 8.001, 1.999, 2.001]


@pytest.mark.parametrize(("ours", "scipys"), [
    ("bessel_j0", scipy.special.j0),
    ("bessel_j1", scipy.special.j1),
    ("bessel_y0", scipy.special.y0),
    ("bessel_y1", scipy.special.y1),
    ("modified_bessel_i0", scipy.special.i0),
    ("modified_bessel_i1", scipy.special.i1),
    ("modified_bessel_k0", scipy.special.k0),
    ("modified_bessel_k1", scipy.special.k1),
    ("scaled_modified_bessel_k0", scipy.special.k0e),
    ("scaled_modified_bessel_k1", scipy.special.k1e),
    ("airy_ai", lambda x: scipy.special.airy(x)[0]),
])  # fmt: skip
def test_bessel_and_airy_functions_are_scipys(ours: str, scipys: Callable[[Any], Any]) -> None:
    signed = "_y" not in ours and "_k" not in ours
    places = np.concatenate(
        [BELOW if signed else [-1.0], ABOVE, [edge for edge in EDGES if _is_defined(ours, edge)]]
    )
    found = getattr(raxis.special, ours)(raxis.tensor(places, dtype=raxis.float64))
    np.testing.assert_allclose(found.numpy(), scipys(places), rtol=2e-11, atol=2e-14)


def _is_defined(name: str, place: float) -> bool:
    """SciPy's oscillating functions are NaN at infinity, where the limit is 0."""
    return math.isfinite(place) or math.isnan(place) or "_k" in name


@pytest.mark.parametrize(
    "name", ["bessel_j0", "bessel_j1", "modified_bessel_k0", "spherical_bessel_j0", "airy_ai"]
)
def test_functions_that_decay_are_0_at_infinity(name: str) -> None:
    assert getattr(raxis.special, name)(raxis.tensor([math.inf])).tolist() == [0.0]


@pytest.mark.parametrize("name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0",
                                  "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0",
                                  "scaled_modified_bessel_k1", "modified_bessel_i0", "modified_bessel_i1"])  # fmt: skip
def test_derivatives_are_difference_quotients(name: str) -> None:
    function = getattr(raxis.special, name)
    x = raxis.tensor([0.3, 1.0, 1.9, 3.0, 7.5, 11.0], dtype=raxis.float64, requires_grad=True)
    function(x).sum().backward()
    quotient = (function(x.detach() + 1e-5) - function(x.detach() - 1e-5)) / 2e-5
    np.testing.assert_allclose(x.grad.numpy(), quotient.numpy(), rtol=1e-6, atol=1e-8)


def test_incomplete_gamma_functions_are_scipys(rng: np.random.Generator) -> None:
    a = np.concatenate([rng.uniform(0, 30, 500), [0, 0, 1, 1, math.inf, math.nan, -1, 150]])
    x = np.concatenate([rng.uniform(0, 40, 500), [0, 1, 0, math.inf, 1, 1, 1, 160]])
    first, second = (raxis.tensor(values, dtype=raxis.float64) for values in (a, x))
    np.testing.assert_allclose(
        raxis.special.gammainc(first, second).numpy(), scipy.special.gammainc(a, x), rtol=1e-10, atol=1e-14
    )
    np.testing.assert_allclose(
        raxis.special.gammaincc(first, second).numpy(), scipy.special.gammaincc(a, x), rtol=1e-10, atol=1e-14
    )


def test_polynomials_of_no_elements_and_negative_orders() -> None:
    assert raxis.special.legendre_polynomial_p(raxis.empty(0), 3).shape == (0,)
    assert raxis.special.hermite_polynomial_h(raxis.tensor([2.0]), -1).tolist() == [0.0]
    orders = raxis.tensor([0, 1, 2, 30])
    found = raxis.special.chebyshev_polynomial_t(raxis.tensor(0.3, dtype=raxis.float64), orders)
    np.testing.assert_allclose(found.numpy(), scipy.special.eval_chebyt([0, 1, 2, 30], 0.3), rtol=1e-12)
