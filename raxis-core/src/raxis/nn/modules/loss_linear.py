"""Cross entropy together with the layer that computes the scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from raxis.nn import functional as F
from raxis.nn.modules.linear import Linear
from raxis.nn.modules.loss import WeightedLoss

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = ["LinearCrossEntropyLoss"]


class LinearCrossEntropyLoss(WeightedLoss):
    """`CrossEntropyLoss` of the outputs of a learned `Linear` layer, the attribute ``linear``.

    Args:
        in_features: features of the input.
        num_classes: number of classes.
        out_features: shape of what is predicted for each input; a single class when omitted.
        bias: whether the layer adds a learned vector.
        device: where the parameters live.
        dtype: their floating dtype.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        weight: one factor a class.
        ignore_index: target that contributes nothing; only for targets that are classes.
        label_smoothing: part of the target that is spread evenly over all classes.
        options: how PyTorch divides the work, on which the result does not depend; not looked at.

    Raises:
        RuntimeError: `weight` is not of shape (num_classes), or `label_smoothing` not between 0 and 1.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> round(nn.LinearCrossEntropyLoss(3, 2)(raxis.zeros(1, 3), raxis.tensor([0])).item(), 4)
        0.6931
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of an input (..., in_features) and classes, or probabilities of the scores' shape."""
        outputs = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*outputs, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(outputs),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}"
        )
