"""Normalisation layers that learn the number of channels from their first input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import raxis
from raxis.nn.modules.batchnorm import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    Normalisation,
)
from raxis.nn.modules.lazy import LazyModuleMixin
from raxis.nn.parameter import UninitializedBuffer

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _LazyNormalisation(LazyModuleMixin, Normalisation):
    """Parameters and running statistics that wait for `num_features`."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _register_affine(self, bias: bool, device: Device | str | None, dtype: DType | None) -> None:
        wanted = {"weight": self.affine, "bias": self.affine and bias}
        self._register_uninitialized(wanted, device, dtype)

    def _register_statistics(self, device: Device | str | None, dtype: DType | None) -> None:
        if not self.track_running_stats:
            super()._register_statistics(device, dtype)
            return
        for name in ("running_mean", "running_var"):
            self.register_buffer(name, UninitializedBuffer(device=device, dtype=dtype))
        self.register_buffer("num_batches_tracked", raxis.zeros((), device=device, dtype=raxis.int64))

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the number of channels from `input`."""
        self._check_input_dim(input)
        self.num_features = input.shape[self._channel_dim(input)]
        if self.has_uninitialized_params():
            names = ("weight", "bias", "running_mean", "running_var")
            self._materialize(**dict.fromkeys(names, (self.num_features,)))

    def _channel_dim(self, input: Tensor) -> int:
        return 1


class _LazyInstanceNorm(_LazyNormalisation):
    """Takes single examples, too."""

    def _channel_dim(self, input: Tensor) -> int:
        return 1 if input.dim() == max(self._input_dims) else 0


class LazyBatchNorm1d(_LazyNormalisation, BatchNorm1d):
    """A `BatchNorm1d` that takes `num_features` from its first input; the other arguments are the same.

    Raises:
        ValueError: on the first call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.LazyBatchNorm1d()
        >>> tuple(layer(raxis.ones(2, 3, 5)).shape), layer.num_features
        ((2, 3, 5), 3)
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormalisation, BatchNorm2d):
    """A `BatchNorm2d` that takes `num_features` from its first input; the other arguments are the same.

    Raises:
        ValueError: on the first call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.LazyBatchNorm2d()
        >>> tuple(layer(raxis.ones(2, 3, 4, 4)).shape), layer.num_features
        ((2, 3, 4, 4), 3)
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormalisation, BatchNorm3d):
    """A `BatchNorm3d` that takes `num_features` from its first input; the other arguments are the same.

    Raises:
        ValueError: on the first call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.LazyBatchNorm3d()
        >>> tuple(layer(raxis.ones(2, 3, 4, 4, 4)).shape), layer.num_features
        ((2, 3, 4, 4, 4), 3)
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An `InstanceNorm1d` that takes `num_features` from its first input; the other arguments are the same,
    but `affine` and `track_running_stats` are on unless switched off.

    Raises:
        ValueError: on the first call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.LazyInstanceNorm1d()
        >>> tuple(layer(raxis.ones(2, 3, 5)).shape), layer.num_features
        ((2, 3, 5), 3)
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An `InstanceNorm2d` that takes `num_features` from its first input; the other arguments are the same,
    but `affine` and `track_running_stats` are on unless switched off.

    Raises:
        ValueError: on the first call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.LazyInstanceNorm2d()
        >>> tuple(layer(raxis.ones(2, 3, 4, 4)).shape), layer.num_features
        ((2, 3, 4, 4), 3)
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An `InstanceNorm3d` that takes `num_features` from its first input; the other arguments are the same,
    but `affine` and `track_running_stats` are on unless switched off.

    Raises:
        ValueError: on the first call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.LazyInstanceNorm3d()
        >>> tuple(layer(raxis.ones(2, 3, 4, 4, 4)).shape), layer.num_features
        ((2, 3, 4, 4, 4), 3)
    """

    cls_to_become = InstanceNorm3d
