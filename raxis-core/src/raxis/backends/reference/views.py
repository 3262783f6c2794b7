"""Views of buffer arguments, with strides worked out at compile time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from raxis.backends.reference.casting import Kernel
from raxis.ptir.types import TensorType


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


@dataclass(frozen=True)
class View:
    """A strided part of a buffer that is known by name in the generated source.

    `model` has the view's shape and strides and stands at the same distance from `origin` as the view from
    the start of the operand. Its memory is never read, so view kernels can run on it before any data exist.
    """

    buffer: str
    offset: str
    model: Any
    origin: int

    def through(self, kernel: Kernel) -> View:
        """This view after a kernel that only rearranges strides."""
        return View(self.buffer, self.offset, kernel(self.model), self.origin)

    @property
    def is_contiguous(self) -> bool:
        """Whether a reshape of it is a view."""
        return bool(self.model.flags.c_contiguous)

    def arguments(self) -> tuple[tuple[int, ...], Any, str, tuple[int, ...] | None]:
        """Arguments of the ndarray constructor: shape, dtype, offset expression, strides (None: contiguous)."""
        model = self.model
        if model.size == 0:
            return model.shape, model.dtype, "0", None
        distance = _address(model) - self.origin
        offset = f"{self.offset} + {distance}" if distance else self.offset
        return model.shape, model.dtype, offset, None if self.is_contiguous else model.strides


def strided_view(type: TensorType, strides: Sequence[int], buffer: str, offset: str) -> View:
    """The view of a tensor argument: strides in elements, `offset` names its offset in elements."""
    dtype = type.dtype.numpy
    byte_strides = tuple(stride * dtype.itemsize for stride in strides)
    model = np.lib.stride_tricks.as_strided(np.empty(1, dtype), type.shape, byte_strides)
    return View(buffer, f"{offset} * {dtype.itemsize}", model, _address(model))


def scalar_view(type: TensorType, buffer: str) -> View:
    """The view of a whole rank-0 array."""
    model = np.empty((), type.dtype.numpy)
    return View(buffer, "0", model, _address(model))
