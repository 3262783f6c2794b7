"""Filling tensors with the values training starts from. Every function works in place, outside of autograd.

Names ending in an underscore return the tensor they were given. Random ones take a `generator`; without it they
draw from the default one.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import raxis

if TYPE_CHECKING:
    from raxis.random import Generator
    from raxis.tensor import Tensor

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

Initialiser = TypeVar("Initialiser", bound=Callable[..., Any])

_GAINS = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d"), 1.0),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), 1.0),
    "sigmoid": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def _without_grad(initialise: Initialiser) -> Initialiser:
    @functools.wraps(initialise)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with raxis.no_grad():
            return initialise(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance of activations constant through a non-linearity.

    Args:
        nonlinearity: name of a function in ``nn.functional``.
        param: the negative slope of ``leaky_relu``, 0.01 when omitted.

    Raises:
        ValueError: the name is not known or `param` is not a number.

    Example:
        >>> from raxis.nn import init
        >>> init.calculate_gain("leaky_relu", 1.0)
        1.0
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1.0 + _slope(param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"Unsupported nonlinearity {nonlinearity}; expected one of {', '.join([*_GAINS, 'leaky_relu'])}."
        )
    return _GAINS[nonlinearity]


def _slope(param: Any) -> float:
    if param is None:
        return 0.01
    if isinstance(param, bool) or not isinstance(param, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return param


@_without_grad
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with numbers between `a` and `b`, all equally likely.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> bool((init.uniform_(raxis.empty(100), 2.0, 3.0) >= 2.0).all())
        True
    """
    return tensor.uniform_(a, b, generator=generator)


@_without_grad
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with normally distributed numbers.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> init.normal_(raxis.empty(3), mean=2.0, std=0.0).tolist()
        [2.0, 2.0, 2.0]
    """
    return tensor.normal_(mean, std, generator=generator)


@_without_grad
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with numbers of the normal distribution restricted to the interval from `a` to `b`.

    Uniform numbers between the distribution function's values at both ends are sent through its inverse.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> bool((init.trunc_normal_(raxis.empty(1000)).abs() <= 2.0).all())
        True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=3,
        )
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2.0))) for bound in (a, b))
    tensor.uniform_(low, high, generator=generator).erfinv_()
    return tensor.mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)


@_without_grad
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> init.constant_(raxis.empty(2), 0.5).tolist()
        [0.5, 0.5]
    """
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> init.ones_(raxis.empty(2)).tolist()
        [1.0, 1.0]
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> init.zeros_(raxis.empty(2)).tolist()
        [0.0, 0.0]
    """
    return constant_(tensor, 0.0)


@_without_grad
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity: as many inputs of a linear layer as possible pass unchanged.

    Raises:
        ValueError: `tensor` does not have two dimensions.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> init.eye_(raxis.empty(2, 3)).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    _require_dimensions(tensor, 2)
    return tensor.copy_(raxis.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@_without_grad
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight so that as many input channels as possible pass unchanged, in every group.

    Raises:
        ValueError: `tensor` has not three to five dimensions, or the first is not divisible by `groups`.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> init.dirac_(raxis.empty(1, 1, 3)).tolist()
        [[[0.0, 1.0, 0.0]]]
    """
    _require_dimensions(tensor, 3, 4, 5)
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups:
        raise ValueError(f"dim 0 must be divisible by groups, got {out_channels} and {groups}")
    tensor.zero_()
    centre = tuple(size // 2 for size in kernel)
    per_group = out_channels // groups
    for group in range(groups):
        for channel in range(min(per_group, in_channels)):
            tensor[(group * per_group + channel, channel, *centre)] = 1.0
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill uniformly so that variance is kept forwards and backwards on average.

    Source: X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.

    Raises:
        ValueError: `tensor` has fewer than two dimensions.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> bool((init.xavier_uniform_(raxis.empty(3, 3)).abs() <= 1.0).all())
        True
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill normally so that variance is kept forwards and backwards on average; see `xavier_uniform_`.

    Raises:
        ValueError: `tensor` has fewer than two dimensions.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> tuple(init.xavier_normal_(raxis.empty(3, 5)).shape)
        (3, 5)
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fan_in, fan_out = fans(tensor)
    return gain * math.sqrt(2.0 / (fan_in + fan_out))


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill uniformly so that variance is kept through rectifiers.

    Source: K. He et al., "Delving deep into rectifiers", 2015.

    Args:
        tensor: weight of two or more dimensions, output features first.
        a: negative slope of the rectifier that follows.
        mode: ``"fan_in"`` keeps the variance of activations, ``"fan_out"`` that of gradients.
        nonlinearity: see `calculate_gain`.
        generator: source of the random numbers.

    Raises:
        ValueError: `tensor` has fewer than two dimensions, or `mode` or `nonlinearity` is not known.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> bool((init.kaiming_uniform_(raxis.empty(2, 6)).abs() <= 1.0).all())
        True
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill normally so that variance is kept through rectifiers; arguments as of `kaiming_uniform_`.

    Raises:
        ValueError: `tensor` has fewer than two dimensions, or `mode` or `nonlinearity` is not known.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> tuple(init.kaiming_normal_(raxis.empty(2, 6), nonlinearity="relu").shape)
        (2, 6)
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _is_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    choices = dict(zip(("fan_in", "fan_out"), fans(tensor), strict=True))
    if mode.lower() not in choices:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(choices)}")
    return calculate_gain(nonlinearity, a) / math.sqrt(choices[mode.lower()])


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs one output of the weight `tensor` sees, and how many outputs one input reaches.

    Raises:
        ValueError: `tensor` has fewer than two dimensions.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> init.fans(raxis.empty(8, 4, 3, 3))
        (36, 72)
    """
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, "
            f"got shape {tuple(tensor.shape)}"
        )
    fan_out, fan_in, *kernel = tensor.shape
    receptive_field = math.prod(kernel)
    return fan_in * receptive_field, fan_out * receptive_field


@_without_grad
def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with a (semi-)orthogonal matrix, dimensions after the first taken together.

    Source: A. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear networks", 2013.

    Raises:
        ValueError: `tensor` has fewer than two dimensions.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> weight = init.orthogonal_(raxis.empty(3, 3))
        >>> raxis.allclose(weight @ weight.T, raxis.eye(3), atol=1e-5)
        True
    """
    if tensor.dim() < 2:
        raise ValueError(
            f"Only tensors with 2 or more dimensions are supported, got shape {tuple(tensor.shape)}"
        )
    if tensor.numel() == 0:
        return tensor
    sample = raxis.empty(tensor.shape, dtype=raxis.float64, device=tensor.device).normal_(generator=generator)
    orthogonal = _orthogonalised(sample.flatten(1).cpu().numpy())
    return tensor.copy_(raxis.from_numpy(gain * orthogonal).reshape(tensor.shape))


def _orthogonalised(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The orthogonal factor of a QR decomposition; fixing R's signs makes it uniformly distributed."""
    wide = matrix.shape[0] < matrix.shape[1]
    factor, upper = np.linalg.qr(matrix.T if wide else matrix)
    factor = factor * np.sign(np.diagonal(upper))
    return np.ascontiguousarray(factor.T if wide else factor)


@_without_grad
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix normally, then set the fraction `sparsity` of every column, rounded up, to zero.

    Source: J. Martens, "Deep learning via Hessian-free optimization", 2010.

    Raises:
        ValueError: `tensor` does not have two dimensions.

    Example:
        >>> import raxis
        >>> from raxis.nn import init
        >>> int((init.sparse_(raxis.empty(4, 2), sparsity=0.5) == 0).sum())
        4
    """
    _require_dimensions(tensor, 2)
    rows, columns = tensor.shape
    zero_count = math.ceil(sparsity * rows)
    tensor.normal_(0.0, std, generator=generator)
    for column in range(columns):
        chosen = raxis.randperm(rows, generator=generator)[:zero_count]
        tensor[chosen.to(tensor.device), column] = 0.0
    return tensor


def _require_dimensions(tensor: Tensor, *allowed: int) -> None:
    if tensor.dim() not in allowed:
        choices = " or ".join(map(str, allowed))
        raise ValueError(
            f"Only tensors with {choices} dimensions are supported, got shape {tuple(tensor.shape)}"
        )
