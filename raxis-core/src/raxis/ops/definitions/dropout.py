"""Dropout and its variants for channels and for self-normalising networks."""

from __future__ import annotations

import warnings

from raxis.frames import user_stacklevel
from raxis.ops.functional import functional
from raxis.ops.table import Effect, composed
from raxis.tensor import Tensor

_ALPHA = 1.7580993408473766
"""Minus the value SELU tends to: scale times alpha (Klambauer et al., NeurIPS 2017)."""
_OPTIONS = "float p=0.5, bool training=True, bool inplace=False) -> Tensor"


def check_probability(p: float) -> None:
    """Raise ValueError unless `p` is in [0, 1]."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _multiplied(input: Tensor, noise: Tensor, inplace: bool) -> Tensor:
    return input.mul_(noise) if inplace else input * noise


def _noise(input: Tensor, shape: tuple[int, ...], p: float) -> Tensor:
    """0 with probability `p`, else ``1 / (1 - p)``."""
    return input.new_ones(shape)._dropout(float(p))[1]


@functional(f"dropout(Tensor input, {_OPTIONS}", effect=Effect.RANDOM)
def functional_dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability `p` and scale the others by ``1 / (1 - p)``.

    Args:
        input: any shape, floating point.
        p: the probability.
        training: False: return the input.
        inplace: write into the input.

    Raises:
        ValueError: if `p` is not in [0, 1].

    Source: Srivastava et al., "Dropout", JMLR 2014.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.dropout(raxis.ones(3), p=0.5, training=False)
        tensor([1., 1., 1.])
    """
    check_probability(p)
    if not training or p == 0 or input._layout.numel == 0:
        return input
    return (
        _multiplied(input, _noise(input, input._layout.shape, p), True)
        if inplace
        else input._dropout(float(p))[1]
    )


@composed(
    "dropout(Tensor input, float p, bool train) -> Tensor",
    method=False,
    out=False,
    inplace=True,
    effect=Effect.RANDOM,
)
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero elements with probability `p` and scale the others; see `raxis.nn.functional.dropout`.

    Raises:
        ValueError: if `p` is not in [0, 1].

    Example:
        >>> import raxis
        >>> raxis.dropout(raxis.ones(3), 0.5, train=False)
        tensor([1., 1., 1.])
    """
    return functional_dropout(input, p, train)


def _channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Zero whole channels of [N, C, ...]."""
    check_probability(p)
    if not training or p == 0 or input._layout.numel == 0:
        return input
    shape = (*input._layout.shape[:2], *(1,) * (input.ndim - 2))
    return _multiplied(input, _noise(input, shape, p), inplace)


def _batched_channels(input: Tensor, batched: bool, p: float, training: bool, inplace: bool) -> Tensor:
    if batched:
        return _channels(input, p, training, inplace)
    result = _channels(input.unsqueeze(0), p, training, inplace)
    return input if inplace else result.squeeze(0)


@functional(f"dropout1d(Tensor input, {_OPTIONS}", effect=Effect.RANDOM)
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of sequences with probability `p` and scale the others.

    Args:
        input: [N, C, L] or [C, L].
        p: the probability of a channel to be zeroed.
        training: False: return the input.
        inplace: write into the input.

    Raises:
        ValueError: if `p` is not in [0, 1].
        RuntimeError: if the input has other dimensions.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.dropout1d(raxis.ones(1, 2, 3), training=False).shape
        raxis.Size([1, 2, 3])
    """
    check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension."
        )
    return _batched_channels(input, input.ndim == 3, p, training, inplace)


@functional(f"dropout2d(Tensor input, {_OPTIONS}", effect=Effect.RANDOM)
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of images with probability `p` and scale the others.

    Args:
        input: [N, C, H, W]; the first two dimensions are batch and channel.
        p: the probability of a channel to be zeroed.
        training: False: return the input.
        inplace: write into the input.

    Raises:
        ValueError: if `p` is not in [0, 1].

    Example:
        >>> import raxis
        >>> raxis.nn.functional.dropout2d(raxis.ones(1, 2, 3, 3), training=False).shape
        raxis.Size([1, 2, 3, 3])
    """
    check_probability(p)
    if input.ndim != 4:
        warnings.warn(
            f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is deprecated and will result in an error "
            "in a future release: the first two dimensions are taken as batch and channel.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return _channels(input, p, training, inplace)


@functional(f"dropout3d(Tensor input, {_OPTIONS}", effect=Effect.RANDOM)
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of volumes with probability `p` and scale the others.

    Args:
        input: [N, C, D, H, W] or [C, D, H, W].
        p: the probability of a channel to be zeroed.
        training: False: return the input.
        inplace: write into the input.

    Raises:
        ValueError: if `p` is not in [0, 1].

    Example:
        >>> import raxis
        >>> raxis.nn.functional.dropout3d(raxis.ones(1, 2, 3, 3, 3), training=False).shape
        raxis.Size([1, 2, 3, 3, 3])
    """
    check_probability(p)
    if input.ndim not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.ndim}-D input to dropout3d, which is deprecated and will result in an error "
            "in a future release.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return _batched_channels(input, input.ndim != 4, p, training, inplace)


def _alpha_noised(input: Tensor, shape: tuple[int, ...], p: float, inplace: bool) -> Tensor:
    """Dropped elements become SELU's lower limit; an affine map restores mean and variance."""
    if p == 1:
        return _multiplied(input, input.new_zeros(()), inplace)
    scale = 1.0 / ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** 0.5
    kept = _noise(input, shape, p) * (1 - p)
    factor, shift = kept * scale, (kept - 1) * (_ALPHA * scale) + _ALPHA * scale * p
    return input.mul_(factor).add_(shift) if inplace else input * factor + shift


@functional(
    f"alpha_dropout(Tensor input, {_OPTIONS.replace('training=True', 'training=False')}", effect=Effect.RANDOM
)
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps zero mean and unit variance, for networks of `selu`.

    Args:
        input: any shape, floating point.
        p: the probability.
        training: False: return the input.
        inplace: write into the input.

    Raises:
        ValueError: if `p` is not in [0, 1].

    Source: Klambauer et al., "Self-Normalizing Neural Networks", NeurIPS 2017.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.alpha_dropout(raxis.ones(3))
        tensor([1., 1., 1.])
    """
    check_probability(p)
    if not training or p == 0 or input._layout.numel == 0:
        return input
    return _alpha_noised(input, input._layout.shape, p, inplace)


@functional(
    f"feature_alpha_dropout(Tensor input, {_OPTIONS.replace('training=True', 'training=False')}",
    effect=Effect.RANDOM,
)
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels of [N, C, ...].

    Args:
        input: [N, C, ...].
        p: the probability of a channel to be dropped.
        training: False: return the input.
        inplace: write into the input.

    Raises:
        ValueError: if `p` is not in [0, 1].
        RuntimeError: if the input has fewer than two dimensions.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.feature_alpha_dropout(raxis.ones(1, 2, 3)).shape
        raxis.Size([1, 2, 3])
    """
    check_probability(p)
    if not training or p == 0 or input._layout.numel == 0:
        return input
    if input.ndim < 2:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, but got {input.ndim}."
        )
    return _alpha_noised(input, (*input._layout.shape[:2], *(1,) * (input.ndim - 2)), p, inplace)
