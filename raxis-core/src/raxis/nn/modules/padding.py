"""Layers that extend their input at its borders.

`padding` is one int for all sides, or one int a side: left and right, then top and bottom, then front and back.
Negative ones cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from raxis.nn import functional as F
from raxis.nn.modules.module import Module
from raxis.nn.modules.sizes import repeated

if TYPE_CHECKING:
    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """Padding in the mode `_mode` of `F.pad` at `_sides` borders."""

    _sides: ClassVar[int]
    _mode: ClassVar[str]

    def __init__(self, padding: SizeLike) -> None:
        super().__init__()
        self.padding = repeated(padding, self._sides)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.pad(input, self.padding, mode=self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """Padding with one value."""

    _mode = "constant"

    def __init__(self, padding: SizeLike, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.pad(input, self.padding, mode=self._mode, value=self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Extends the last dimension with `value`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ConstantPad1d(1, 9.0)(raxis.tensor([[1.0, 2.0]])).tolist()
        [[9.0, 1.0, 2.0, 9.0]]
    """

    _sides = 2


class ConstantPad2d(_ConstantPad):
    """Extends the last two dimensions with `value`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ConstantPad2d((1, 2, 3, 4), 9.0)(raxis.zeros(1, 5, 5)).shape)
        (1, 12, 8)
    """

    _sides = 4


class ConstantPad3d(_ConstantPad):
    """Extends the last three dimensions with `value`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ConstantPad3d((1, 2, 3, 4, 0, 1), 9.0)(raxis.zeros(1, 2, 3, 4)).shape)
        (1, 3, 10, 7)
    """

    _sides = 6


class _ZeroPad(_ConstantPad):
    """Padding with zeros."""

    def __init__(self, padding: SizeLike) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    """Extends the last dimension with zeros.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ZeroPad1d((2, 0))(raxis.tensor([[1.0]])).tolist()
        [[0.0, 0.0, 1.0]]
    """

    _sides = 2


class ZeroPad2d(_ZeroPad):
    """Extends the last two dimensions with zeros.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ZeroPad2d(1)(raxis.zeros(1, 5, 5)).shape)
        (1, 7, 7)
    """

    _sides = 4


class ZeroPad3d(_ZeroPad):
    """Extends the last three dimensions with zeros.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ZeroPad3d(1)(raxis.zeros(1, 2, 3, 4)).shape)
        (1, 4, 5, 6)
    """

    _sides = 6


class ReflectionPad1d(_Pad):
    """Extends the last dimension with its mirror image, the border element not repeated.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ReflectionPad1d(1)(raxis.tensor([[1.0, 2.0, 3.0]])).tolist()
        [[2.0, 1.0, 2.0, 3.0, 2.0]]
    """

    _sides, _mode = 2, "reflect"


class ReflectionPad2d(_Pad):
    """Extends the last two dimensions with their mirror image, the border elements not repeated.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ReflectionPad2d(1)(raxis.zeros(1, 5, 5)).shape)
        (1, 7, 7)
    """

    _sides, _mode = 4, "reflect"


class ReflectionPad3d(_Pad):
    """Extends the last three dimensions with their mirror image, the border elements not repeated.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ReflectionPad3d(1)(raxis.zeros(1, 2, 3, 4)).shape)
        (1, 4, 5, 6)
    """

    _sides, _mode = 6, "reflect"


class ReplicationPad1d(_Pad):
    """Extends the last dimension with its border elements.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ReplicationPad1d(1)(raxis.tensor([[1.0, 2.0]])).tolist()
        [[1.0, 1.0, 2.0, 2.0]]
    """

    _sides, _mode = 2, "replicate"


class ReplicationPad2d(_Pad):
    """Extends the last two dimensions with their border elements.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ReplicationPad2d(1)(raxis.zeros(1, 5, 5)).shape)
        (1, 7, 7)
    """

    _sides, _mode = 4, "replicate"


class ReplicationPad3d(_Pad):
    """Extends the last three dimensions with their border elements.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ReplicationPad3d(1)(raxis.zeros(1, 2, 3, 4)).shape)
        (1, 4, 5, 6)
    """

    _sides, _mode = 6, "replicate"


class CircularPad1d(_Pad):
    """Extends the last dimension as if it were a ring.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.CircularPad1d(1)(raxis.tensor([[1.0, 2.0, 3.0]])).tolist()
        [[3.0, 1.0, 2.0, 3.0, 1.0]]
    """

    _sides, _mode = 2, "circular"


class CircularPad2d(_Pad):
    """Extends the last two dimensions as if they were rings.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.CircularPad2d(1)(raxis.zeros(1, 5, 5)).shape)
        (1, 7, 7)
    """

    _sides, _mode = 4, "circular"


class CircularPad3d(_Pad):
    """Extends the last three dimensions as if they were rings.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.CircularPad3d(1)(raxis.zeros(1, 2, 3, 4)).shape)
        (1, 4, 5, 6)
    """

    _sides, _mode = 6, "circular"
