"""Functions of composed ops: the body itself, plus derived ``out=`` and in-place forms."""

from __future__ import annotations

import functools
import opcode
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raxis.dtypes import as_dtype
from raxis.ops.arguments import check_types, is_number
from raxis.ops.table import Op
from raxis.tensor import Tensor


def composed_function(op: Op) -> Callable[..., Any]:
    """The public function of a composed op."""
    body = op.body
    body.__name__ = op.name
    body.__qualname__ = op.name
    body.__module__ = op.namespace
    takes_out = op.out

    @functools.wraps(body)
    def function(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None) if takes_out else None
        try:
            if "dtype" in kwargs and kwargs["dtype"] is not None:
                kwargs["dtype"] = as_dtype(kwargs["dtype"])
            result = body(*args, **kwargs)
        except RuntimeError:
            raise
        except Exception as error:
            plain = _plain_integers((*args, *kwargs.values()))
            if plain is None:
                if not _is_raised(error):
                    check_types(op, args, kwargs, error)
                raise
            named = dict(zip(kwargs, plain[len(args) :], strict=True))
            result = function(*plain[: len(args)], **named)
        return result if out is None else _stored(op, result, out)

    return function


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


def _stored(op: Op, result: Any, out: Any) -> Any:
    from raxis.ops.destination import store_results

    return store_results(op.public_name, result, out)


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
        if not isinstance(other, Tensor) and not is_number(other):
            return NotImplemented
        return op.body(other, self) if reflected else op.body(self, other)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.body.__doc__
    return function
