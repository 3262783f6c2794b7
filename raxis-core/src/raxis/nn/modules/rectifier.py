"""Activations with a kink: rectifiers and piecewise linear functions, applied element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import raxis
from raxis.nn import functional as F
from raxis.nn import init
from raxis.nn.modules.activation_inplace import InplaceActivation, inplace_suffix
from raxis.nn.modules.module import Module
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = [
    "CELU",
    "ELU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "Softshrink",
    "Tanhshrink",
    "Threshold",
]


class Threshold(Module):
    """Keeps elements greater than `threshold` and replaces the others by `value`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Threshold(0.5, 9.0)(raxis.tensor([0.0, 1.0])).tolist()
        [9.0, 1.0]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}{inplace_suffix(self.inplace)}"


class ReLU(InplaceActivation):
    """max(0, x).

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ReLU()(raxis.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.relu(input, inplace=self.inplace)


class Hardtanh(Module):
    """x, limited to the interval from `min_val` to `max_val`.

    Raises:
        ValueError: `max_val` is not greater than `min_val`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Hardtanh()(raxis.tensor([-3.0, 0.5])).tolist()
        [-1.0, 0.5]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        if max_val <= min_val:
            raise ValueError(f"max_val must be larger than min_val, got max_val={max_val}, min_val={min_val}")
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}{inplace_suffix(self.inplace)}"


class ReLU6(Hardtanh):
    """min(max(0, x), 6).

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ReLU6()(raxis.tensor([-1.0, 8.0])).tolist()
        [0.0, 6.0]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Hardsigmoid(InplaceActivation):
    """min(max(0, x + 3), 6) / 6. `inplace` is not shown by ``repr``.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Hardsigmoid()(raxis.tensor([-4.0, 0.0])).tolist()
        [0.0, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardswish(InplaceActivation):
    """x · min(max(0, x + 3), 6) / 6. `inplace` is not shown by ``repr``.

    Source: A. Howard et al., "Searching for MobileNetV3", 2019.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Hardswish()(raxis.tensor([-4.0, 3.0])).abs().tolist()
        [0.0, 3.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class LeakyReLU(Module):
    """x where positive, `negative_slope` · x elsewhere.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.LeakyReLU(0.5)(raxis.tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{inplace_suffix(self.inplace)}"


class RReLU(Module):
    """x where positive, a slope times x elsewhere: random between `lower` and `upper` in training, else their mean.

    Source: B. Xu et al., "Empirical evaluation of rectified activations in convolutional network", 2015.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.RReLU(0.25, 0.75).eval()(raxis.tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}{inplace_suffix(self.inplace)}"


class PReLU(Module):
    """x where positive, a learned slope times x elsewhere: one slope, or one a channel (the second dimension).

    Source: K. He et al., "Delving deep into rectifiers", 2015.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.PReLU(init=0.5)(raxis.tensor([-2.0, 2.0])).tolist()
        [-1.0, 2.0]
    """

    weight: Parameter

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(raxis.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all slopes to their starting value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class ELU(Module):
    """x where positive, `alpha` · (exp(x) - 1) elsewhere.

    Source: D. Clevert et al., "Fast and accurate deep network learning by exponential linear units", 2015.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ELU()(raxis.tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{inplace_suffix(self.inplace)}"


class CELU(Module):
    """max(0, x) + min(0, `alpha` · (exp(x / `alpha`) - 1)).

    Source: J. Barron, "Continuously differentiable exponential linear units", 2017.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.CELU()(raxis.tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{inplace_suffix(self.inplace)}"


class SELU(InplaceActivation):
    """The exponential linear unit scaled so that activations tend to zero mean and unit variance.

    Source: G. Klambauer et al., "Self-normalizing neural networks", 2017.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> round(nn.SELU()(raxis.tensor(1.0)).item(), 4)
        1.0507
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.selu(input, self.inplace)


class _Shrink(Module):
    """Holds the size below which elements become zero."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """x where |x| exceeds `lambd`, zero elsewhere.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Hardshrink()(raxis.tensor([0.25, 2.0])).tolist()
        [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards zero by `lambd`, at most to zero.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Softshrink()(raxis.tensor([0.25, 2.0])).tolist()
        [0.0, 1.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.softshrink(input, self.lambd)


class Tanhshrink(Module):
    """x - tanh(x).

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Tanhshrink()(raxis.tensor(0.0)).item()
        0.0
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the function."""
        return F.tanhshrink(input)
