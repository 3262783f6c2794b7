"""Every dtype on the device: its numbers are right, or ops refuse it; none is computed in another dtype unasked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import raxis
from raxis import dtypes
from raxis.dtypes import DType
from raxis.tensor import Tensor
from raxis.testing.case import Case, Declined, Subject, require
from raxis.testing.comparing import check_close

LEVEL = "dtypes"


def _array(tensor: Tensor) -> np.ndarray:
    return np.array(tensor.detach().cpu().tolist(), tensor.dtype.numpy)


def _arithmetic(dtype: DType, subject: Subject) -> None:
    """A sum runs if `supports` says so, else raises NotImplementedError that names the dtype."""
    reason = subject.claim("add", dtype)
    x = raxis.tensor([1, 0, 3], dtype=dtype)
    moved = x.to(subject.name)
    try:
        found = moved + moved
    except NotImplementedError as error:
        require(
            reason is not None and dtype.name in str(error), f"add of {dtype} is claimed, but raises: {error}"
        )
        raise Declined(str(reason)) from None
    require(reason is None, f"add of {dtype} is not claimed ({reason}), but runs.")
    require(found.dtype is dtype, f"the sum of two tensors of {dtype} has dtype {found.dtype}.")
    check_close(_array(found), _array(x + x), dtype, f"[1, 0, 3] + [1, 0, 3] in {dtype}")


def _gradient(dtype: DType, subject: Subject) -> None:
    """A product and its gradient stay in the dtype."""
    for primitive in ("dot_general", "mul", "reduce_sum", "tanh"):
        reason = subject.claim(primitive, dtype)
        if reason is not None:
            raise Declined(reason)
    gradients: list[Any] = []
    for device in (subject.name, "cpu"):
        x = raxis.tensor([[0.5, -1.0], [0.25, 2.0]], dtype=dtype, device=device, requires_grad=True)
        result = (x @ x).tanh().sum()
        (result * result.conj()).abs().backward()
        gradients.append(x.grad)
    found, expected = gradients
    require(found is not None and found.dtype is dtype, f"the gradient of a tensor of {dtype} is {found!r}.")
    check_close(_array(found), _array(expected), dtype, f"a gradient in {dtype}", factor=20)


def cases() -> Iterator[Case]:
    """Two cases for each dtype; gradients for those that have them."""
    for dtype in dtypes.ALL:
        yield Case(LEVEL, f"arithmetic[{dtype.name}]", partial(_arithmetic, dtype))
        if dtype.is_floating_point or dtype.is_complex:
            yield Case(LEVEL, f"gradient[{dtype.name}]", partial(_gradient, dtype))
