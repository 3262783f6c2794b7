"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

from raxis.ops import functions as _functions

digamma = _functions.digamma
erf = _functions.erf
erfc = _functions.erfc
erfinv = _functions.erfinv
exp2 = _functions.exp2
expm1 = _functions.expm1
i0 = _functions.i0
log1p = _functions.log1p
log_softmax = _functions.log_softmax
logit = _functions.logit
logsumexp = _functions.logsumexp
polygamma = _functions.polygamma
round = _functions.round
sinc = _functions.sinc
softmax = _functions.softmax
xlogy = _functions.xlogy
psi = _functions.digamma
gammainc = _functions.igamma
gammaincc = _functions.igammac
gammaln = _functions.lgamma
multigammaln = _functions.mvlgamma
expit = _functions.sigmoid

def airy_ai(input: Tensor, *, out: Any = ...) -> Tensor:
    """The Airy function of the first kind."""

def bessel_j0(input: Tensor, *, out: Any = ...) -> Tensor:
    """The Bessel function of the first kind, order 0."""

def bessel_j1(input: Tensor, *, out: Any = ...) -> Tensor:
    """The Bessel function of the first kind, order 1."""

def bessel_y0(input: Tensor, *, out: Any = ...) -> Tensor:
    """The Bessel function of the second kind, order 0."""

def bessel_y1(input: Tensor, *, out: Any = ...) -> Tensor:
    """The Bessel function of the second kind, order 1."""

def chebyshev_polynomial_t(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the first kind and order `n`."""

def chebyshev_polynomial_u(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the second kind and order `n`."""

def chebyshev_polynomial_v(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the third kind and order `n`."""

def chebyshev_polynomial_w(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the fourth kind and order `n`."""

def entr(input: Tensor, *, out: Any = ...) -> Tensor:
    """``-input * log(input)``; 0 at 0, -inf below."""

def erfcx(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(input ** 2) * erfc(input)`` without overflow."""

def hermite_polynomial_h(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Hermite's polynomial of order `n`, in the physicist's form."""

def hermite_polynomial_he(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Hermite's polynomial of order `n`, in the probabilist's form."""

def i0e(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(-abs(input)) * i0(input)``."""

def i1(input: Tensor, *, out: Any = ...) -> Tensor:
    """The modified Bessel function of the first kind, order 1."""

def i1e(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(-abs(input)) * i1(input)``."""

def laguerre_polynomial_l(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Laguerre's polynomial of order `n`."""

def legendre_polynomial_p(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Legendre's polynomial of order `n`."""

def log_ndtr(input: Tensor, *, out: Any = ...) -> Tensor:
    """The logarithm of the normal distribution function, accurate in the lower tail."""

def modified_bessel_i0(input: Tensor, *, out: Any = ...) -> Tensor:
    """The modified Bessel function of the first kind, order 0; see `raxis.special.i0`."""

def modified_bessel_i1(input: Tensor, *, out: Any = ...) -> Tensor:
    """The modified Bessel function of the first kind, order 1; see `raxis.special.i1`."""

def modified_bessel_k0(input: Tensor, *, out: Any = ...) -> Tensor:
    """The modified Bessel function of the second kind, order 0."""

def modified_bessel_k1(input: Tensor, *, out: Any = ...) -> Tensor:
    """The modified Bessel function of the second kind, order 1."""

def ndtr(input: Tensor, *, out: Any = ...) -> Tensor:
    """The normal distribution function."""

def ndtri(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse of the normal distribution function."""

def scaled_modified_bessel_k0(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(input) * modified_bessel_k0(input)``."""

def scaled_modified_bessel_k1(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(input) * modified_bessel_k1(input)``."""

def shifted_chebyshev_polynomial_t(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the first kind and order `n` at ``2 * input - 1``."""

def shifted_chebyshev_polynomial_u(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the second kind and order `n` at ``2 * input - 1``."""

def shifted_chebyshev_polynomial_v(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the third kind and order `n` at ``2 * input - 1``."""

def shifted_chebyshev_polynomial_w(input: Tensor | builtins.complex, n: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Chebyshev's polynomial of the fourth kind and order `n` at ``2 * input - 1``."""

def spherical_bessel_j0(input: Tensor, *, out: Any = ...) -> Tensor:
    """The spherical Bessel function of the first kind, order 0: ``sin(input) / input``."""

def xlog1py(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input * log1p(other)``, and 0 where `input` is 0 (unless `other` is NaN)."""

def zeta(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """The Hurwitz zeta function: the sum of ``(other + k) ** -input`` over k >= 0."""
