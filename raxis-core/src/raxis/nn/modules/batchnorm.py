"""Normalisation with statistics of a batch or of one example, kept as running averages for evaluation."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import raxis
from raxis.nn import functional as F
from raxis.nn import init
from raxis.nn.modules.module import Module
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
]


class Normalisation(Module):
    """Parameters and running statistics of a layer that normalises channels."""

    # Version 2 added num_batches_tracked; checkpoints without a version, or of version 1, lack it.
    _version = 2

    _input_dims: ClassVar[tuple[int, ...]]

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._register_affine(bias, device, dtype)
        self._register_statistics(device, dtype)
        self.reset_parameters()

    def _register_affine(self, bias: bool, device: Device | str | None, dtype: DType | None) -> None:
        for name, wanted in (("weight", self.affine), ("bias", self.affine and bias)):
            values = raxis.empty(self.num_features, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if values is None else Parameter(values))

    def _register_statistics(self, device: Device | str | None, dtype: DType | None) -> None:
        if not self.track_running_stats:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
            return
        self.register_buffer("running_mean", raxis.zeros(self.num_features, device=device, dtype=dtype))
        self.register_buffer("running_var", raxis.ones(self.num_features, device=device, dtype=dtype))
        self.register_buffer("num_batches_tracked", raxis.zeros((), device=device, dtype=raxis.int64))

    def reset_running_stats(self) -> None:
        """Forget the statistics seen so far."""
        if self.running_mean is not None:
            self.running_mean.zero_()
        if self.running_var is not None:
            self.running_var.fill_(1.0)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the statistics and set scale and shift to one and zero."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._input_dims:
            expected = " or ".join(f"{dims}D" for dims in self._input_dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        key = prefix + "num_batches_tracked"
        counter = self.num_batches_tracked
        if local_metadata.get("version", 1) < 2 and counter is not None and key not in state_dict:
            state_dict[key] = counter.detach()
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(Normalisation):
    """Normalises every channel with the mean and variance over batch and space."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        self._check_input_dim(input)
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return self._averaged(input, self.num_batches_tracked)
        uses_running = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if uses_running else None,
            self.running_var if uses_running else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            self.momentum or 0.0,
            self.eps,
        )

    def _averaged(self, input: Tensor, batches: Tensor) -> Tensor:
        """Normalise, and let the statistics of all `batches` count alike; no number is read back."""
        assert self.running_mean is not None  # batches are counted for running statistics only
        assert self.running_var is not None
        mean, var = raxis.zeros_like(self.running_mean), raxis.zeros_like(self.running_var)
        normalised = F.batch_norm(input, mean, var, self.weight, self.bias, True, 1.0, self.eps)
        with raxis.no_grad():
            for running, latest in ((self.running_mean, mean), (self.running_var, var)):
                running.lerp_(latest, (1 / batches).to(running.dtype))
        return normalised


class BatchNorm1d(_BatchNorm):
    """Normalises channels of (N, C) or (N, C, L) over the batch, then scales and shifts them by learned numbers.

    Source: S. Ioffe, C. Szegedy, "Batch normalization", 2015.

    Args:
        num_features: number of channels C.
        eps: added to the variance.
        momentum: weight of a batch in the running statistics; None averages all batches equally.
        affine: whether to learn scale and shift.
        track_running_stats: whether to keep running statistics, which evaluation then uses.
        device: where parameters and statistics live.
        dtype: their floating dtype.
        bias: whether to learn the shift; only with `affine`.

    Raises:
        ValueError: on a call, when the input has another number of dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.BatchNorm1d(1)(raxis.tensor([[1.0], [3.0]])).round().tolist()
        [[-1.0], [1.0]]
    """

    _input_dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises channels of (N, C, H, W) over the batch; arguments as of `BatchNorm1d`.

    Raises:
        ValueError: on a call, when the input has not four dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.BatchNorm2d(3)(raxis.ones(2, 3, 4, 4)).shape)
        (2, 3, 4, 4)
    """

    _input_dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalises channels of (N, C, D, H, W) over the batch; arguments as of `BatchNorm1d`.

    Raises:
        ValueError: on a call, when the input has not five dimensions.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.BatchNorm3d(3)(raxis.ones(2, 3, 4, 4, 4)).shape)
        (2, 3, 4, 4, 4)
    """

    _input_dims = (5,)


class _InstanceNorm(Normalisation):
    """Normalises every channel of every example by itself."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        self._check_input_dim(input)
        batched = input if input.dim() == max(self._input_dims) else input.unsqueeze(0)
        if batched.shape[1] != self.num_features:
            self._refuse_channels(batched.shape[1], input.dim() - batched.dim() + 1)
        normalised = F.instance_norm(
            batched,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum or 0.0,
            self.eps,
        )
        return normalised if batched is input else normalised.squeeze(0)

    def _refuse_channels(self, channels: int, dim: int) -> None:
        """Refuse another number of channels, or warn where none is needed."""
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {channels}."
            )
        warnings.warn(
            f"input's size at dim={dim} is {channels} instead of num_features ({self.num_features}), which matters "
            "only with affine=True",
            stacklevel=4,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalises every channel of every example of (N, C, L) or (C, L) over L.

    Source: D. Ulyanov et al., "Instance normalization: the missing ingredient for fast stylization", 2016.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.InstanceNorm1d(1)(raxis.tensor([[[1.0, 3.0]]])).round().tolist()
        [[[-1.0, 1.0]]]
    """

    _input_dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalises every channel of every example of (N, C, H, W) or (C, H, W) over H and W.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.InstanceNorm2d(3)(raxis.ones(2, 3, 4, 4)).shape)
        (2, 3, 4, 4)
    """

    _input_dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalises every channel of every example of (N, C, D, H, W) or (C, D, H, W) over D, H and W.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.InstanceNorm3d(3)(raxis.ones(2, 3, 4, 4, 4)).shape)
        (2, 3, 4, 4, 4)
    """

    _input_dims = (4, 5)
