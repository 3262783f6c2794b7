"""Raxis: PyTorch's API on any device, in readable Python."""

from __future__ import annotations

from raxis import dtypes as _dtypes
from raxis.device import Device as device
from raxis.dtypes import DType as dtype
from raxis.ops import definitions as _definitions
from raxis.tensor import Tensor
from raxis.autograd.grad_mode import no_grad, enable_grad, is_grad_enabled
from raxis.ops.entry import FUNCTIONS as _F
from raxis.ops.definitions.creation import *
globals().update(_F["raxis"])
float32=_dtypes.float32
int64=_dtypes.int64
