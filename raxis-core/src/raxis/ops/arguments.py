"""Checking and normalising the arguments of an op call (cache misses only)."""

from __future__ import annotations

import inspect
import math
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from raxis.dtypes import Category, as_dtype
from raxis.ops.promotion import Promotion
from raxis.ops.schema import Parameter
from raxis.ops.table import Op
from raxis.placement import as_device
from raxis.tensor import Tensor


def normalise(op: Op, arguments: Sequence[Any]) -> list[Any]:
    """The arguments in canonical form, one per parameter.

    Raises:
        TypeError: if an argument has a type its parameter does not take.
        Exception: what the op's own check raises.
    """
    values = [
        _normalise_one(op, position, parameter, value)
        for position, (parameter, value) in enumerate(zip(op.parameters, arguments, strict=True))
    ]
    if op.promotion is not Promotion.NONE:
        values = _on_one_device(values)
    if op.check is not None:
        named = dict(zip((parameter.name for parameter in op.parameters), values, strict=True))
        call_by_name(op.check, named)
    return values


def call_by_name(function: Callable[..., Any], named: Mapping[str, Any]) -> Any:
    """The function called with those values that its parameters name."""
    return function(**{name: named[name] for name in inspect.signature(function).parameters})


def _on_one_device(values: list[Any]) -> list[Any]:
    """Operands without dimensions in host memory go where the others are, as numbers do."""
    devices = {value._layout.device for value in values if isinstance(value, Tensor)}
    elsewhere = [device for device in devices if device.type != "cpu"]
    if len(devices) < 2 or len(elsewhere) != 1:
        return values
    return [
        value.to(elsewhere[0])
        if isinstance(value, Tensor) and value._layout.ndim == 0 and value._layout.device.type == "cpu"
        else value
        for value in values
    ]


def _normalise_one(op: Op, position: int, parameter: Parameter, value: Any) -> Any:
    if parameter.varargs:
        value = _unpack_varargs(value)
    if value is None and (parameter.optional or parameter.default is None):
        return None
    if parameter.length is not None and parameter.is_tensor:
        return _tensor_list(op, position, parameter, value)
    if parameter.is_tensor:
        return _tensor(op, position, parameter, value)
    if parameter.length is not None:
        return _sequence(op, position, parameter, value)
    return _single(op, position, parameter, value)


def _unpack_varargs(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(value) == 1 and not isinstance(value[0], Tensor) and isinstance(value[0], Sequence):
        return tuple(value[0])
    return value


def type_error(op: Op, position: int, parameter: Parameter, value: Any, expected: str) -> TypeError:
    """The error for an argument of the wrong type, in PyTorch's wording."""
    return TypeError(
        f"{op.public_name}(): argument '{parameter.name}' (position {position + 1}) must be {expected}, "
        f"not {type(value).__name__}"
    )


def _tensor(op: Op, position: int, parameter: Parameter, value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    if parameter.type == "Tensor|Scalar" and is_number(value):
        return value
    expected = "Tensor or Number" if parameter.type == "Tensor|Scalar" else "Tensor"
    raise type_error(op, position, parameter, value, expected)


def _tensor_list(op: Op, position: int, parameter: Parameter, value: Any) -> tuple[Any, ...]:
    if isinstance(value, Tensor) or not isinstance(value, Sequence):
        raise type_error(op, position, parameter, value, "tuple of Tensors")
    for index, item in enumerate(value):
        if not isinstance(item, Tensor) and not (item is None and parameter.optional):
            raise TypeError(
                f"expected Tensor as element {index} in argument {position}, but got {type(item).__name__}"
            )
    return tuple(value)


def _sequence(op: Op, position: int, parameter: Parameter, value: Any) -> tuple[Any, ...]:
    convert = _CONVERTERS[parameter.type]
    single = isinstance(value, numbers.Number) or (isinstance(value, Tensor) and value._layout.ndim == 0)
    if single:
        count = max(parameter.length or 1, 1)
        alone = parameter._replace(length=None)
        return (_converted(op, position, alone, value, convert),) * count
    if not isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, Tensor):
        raise type_error(op, position, parameter, value, f"tuple of {parameter.type}s")
    items = tuple(_converted(op, position, parameter, item, convert) for item in value)
    if len(items) == 1 and (parameter.length or 0) > 1:
        return items * (parameter.length or 1)
    return items


def _single(op: Op, position: int, parameter: Parameter, value: Any) -> Any:
    convert = _CONVERTERS.get(parameter.type)
    return value if convert is None else _converted(op, position, parameter, value, convert)


def _converted(op: Op, position: int, parameter: Parameter, value: Any, convert: Callable[[Any], Any]) -> Any:
    try:
        return convert(value)
    except OverflowError as error:
        kind = ValueError if parameter.length is None else TypeError
        raise kind(
            f"{op.public_name}(): argument '{parameter.name}' (position {position + 1}): Overflow when unpacking long: "
            f"{value!r} does not fit 64 bits"
        ) from error
    except (TypeError, ValueError) as error:
        raise type_error(op, position, parameter, value, parameter.type) from error


def check_types(op: Op, arguments: Sequence[Any], named: Mapping[str, Any], error: Exception) -> None:
    """Raise TypeError, caused by `error`, if an argument of a composed op has a type its parameter does not take.

    Composed ops are plain Python: a wrong type shows as any error anywhere in the body. Only after one are
    the arguments looked at.
    """
    if isinstance(error, AttributeError) and error.name in Tensor.__annotations__:
        raise TypeError(
            f"{op.public_name}(): expected a Tensor, but got {type(error.obj).__name__}"
        ) from error
    if any(parameter.varargs or parameter.keywords for parameter in op.parameters):
        return
    for position, parameter in enumerate(op.parameters):
        given = position < len(arguments)
        if given or parameter.name in named:
            value = arguments[position] if given else named[parameter.name]
            try:
                _normalise_one(op, position, parameter, value)
            except TypeError as wrong:
                raise wrong from error


def is_number(value: Any) -> bool:
    """Whether `value` is a Python or NumPy number or bool (ml_dtypes scalars included)."""
    return type(value) in _NUMBERS or isinstance(value, (numbers.Number, np.generic))


_NUMBERS = frozenset({bool, int, float, complex})
"""Found at once: asking an abstract base class takes much longer."""


def _scalar(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.item()
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, numbers.Number):
        raise TypeError
    return value


def _integer(value: Any) -> int:
    if isinstance(value, float):
        raise TypeError
    number = operator.index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError
    return number


def _start(value: Any) -> int:
    """An integer, also in a tensor without dimensions."""
    if isinstance(value, Tensor) and (value.ndim or value.dtype.category is not Category.INTEGER):
        raise RuntimeError(
            f"start must be an 0-dim integral Tensor, but got one of shape {list(value.shape)} and dtype {value.dtype}."
        )
    return _integer(value)


def _float(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError
    number = float(value)
    return math.nan if math.isnan(number) else number  # one object: a key that is found again


def _boolean(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_, int)):
        raise TypeError
    return bool(value)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "Scalar": _scalar,
    "int": _integer,
    "start": _start,
    "float": _float,
    "bool": _boolean,
    "str": _string,
    "dtype": as_dtype,
    "device": as_device,
}
