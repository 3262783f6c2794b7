"""Functions of composed ops: the body itself, plus derived ``out=`` and in-place forms."""

from __future__ import annotations

import functools
import inspect
import opcode
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from raxis.dtypes import DType, as_dtype
from raxis.errors import MixedDevicesError
from raxis.ops.arguments import check_types, is_number
from raxis.ops.source import deferred_function
from raxis.ops.table import Op
from raxis.tensor import Tensor


def composed_function(op: Op) -> Callable[..., Any]:
    """The public function of a composed op: the body with its own parameters, ``out``, and what errors need."""
    body = op.body
    body.__name__ = op.name
    body.__qualname__ = op.name
    body.__module__ = op.namespace
    function = deferred_function(op.name, partial(_wrapper, op))
    functools.update_wrapper(function, body)
    return function


def _wrapper(op: Op) -> tuple[str, dict[str, Any]]:
    """Source with the body's own parameters: ``(*args, **kwargs)`` would be packed and unpacked at each call."""
    parameters = Parameters(op.body)
    signature, names = parameters.signature({"out": None} if op.out else {})
    lines = [
        f"def {op.name}{signature}:",
        "    try:",
        *(f"        {line}" for line in parameters.conversions(op)),
        f"        result = _body({parameters.passed()})",
        "    except RuntimeError as error:",
        "        _blame(_op, error)",
        "        raise",
        "    except Exception as error:",
        f"        result = _failed(_op, error, {parameters.packed()})",
        f"    return result if out is None else _stored(_op, {parameters.named()}, result, out)"
        if op.out
        else "    return result",
    ]
    used = {
        "_op": op,
        "_body": op.body,
        "_failed": _failed,
        "_blame": _blame,
        "_stored": _stored,
        **CONVERSION_NAMES,
    }
    return "\n".join(lines), {**names, **used}


CONVERSION_NAMES: dict[str, Any] = {"_as_dtype": as_dtype, "_DType": DType}


class _Name(str):
    """A default value that signatures show as a name."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Parameters:
    """The parameters of a body, as source of a function in front of it."""

    def __init__(self, body: Callable[..., Any]) -> None:
        self.all = list(inspect.signature(body).parameters.values())

    def signature(self, added: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The parameter list, with added keyword parameters and their defaults; and the names it uses."""
        names: dict[str, Any] = {}
        keyword = inspect.Parameter.KEYWORD_ONLY
        shown = [inspect.Parameter(name, keyword, default=default) for name, default in added.items()]
        for position, parameter in enumerate(self.all):
            bare = parameter.replace(annotation=parameter.empty)
            if parameter.default is not parameter.empty:
                names[f"_d{position}"] = parameter.default
                bare = bare.replace(default=_Name(f"_d{position}"))
            shown.append(bare)
        return str(inspect.Signature(sorted(shown, key=lambda item: item.kind))), names

    def conversions(self, op: Op) -> list[str]:
        """Lines that make Python's types dtypes, unless the op takes anything as its `dtype`."""
        taken = {parameter.name: parameter.type for parameter in op.parameters}
        if taken.get("dtype", "dtype") == "dtype" and any(
            parameter.name == "dtype" for parameter in self.all
        ):
            return ["if dtype is not None and not isinstance(dtype, _DType): dtype = _as_dtype(dtype)"]
        return []

    def passed(self) -> str:
        """The arguments of a call of the body."""
        return ", ".join(
            self._positional() + [f"{item.name}={item.name}" for item in self._named()] + self._rest()
        )

    def packed(self) -> str:
        """The same as a tuple and a dict."""
        named = [f"{item.name!r}: {item.name}" for item in self._named()] + self._rest()
        return f"({', '.join([*self._positional(), ''])}), {{{', '.join(named)}}}"

    def named(self) -> str:
        """All of them by name, as a dict."""
        return "{" + ", ".join(f"{item.name!r}: {item.name}" for item in self.all) + "}"

    def _positional(self) -> list[str]:
        star = inspect.Parameter.VAR_POSITIONAL
        given = [item for item in self.all if item.kind < item.KEYWORD_ONLY]
        return [f"*{item.name}" if item.kind is star else item.name for item in given]

    def _named(self) -> list[inspect.Parameter]:
        return [item for item in self.all if item.kind is item.KEYWORD_ONLY]

    def _rest(self) -> list[str]:
        return [f"**{item.name}" for item in self.all if item.kind is item.VAR_KEYWORD]


def _failed(op: Op, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call whose body raised comes to: the result for plain integers, or a better error."""
    plain = _plain_integers((*args, *kwargs.values()))
    if plain is not None:
        return op.body(*plain[: len(args)], **dict(zip(kwargs, plain[len(args) :], strict=True)))
    if not _is_raised(error):
        signature = inspect.signature(op.body)
        given = signature.bind(*args, **kwargs).arguments.items()
        changed = {name: value for name, value in given if value is not signature.parameters[name].default}
        check_types(op, (), changed, error)
    raise error


def run_body(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the body returns, with the errors of the op's function."""
    try:
        return op.body(*args, **kwargs)
    except RuntimeError as error:
        _blame(op, error)
        raise
    except Exception as error:
        return _failed(op, error, args, kwargs)


_SYNTAX = {"__getitem__": "x[index]", "__setitem__": "x[index] = value"}
"""What users write for ops whose names they do not."""


def _blame(op: Op, error: RuntimeError) -> None:
    """Let an error about devices, which internal ops raise, name the op that was called."""
    if isinstance(error, MixedDevicesError):
        error.blame(_SYNTAX.get(op.name) or f"{op.public_name}()")


_RAISE = opcode.opmap["RAISE_VARARGS"]


def _is_raised(error: Exception) -> bool:
    """Whether a ``raise`` statement raised the error, and not Python on its own account."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and traceback.tb_frame.f_code.co_code[traceback.tb_lasti] == _RAISE


def _plain_integers(values: Sequence[Any]) -> list[Any] | None:
    """The arguments with NumPy's integers made Python's, which bodies may ask for; None if there are none."""
    if not any(isinstance(value, np.integer) for value in values):
        return None
    return [value.item() if isinstance(value, np.integer) else value for value in values]


def _stored(op: Op, arguments: Mapping[str, Any], result: Any, out: Any) -> Any:
    from raxis.ops.destination import store_op_results

    return store_op_results(op, arguments, result, out)


def composed_inplace(op: Op) -> Callable[..., Any]:
    """``op_``: compute, then write over the first argument."""

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        from raxis.autograd.grad_mode import mode
        from raxis.ops.destination import overwrite

        # What the tape saves of the operand must survive the write.
        tracked = any(
            getattr(operand, "_edge", None) is not None for operand in (input, *args, *kwargs.values())
        )
        operand = input.clone() if tracked and mode.enabled else input
        return overwrite(op.name, input, op.body(operand, *args, **kwargs))

    function.__name__ = function.__qualname__ = f"{op.name}_"
    function.__doc__ = op.body.__doc__
    function.__module__ = op.namespace
    return function


def composed_operator(op: Op, name: str, reflected: bool) -> Callable[..., Any]:
    """A binary operator; `reflected` ones are called with the right operand first."""

    def function(self: Any, other: Any) -> Any:
        if not isinstance(self, Tensor):
            raise TypeError(f"{name} is a method of tensors, but was called on a {type(self).__name__}")
        if not isinstance(other, Tensor) and not is_number(other):
            return NotImplemented
        return op.body(other, self) if reflected else op.body(self, other)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.body.__doc__
    return function
