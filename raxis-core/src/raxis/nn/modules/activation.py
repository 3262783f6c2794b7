"""Activations that are smooth everywhere, applied element by element, and the softmax family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.activation_inplace import InplaceActivation
from raxis.nn.modules.module import Module

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = [
    "GELU",
    "GLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
]


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Sigmoid()(raxis.tensor(0.0)).item()
        0.5
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Tanh()(raxis.tensor(0.0)).item()
        0.0
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.tanh(input)


class LogSigmoid(Module):
    """The logarithm of the sigmoid, computed without overflow.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.LogSigmoid()(raxis.tensor(-1000.0)).item()
        -1000.0
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|).

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Softsign()(raxis.tensor(1.0)).item()
        0.5
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softsign(input)


class Softplus(Module):
    """log(1 + exp(`beta` · x)) / `beta`; x itself where `beta` · x exceeds `threshold`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Softplus()(raxis.tensor(100.0)).item()
        100.0
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(Module):
    """x times the standard normal distribution function of x; with ``approximate="tanh"`` its usual approximation.

    Source: D. Hendrycks, K. Gimpel, "Gaussian error linear units", 2016.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.GELU()(raxis.tensor(0.0)).item()
        0.0
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(InplaceActivation):
    """x · sigmoid(x), also called swish.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.SiLU()(raxis.tensor(0.0)).item()
        0.0
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.silu(input, inplace=self.inplace)


class Mish(InplaceActivation):
    """x · tanh(softplus(x)).

    Source: D. Misra, "Mish: a self regularized non-monotonic activation function", 2019.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Mish()(raxis.tensor(0.0)).item()
        0.0
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.mish(input, inplace=self.inplace)


class GLU(Module):
    """The first half of `dim` times the sigmoid of the second half.

    Source: Y. Dauphin et al., "Language modeling with gated convolutional networks", 2016.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.GLU()(raxis.tensor([3.0, 0.0])).tolist()
        [1.5]
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class _SoftmaxFamily(Module):
    """Holds the dimension along which probabilities sum to one."""

    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_SoftmaxFamily):
    """exp(x), scaled so that the sum along `dim` is one.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Softmax(dim=0)(raxis.zeros(4)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmax(input, self.dim)


class Softmin(_SoftmaxFamily):
    """`Softmax` of -x: the smallest elements become the largest.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Softmin(dim=0)(raxis.zeros(2)).tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """`Softmax` over the channels of (N, C, H, W) or (C, H, W).

    Raises:
        ValueError: on a call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Softmax2d()(raxis.zeros(2, 1, 1)).flatten().tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


class LogSoftmax(_SoftmaxFamily):
    """The logarithm of `Softmax`, computed without overflow.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.LogSoftmax(dim=0)(raxis.tensor([5.0])).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.log_softmax(input, self.dim)
