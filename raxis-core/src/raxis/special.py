"""Special functions, under PyTorch's names in ``torch.special``.

Most are functions of `raxis` under the names that the literature and SciPy use.

Example:
    >>> import raxis
    >>> raxis.special.expit(raxis.tensor([0.0]))
    tensor([0.5000])
"""

from __future__ import annotations

import sys

from raxis.ops.entry import install
from raxis.ops.functions import (
    digamma,
    erf,
    erfc,
    erfinv,
    exp2,
    expm1,
    i0,
    igamma,
    igammac,
    lgamma,
    log1p,
    log_softmax,
    logit,
    logsumexp,
    mvlgamma,
    polygamma,
    round,
    sigmoid,
    sinc,
    softmax,
    xlogy,
)

expit = sigmoid
gammainc = igamma
gammaincc = igammac
gammaln = lgamma
multigammaln = mvlgamma
psi = digamma

_TABLE = install(sys.modules[__name__], "raxis.special")

__all__ = [  # noqa: PLE0604  the table decides
    "digamma", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln", "i0", "log1p",
    "log_softmax", "logit", "logsumexp", "multigammaln", "polygamma", "psi", "round", "sinc", "softmax", "xlogy",
    *_TABLE,
]  # fmt: skip
