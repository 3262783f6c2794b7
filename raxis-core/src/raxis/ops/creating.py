"""Functions of creation ops: zeros, rand, arange and the like.

The body of such an op works out what is to be made and returns a function that makes it. Calls with equal arguments
repeat that function. What all have in common is added here: ``out``, ``layout``, ``pin_memory``, ``requires_grad``.
"""

from __future__ import annotations

import cmath
import functools
from collections.abc import Callable
from functools import partial
from inspect import Parameter
from typing import Any

from raxis.device import Device
from raxis.dtypes import DType
from raxis.interception import active, observer
from raxis.layout import Shape, layout_of
from raxis.memory_format import layout as StorageLayout
from raxis.memory_format import memory_format, strided
from raxis.ops import tables
from raxis.ops.composition import CONVERSION_NAMES, Parameters, run_body
from raxis.ops.destination import fit_output
from raxis.ops.source import deferred_function
from raxis.ops.table import Op
from raxis.placement import chosen_device
from raxis.tensor import Tensor

OPTIONS = {"out": None, "layout": None, "pin_memory": False, "requires_grad": False, "generator": None}
"""The parameters in schemas of creation ops that bodies do not see, with their defaults."""


def created_function(op: Op) -> Callable[..., Any]:
    """The public function of a creation op."""
    body = op.body
    body.__name__ = body.__qualname__ = op.name
    body.__module__ = op.namespace
    function = deferred_function(op.name, partial(_function, op))
    functools.update_wrapper(function, body)
    return function


def _function(op: Op) -> tuple[str, dict[str, Any]]:
    parameters = Parameters(op.body)
    schema = {parameter.name for parameter in op.parameters}
    signature, names = parameters.signature({name: OPTIONS[name] for name in OPTIONS if name in schema})
    special = "".join(f" or {name} is not None" for name in ("out", "layout") if name in schema)
    generator = "generator" if "generator" in schema else ""
    options = ", ".join(f"{name!r}: {name}" for name in ("out", "layout") if name in schema)
    lines = [
        f"def {op.name}{signature}:",
        *(f"    {line}" for line in parameters.conversions(op)),
        "    try:",
        f"        key = ({', '.join(_key_part(item) for item in parameters.all)}, _chosen_device())",
        "        make = _plans.get(key)",
        "    except Exception:",
        "        key = make = None",
        f"    if make is None{special}:",
        f"        make = _prepare(_op, key, {parameters.packed()}, {{{options}}})",
        f"    made = make({generator})",
        "    return _marked(made, requires_grad) if requires_grad is not False else made",
    ]
    used = {
        "_op": op, "_plans": op.plans, "_prepare": _prepare, "_marked": marked, "_chosen_device": chosen_device,
    }  # fmt: skip
    return "\n".join(lines), {**names, **used, **CONVERSION_NAMES}


_FREE = frozenset({"dtype", "device", "memory_format", "size"})
"""Parameters of which equal values are interchangeable, whatever their types."""


def _key_part(parameter: Parameter) -> str:
    name = parameter.name
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return f"{name}, *map(type, {name})"
    if name == "input":
        return "input._layout"
    return (
        name if name in _FREE else f"type({name}), {name} or str({name})"
    )  # as keys, 0.0 and -0.0 are the same


def _prepare(
    op: Op, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], options: dict[str, Any]
) -> Callable[..., Tensor]:
    """What makes the tensor; kept for the next call with these arguments if they are plain values."""
    if active.recording is not None:
        args, kwargs = active.recording.fixed(args), active.recording.fixed(kwargs)
    check_layout(options.get("layout"))
    out = options.get("out")
    if out is not None:
        return partial(_write, op, args, kwargs, out)
    make: Callable[..., Tensor] = run_body(op, args, kwargs)
    if key is not None and active.recording is None and all(map(_is_plain, (*args, *kwargs.values()))):
        tables.remember(op.plans, key, make)
    observing = observer()
    return make if observing is None else observing.bound(op.public_name, "op", make)


def _is_plain(value: Any) -> bool:
    """Whether equal keys mean equal results: not so for tensors among sizes or as numbers, and never for NaN."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    if isinstance(value, Tensor):
        return value._layout.ndim > 0 and not value._layout.traced
    if isinstance(value, (float, complex)):
        return not cmath.isnan(value)
    return value is None or isinstance(value, _PLAIN)


_PLAIN = (int, str, DType, Device, memory_format)


def _write(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any, *generator: Any) -> Tensor:
    if not isinstance(out, Tensor):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    dtype = kwargs["dtype"]
    make = run_body(op, args, {**kwargs, "dtype": dtype or out.dtype, "device": out.device})
    made: Tensor = make(*generator)
    return prepared(out, made._layout.shape, dtype).copy_(made)


def prepared(out: Tensor, size: Shape, dtype: DType | None) -> Tensor:
    """``out`` of a creation function, resized to `size`.

    Raises:
        RuntimeError: if `dtype` is given and is not `out`'s.
    """
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype} does not match dtype of out parameter ({out.dtype})")
    fit_output(out, layout_of(out.dtype, size, None, out.device))
    return out


def check_layout(layout: StorageLayout | None) -> None:
    """Raise RuntimeError for layouts other than strided."""
    if layout is not None and layout is not strided:
        raise RuntimeError(f"only layout=raxis.strided is supported, but got {layout}.")


def marked(tensor: Tensor, requires_grad: bool) -> Tensor:
    """The tensor, requiring grad if asked."""
    if not isinstance(requires_grad, bool):
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad:
        tensor.requires_grad = True
    return tensor
