"""Raxis: PyTorch's API on any device, in readable Python.

Example:
    >>> import raxis
    >>> x = raxis.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4., 6.])
"""

from __future__ import annotations

import math as _math
from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from raxis.device import Device as device
from raxis.dtypes import (
    DType as dtype,
)
from raxis.dtypes import (
    bfloat16,
    can_cast,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    uint8,
)
from raxis.dtypes import bool_ as bool  # noqa: A004  PyTorch's name
from raxis.errors import OutOfMemoryError
from raxis.tensor import Tensor  # isort: skip  the table's functions need it
from raxis.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from raxis.memory_format import (
    channels_last,
    contiguous_format,
    memory_format,
    preserve_format,
    strided,
)
from raxis.numeric_limits import finfo, iinfo
from raxis.ops.functions import *  # noqa: F403
from raxis.ops.promotion import get_default_dtype, result_type, set_default_dtype
from raxis.placement import get_default_device, set_default_device
from raxis.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from raxis.size import Size
from raxis.version import __version__

float = float32  # noqa: A001
double = float64
half = float16
int = int32  # noqa: A001
long = int64
short = int16
cfloat = complex64
cdouble = complex128
inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e

_LAZY_MODULES = frozenset(
    {"autograd", "backends", "cuda", "env", "func", "linalg", "nn", "optim", "return_types", "special", "testing", "utils"}
)
"""Submodules imported when first used, so that ``import raxis`` stays fast."""

_LAZY_NAMES = {
    "load": "raxis.serialization",
    "save": "raxis.serialization",
    "set_printoptions": "raxis.printing",
    "from_numpy": "raxis.interop",
    "frombuffer": "raxis.interop",
    "from_dlpack": "raxis.interop",
}
"""Functions outside the op table and where they live."""

if TYPE_CHECKING:
    from raxis import autograd, backends, cuda, nn, optim, return_types, utils
    from raxis.interop import from_dlpack, from_numpy, frombuffer
    from raxis.printing import set_printoptions
    from raxis.serialization import load, save


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        found: Any = _import_module(f"raxis.{name}")
    elif name in _LAZY_NAMES:
        found = getattr(_import_module(_LAZY_NAMES[name]), name)
    else:
        raise AttributeError(f"module 'raxis' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_NAMES})
