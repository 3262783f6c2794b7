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

# Names are imported "as" themselves so that type checkers see them as public.
from raxis.device import Device as device  # noqa: N813  PyTorch's name
from raxis.dtypes import DType as dtype  # noqa: N813  PyTorch's name
from raxis.dtypes import bfloat16 as bfloat16
from raxis.dtypes import bool_ as bool
from raxis.dtypes import can_cast as can_cast
from raxis.dtypes import complex64 as complex64
from raxis.dtypes import complex128 as complex128
from raxis.dtypes import float16 as float16
from raxis.dtypes import float32 as float32
from raxis.dtypes import float64 as float64
from raxis.dtypes import int8 as int8
from raxis.dtypes import int16 as int16
from raxis.dtypes import int32 as int32
from raxis.dtypes import int64 as int64
from raxis.dtypes import promote_types as promote_types
from raxis.dtypes import uint8 as uint8
from raxis.errors import OutOfMemoryError as OutOfMemoryError

from raxis.tensor import Tensor as Tensor  # isort: skip  the table's functions need it
from raxis.autograd.grad_mode import enable_grad as enable_grad
from raxis.autograd.grad_mode import inference_mode as inference_mode
from raxis.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from raxis.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from raxis.autograd.grad_mode import no_grad as no_grad
from raxis.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from raxis.memory_format import channels_last as channels_last
from raxis.memory_format import contiguous_format as contiguous_format
from raxis.memory_format import memory_format as memory_format
from raxis.memory_format import preserve_format as preserve_format
from raxis.memory_format import strided as strided
from raxis.numeric_limits import finfo as finfo
from raxis.numeric_limits import iinfo as iinfo
from raxis.ops.functions import *
from raxis.ops.promotion import get_default_dtype as get_default_dtype
from raxis.ops.promotion import result_type as result_type
from raxis.ops.promotion import set_default_dtype as set_default_dtype
from raxis.placement import get_default_device as get_default_device
from raxis.placement import set_default_device as set_default_device
from raxis.random import Generator as Generator
from raxis.random import default_generator as default_generator
from raxis.random import get_rng_state as get_rng_state
from raxis.random import initial_seed as initial_seed
from raxis.random import manual_seed as manual_seed
from raxis.random import seed as seed
from raxis.random import set_rng_state as set_rng_state
from raxis.size import Size as Size
from raxis.version import __version__ as __version__

float = float32
double = float64
half = float16
int = int32
long = int64
short = int16
cfloat = complex64
cdouble = complex128
inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e

_LAZY_MODULES = frozenset(
    {
        "autograd",
        "backends",
        "compiler",
        "cpu",
        "cuda",
        "distributions",
        "env",
        "fft",
        "func",
        "hooks",
        "linalg",
        "masked",
        "nn",
        "optim",
        "overrides",
        "profiler",
        "return_types",
        "signal",
        "special",
        "testing",
        "utils",
    }
)
"""Submodules imported when first used, so that ``import raxis`` stays fast."""

_LAZY_NAMES = {
    "compile": "raxis.compiler",
    "cond": "raxis.compiler.control",
    "map": "raxis.compiler.control",
    "scan": "raxis.compiler.control",
    "while_loop": "raxis.compiler.control",
    "vmap": "raxis.func",
    "load": "raxis.serialization",
    "save": "raxis.serialization",
    "set_printoptions": "raxis.printing",
    "from_numpy": "raxis.interop",
    "frombuffer": "raxis.interop",
    "from_dlpack": "raxis.interop",
    "set_num_threads": "raxis.threads",
    "get_num_threads": "raxis.threads",
}
"""Functions outside the op table and where they live."""

if TYPE_CHECKING:
    from raxis import autograd as autograd
    from raxis import backends as backends
    from raxis import compiler as compiler
    from raxis import cpu as cpu
    from raxis import cuda as cuda
    from raxis import distributions as distributions
    from raxis import fft as fft
    from raxis import func as func
    from raxis import linalg as linalg
    from raxis import masked as masked
    from raxis import nn as nn
    from raxis import optim as optim
    from raxis import overrides as overrides
    from raxis import profiler as profiler
    from raxis import return_types as return_types
    from raxis import signal as signal
    from raxis import special as special
    from raxis import testing as testing
    from raxis import utils as utils
    from raxis.compiler import compile as compile
    from raxis.compiler.control import cond as cond
    from raxis.compiler.control import map as map
    from raxis.compiler.control import scan as scan
    from raxis.compiler.control import while_loop as while_loop
    from raxis.func import vmap as vmap
    from raxis.interop import from_dlpack as from_dlpack
    from raxis.interop import from_numpy as from_numpy
    from raxis.interop import frombuffer as frombuffer
    from raxis.printing import set_printoptions as set_printoptions
    from raxis.serialization import load as load
    from raxis.serialization import save as save
    from raxis.threads import get_num_threads as get_num_threads
    from raxis.threads import set_num_threads as set_num_threads


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
