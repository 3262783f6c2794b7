"""Layers that change the resolution of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = [
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


class Upsample(Module):
    """Resizes the dimensions after the first two.

    Args:
        size: sizes of the result; or give `scale_factor`.
        scale_factor: sizes of the result divided by those of the input.
        mode: how values between elements are found, see ``F.interpolate``.
        align_corners: whether the corner elements keep their values.
        recompute_scale_factor: whether the factor is computed again from the rounded size.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Upsample(scale_factor=2)(raxis.tensor([[[1.0, 2.0]]])).tolist()
        [[[1.0, 1.0, 2.0, 2.0]]]
    """

    def __init__(
        self,
        size: SizeLike | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        if isinstance(scale_factor, (tuple, list)):
            self.scale_factor: float | tuple[float, ...] | None = tuple(
                float(factor) for factor in scale_factor
            )
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None  # type: ignore[arg-type]
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        by = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{by}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes (N, C, H, W), every element taking the value of the nearest one; to `size` or by `scale_factor`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.UpsamplingNearest2d(scale_factor=2)(raxis.tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """

    def __init__(
        self, size: SizeLike | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes (N, C, H, W) by bilinear interpolation that keeps the corners; to `size` or by `scale_factor`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.UpsamplingBilinear2d((1, 3))(raxis.tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.5, 2.0]]]]
    """

    def __init__(
        self, size: SizeLike | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Turns r² channels into pixels: (..., C·r², H, W) to (..., C, H·r, W·r), r being `upscale_factor`.

    Source: W. Shi et al., "Real-time single image and video super-resolution", 2016.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.PixelShuffle(2)(raxis.arange(4.0).reshape(4, 1, 1)).tolist()
        [[[0.0, 1.0], [2.0, 3.0]]]
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The opposite of `PixelShuffle`: pixels into channels.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.PixelUnshuffle(2)(raxis.zeros(1, 4, 6)).shape)
        (4, 2, 3)
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class Unfold(Module):
    """Windows of images as columns: (N, C, H, W) to (N, C·kernel elements, windows).

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Unfold(2)(raxis.zeros(1, 3, 4, 5)).shape)
        (1, 12, 12)
    """

    def __init__(
        self, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0, stride: SizeLike = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Fold(Module):
    """Adds the columns that `Unfold` makes to images of size `output_size`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Fold((1, 3), (1, 2))(raxis.ones(1, 2, 2)).tolist()
        [[[[1.0, 2.0, 1.0]]]]
    """

    def __init__(
        self,
        output_size: SizeLike,
        kernel_size: SizeLike,
        dilation: SizeLike = 1,
        padding: SizeLike = 0,
        stride: SizeLike = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )
