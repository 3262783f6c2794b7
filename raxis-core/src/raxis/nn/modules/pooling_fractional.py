"""Layers that take maxima over windows whose places are random, so that the size shrinks by any factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from raxis.nn import functional as F
from raxis.nn.modules.module import Module
from raxis.nn.modules.sizes import repeated

if TYPE_CHECKING:
    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPool(Module):
    """Holds the windows over the last `_spatial_dims` dimensions and how many there are."""

    _spatial_dims: ClassVar[int]

    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: SizeLike,
        output_size: SizeLike | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self._spatial_dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else repeated(output_size, self._spatial_dims)
        self.output_ratio = self._ratios(output_ratio)
        self._check()

    def _ratios(self, ratio: float | Sequence[float] | None) -> tuple[float, ...] | None:
        if ratio is None or isinstance(ratio, Sequence):
            return None if ratio is None else tuple(ratio)
        return (ratio,) * self._spatial_dims

    def _check(self) -> None:
        if any(size <= 0 for size in self.kernel_size):
            raise ValueError(f"kernel_size must be greater than 0, but got {self.kernel_size}")
        if self.output_size is None and self.output_ratio is None:
            raise ValueError(
                f"{self._get_name()} requires either output_size or output_ratio, but got neither"
            )
        if self.output_size is not None and self.output_ratio is not None:
            raise ValueError(
                f"only one of output_size and output_ratio may be specified, but got output_size={self.output_size} "
                f"and output_ratio={self.output_ratio}"
            )
        if not all(0 < ratio < 1 for ratio in self.output_ratio or ()):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {self.output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maximum over randomly placed windows of the last two dimensions of (N, C, H, W) or (C, H, W).

    Source: B. Graham, "Fractional max-pooling", 2014.

    Args:
        kernel_size: sizes of the windows, one int or two.
        output_size: how many windows there are; or give `output_ratio`.
        output_ratio: that number divided by the size of the input, between 0 and 1.
        return_indices: whether to return the places of the maxima too.
        _random_samples: numbers from 0 to 1 that place the windows, (N, C, 2); drawn at each call when omitted.

    Raises:
        ValueError: neither or both of `output_size` and `output_ratio` are given, or a number is out of range.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.FractionalMaxPool2d(2, output_ratio=0.75)(raxis.zeros(1, 3, 8, 12)).shape)
        (1, 3, 6, 9)
    """

    _spatial_dims = 2

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maximum over randomly placed windows of the last three dimensions.

    Arguments as of `FractionalMaxPool2d`, one number or three.

    Raises:
        ValueError: neither or both of `output_size` and `output_ratio` are given, or a number is out of range.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.FractionalMaxPool3d(2, output_size=(2, 3, 4))(raxis.zeros(1, 3, 4, 6, 8)).shape)
        (1, 3, 2, 3, 4)
    """

    _spatial_dims = 3

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )
