"""Result dtypes of binary ops: every pair of dtypes as tensors, 0-d tensors and Python numbers, as in torch."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

import raxis
from raxis.tensor import Tensor
from tests.parity.bridge import TORCH_DTYPES, to_raxis
from tests.parity.catalogue import lookup

NAMES = (
    "add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "fmod", "pow", "float_power", "atan2",
    "copysign", "hypot", "xlogy", "logaddexp", "logaddexp2", "maximum", "minimum", "fmax", "fmin", "gcd", "lcm",
    "heaviside", "nextafter", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "clamp_min", "clamp_max",
    "rsub",
)  # fmt: skip
SYMBOLS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "==", "<")
NUMBERS = (True, 2, 2.5, 1 + 1j)


def _operands() -> list[Any]:
    tensors = [torch.ones(size, dtype=dtype) for dtype in TORCH_DTYPES.values() for size in ((2,), ())]
    return [*tensors, *NUMBERS]


def _is_comparable(pair: tuple[Any, Any]) -> bool:
    """At least one tensor; not half precision with complex numbers, for which raxis has no dtype."""
    tensors = [operand for operand in pair if isinstance(operand, torch.Tensor)]
    half = any(tensor.dtype is torch.float16 for tensor in tensors)
    return bool(tensors) and not (half and any(map(_is_complex, pair)))


def _is_complex(operand: Any) -> bool:
    return operand.is_complex() if isinstance(operand, torch.Tensor) else isinstance(operand, complex)


PAIRS = [pair for pair in itertools.product(_operands(), _operands()) if _is_comparable(pair)]


def _outcome(function: Callable[..., Any], operands: Any) -> str:
    """The dtype of the result, or the exception class."""
    try:
        return str(function(*operands).dtype).split(".")[1]
    except (RuntimeError, TypeError) as error:
        return "TypeError" if isinstance(error, TypeError) else "RuntimeError"


def _describe(operand: Any) -> str:
    if isinstance(operand, torch.Tensor):
        return f"{str(operand.dtype)[6:]}{list(operand.shape)}"
    return repr(operand)


def _differences(ours: Callable[..., Any], theirs: Callable[..., Any]) -> list[str]:
    found = []
    for pair in PAIRS:
        expected, got = _outcome(theirs, pair), _outcome(ours, to_raxis(pair))
        if got != expected:
            found.append(f"{' and '.join(map(_describe, pair))}: torch gives {expected}, raxis {got}")
    return found


@pytest.mark.parametrize("name", NAMES)
def test_function(name: str) -> None:
    function = lookup(name)
    assert function is not None
    differences = _differences(function, getattr(torch, name))
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_operator(symbol: str) -> None:
    operate = eval(f"lambda x, y: x {symbol} y")
    differences = _differences(operate, operate)
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize(
    "symbol", ["+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>="]
)
def test_inplace_operator(symbol: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def operate(x, y):\n    x {symbol} y\n    return x", namespace)
    operate = namespace["operate"]
    found = []
    for first, second in PAIRS:
        if not isinstance(first, torch.Tensor):
            continue
        expected = _outcome(operate, (first.clone(), second))
        got = _outcome(operate, to_raxis((first, second)))
        if got != expected:
            found.append(
                f"{_describe(first)} {symbol} {_describe(second)}: torch gives {expected}, raxis {got}"
            )
    assert not found, "\n".join(found)


def test_result_type() -> None:
    assert not _differences(_typed(raxis.result_type), _typed(torch.result_type))


def _typed(function: Callable[..., Any]) -> Callable[..., Any]:
    class Result:
        def __init__(self, dtype: Any) -> None:
            self.dtype = dtype

    return lambda *operands: Result(function(*operands))


def test_where_has_the_result_type_of_its_branches() -> None:
    condition = torch.tensor([True, False])

    def choose(framework: Any) -> Callable[..., Any]:
        mask = condition if framework is torch else to_raxis(condition)
        return lambda x, y: framework.where(mask, x, y)

    differences = _differences(choose(raxis), choose(torch))
    assert not differences, "\n".join(differences)
    assert isinstance(raxis.where(to_raxis(condition), 1, 2), Tensor)
