"""What of torch's operator database raxis does not match, each with the reason: the one table of known holes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

import torch

INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
HALF = (torch.float16, torch.bfloat16)
COMPLEX = (torch.complex64, torch.complex128)


@dataclass(frozen=True)
class Hole:
    """Samples known not to work, with the reason.

    `name` and `aspect` are shell patterns over ``name:variant`` and the aspect; empty `dtypes` means all.
    `sample` picks the samples (default: all); for the aspect ``errors`` it gets the failing call's sample.
    """

    name: str
    aspect: str
    reason: str
    dtypes: tuple[torch.dtype, ...] = ()
    sample: Callable[[Any], bool] | None = None

    @property
    def is_everything(self) -> bool:
        """Whether nothing of the op works: raxis does not have it."""
        return self.aspect == "*" and not self.dtypes and self.sample is None

    def covers(self, key: str, aspect: str, dtype: torch.dtype | None) -> bool:
        """Whether it says anything about a case."""
        dtypes_match = not self.dtypes or dtype in self.dtypes
        return dtypes_match and fnmatch(key, self.name) and fnmatch(aspect, self.aspect)


def _has_window(sample: Any) -> bool:
    return sample.kwargs.get("window") is not None


def _has_ties(sample: Any) -> bool:
    return bool(sample.input.numel() > 10 and not sample.kwargs.get("stable", False))


def _drops(sample: Any) -> bool:
    return bool(sample.kwargs.get("dropout_p", 0) > 0)


_DIFFERENT_DRAWS = "draws other elements than torch"
_TIES = "torch chooses among ties as it likes"
_HALF_STEPS = "torch rounds to half precision between its steps, raxis once"
_NO_HALF_COMPLEX = "there is no complex dtype of half precision"

HOLES = (
    # ---- absent ops ---------------------------------------------------------------------------------------------
    Hole("__rdiv__", "*", "Python 3 has no such operator: its division is __rtruediv__"),
    Hole("chalf", "*", _NO_HALF_COMPLEX),
    Hole("hash_tensor", "*", "its results are of dtype uint64, which raxis does not have"),
    Hole("linalg.ldl_*", "*", "there is no factorization of Bunch and Kaufman; lu and cholesky solve the same systems"),
    Hole("max_pool2d_with_indices_backward", "*", "torch.ops is the way into PyTorch's own kernels"),
    # ---- results that torch leaves open -------------------------------------------------------------------------
    Hole("sort", "values", _TIES, (torch.bool, torch.uint8, torch.int8, *HALF), _has_ties),
    Hole("argsort", "values", _TIES, (torch.bool, torch.uint8, torch.int8, *HALF), _has_ties),
    Hole("topk", "values", _TIES, (*INTEGERS, torch.bfloat16), _has_ties),
    Hole("kthvalue", "values", _TIES, INTEGERS, lambda sample: sample.input.ndim > 0),
    Hole("mode", "values", _TIES, (torch.bool, *INTEGERS, *HALF), lambda sample: sample.input.numel() > 1000),
    Hole("logcumsumexp", "values", "imaginary parts differ by multiples of 2 pi", COMPLEX,
         lambda sample: sample.input.ndim == 3),
    Hole("*scaled_dot_product_attention", "*", _DIFFERENT_DRAWS, sample=_drops),
    Hole("nn.functional.rrelu", "*", _DIFFERENT_DRAWS, sample=lambda sample: sample.kwargs.get("training", False)),
    *(
        Hole("*multi_head_attention_forward", aspect, _DIFFERENT_DRAWS, sample=lambda sample: sample.args[9] > 0)
        for aspect in ("gradients", "second")
    ),
    *(
        Hole("svd_lowrank", aspect, _DIFFERENT_DRAWS, sample=lambda sample: sample.kwargs["M"] is not None)
        for aspect in ("gradients", "second")
    ),
    # ---- rounding within ----------------------------------------------------------------------------------------
    Hole("addbmm", "values", _HALF_STEPS, HALF),
    Hole("addr", "values", _HALF_STEPS, (torch.bfloat16,)),
    Hole("histc", "values", _HALF_STEPS, HALF),
    Hole("nn.functional.multi_head_attention_forward", "values", _HALF_STEPS, HALF),
    *(
        Hole(f"nn.functional.{name}", "values", "torch computes bytes in fixed point, raxis rounds once",
             (torch.uint8,))
        for name in ("interpolate:bilinear", "interpolate:bicubic", "upsample_bilinear")
    ),
    Hole("logspace*", "values", _HALF_STEPS, (torch.bfloat16,), lambda sample: sample.input == 4.3),
    Hole("matrix_exp", "values", "torch overflows within, in half precision", HALF,
         lambda sample: sample.input.numel() > 1),
    Hole("*polygamma*", "values", "at the poles of trigamma torch gives large numbers, raxis inf",
         sample=lambda sample: (
             sample.args[0] == 1 and not sample.input.is_floating_point() and (sample.input < 0).any()
         )),
    # ---- dtypes -------------------------------------------------------------------------------------------------
    Hole("complex", "values", _NO_HALF_COMPLEX, (torch.float16,)),
    Hole("view_as_complex", "values", _NO_HALF_COMPLEX, (torch.float16,)),
    # ---- derivatives --------------------------------------------------------------------------------------------
    Hole("as_strided_scatter", "gradients", "torch lets the gradient through to what was overwritten"),
    *(
        Hole("istft", aspect, "torch gives windows no gradient", sample=_has_window)
        for aspect in ("gradients", "second")
    ),
    Hole("linalg.det", "second", "torch gives none, raxis one that is 0 but for rounding", (torch.complex128,),
         lambda sample: sample.input.shape[-1] == 1),
    *(
        Hole(f"nn.functional.linear_cross_entropy:{variant}", "second",
             "torch has no second derivative of what it computes in chunks")
        for variant in ("chunked", "chunked_none")
    ),
    Hole("masked.logaddexp", "second", "torch gives NaN instead of 0 where one element is left out"),
    Hole("linalg.norm:subgradients_at_zero", "second", "torch gives NaN",
         sample=lambda sample: sample.args == (None,)),
    # ---- forms --------------------------------------------------------------------------------------------------
    Hole("histogramdd", "out", "torch has no such out= either"),
    Hole("native_batch_norm", "out", "torch has no such out= either"),
    # ---- errors -------------------------------------------------------------------------------------------------
    Hole("narrow_copy", "errors", "raxis raises IndexError, where an internal check of torch fails"),
)  # fmt: skip

RANDOM = (
    "bernoulli", "cauchy", "empty", "empty_like", "empty_permuted", "empty_strided", "exponential", "geometric",
    "log_normal", "multinomial", "new_empty", "new_empty_strided", "nn.functional.*dropout*",
    "nn.functional.fractional_max_pool*", "normal*",
    "rand_like", "randint*", "randn*", "uniform",
)  # fmt: skip
"""Patterns of ops whose elements are drawn or uninitialised: only their dtypes and shapes are compared."""

UP_TO_SIGNS = ("linalg.eig", "linalg.eigh", "linalg.svd", "pca_lowrank", "svd", "svd_lowrank")
"""Ops whose vectors differ in sign between builds of LAPACK: elements are compared in derivatives only."""

Tolerances = Mapping[torch.dtype, tuple[float, float]]

_ILL_CONDITIONED: Tolerances = {
    torch.float32: (1e-3, 1e-4), torch.complex64: (1e-3, 1e-4),
    torch.float64: (1e-7, 1e-8), torch.complex128: (1e-7, 1e-8),
}  # fmt: skip
"""Rounding grows with the condition number."""
_COARSE: Tolerances = {torch.float16: (5e-3, 5e-3), torch.bfloat16: (5e-2, 5e-2)}
_LONG_SUMS: Tolerances = {torch.float32: (1e-4, 1e-4), torch.complex64: (1e-4, 1e-4)}

TOLERANCES: tuple[tuple[str, Tolerances], ...] = (
    *((name, _ILL_CONDITIONED) for name in (
        "linalg.*", "*cholesky*", "logdet", "lu*", "*pinverse", "qr", "svd", "triangular_solve", "matrix_exp",
    )),
    ("matrix_exp", {torch.float32: (2e-2, 1e-3)}),
    ("fft.*", _LONG_SUMS),
    ("*stft", _LONG_SUMS),
    ("nn.functional.*", _COARSE),
    ("*softmax*", _COARSE),
    ("cdist", _COARSE),
    ("nn.functional.conv*", _LONG_SUMS),
    # torch rounds partial sums of transposed convolutions to half precision, raxis only the result.
    ("nn.functional.conv_transpose*", {torch.float16: (5e-2, 5e-2), torch.bfloat16: (0.2, 0.4)}),
    ("nn.functional.interpolate*", _LONG_SUMS),
    ("nn.functional.upsample*", _LONG_SUMS),
    # torch divides by six in float32 in the gradient of hardsigmoid.
    ("nn.functional.hardsigmoid", {torch.float64: (1e-7, 1e-7)}),
    # Weights may be float32 beside float64 observations; what they sum to then depends on the order.
    ("cov", {torch.float64: (1e-5, 1e-5), torch.complex128: (1e-5, 1e-5)}),
    # torch computes these with errors of 1e-6 also in float64.
    ("special.bessel_*", {torch.float64: (1e-5, 1e-6)}),
    ("special.airy_ai", {torch.float64: (1e-5, 1e-6)}),
    ("special.hermite_polynomial_*", _LONG_SUMS),
    ("pca_lowrank", _ILL_CONDITIONED),
    ("svd_lowrank", _ILL_CONDITIONED),
    # Near the poles of trigamma torch loses digits in float32, because it does not reduce x before sin(pi x).
    ("*polygamma*", {torch.float32: (1e-4, 1e-5)}),
)  # fmt: skip
"""(rtol, atol) by pattern and dtype, where the defaults do not do; what stands later counts."""


def holes_of(key: str, aspect: str, dtype: torch.dtype | None) -> list[Hole]:
    """The holes that say anything about a case."""
    return [hole for hole in HOLES if hole.covers(key, aspect, dtype)]


def tolerances_of(key: str) -> Tolerances:
    """Tolerances of an entry, where they are not the defaults."""
    return {dtype: pair for name, table in TOLERANCES if fnmatch(key, name) for dtype, pair in table.items()}


def is_comparable(key: str, aspect: str) -> bool:
    """Whether elements, and not only dtypes and shapes, can be compared with torch's."""
    name = key.partition(":")[0]
    derived = aspect in ("gradients", "second")
    return not any(fnmatch(name, pattern) for pattern in RANDOM) and (derived or name not in UP_TO_SIGNS)
