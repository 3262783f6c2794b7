"""Tensors as text, as PyTorch prints them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.interop import host_array, host_view
from raxis.ops.promotion import get_default_dtype
from raxis.tensor import Tensor


@dataclass(frozen=True)
class PrintOptions:
    """How tensors are printed; see `set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


class _Current:
    options = PrintOptions()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors are printed; what is None stays, except `sci_mode`.

    Args:
        precision: digits after the point.
        threshold: tensors with more elements are summarised.
        edgeitems: elements shown at each end of a summarised dimension.
        linewidth: characters per line.
        profile: ``"default"``, ``"short"`` or ``"full"`` to start from.
        sci_mode: always or never use scientific notation; None: where it is shorter to read.

    Raises:
        ValueError: if there is no such profile.

    Example:
        >>> import raxis
        >>> raxis.set_printoptions(precision=2)
        >>> raxis.tensor([1.12345])
        tensor([1.12])
        >>> raxis.set_printoptions(profile="default")
    """
    chosen: dict[str, Any] = {}
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile must be one of {', '.join(_PROFILES)}, but got {profile!r}.")
        chosen.update(_PROFILES[profile])
    named = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen.update({name: value for name, value in named.items() if value is not None})
    _Current.options = replace(_Current.options, **chosen, sci_mode=sci_mode)


def get_printoptions() -> PrintOptions:
    """The options in use."""
    return _Current.options


class NumberFormat:
    """One format for all numbers of a tensor, so that columns line up.

    Args:
        values: the numbers that will be printed.
        floating: whether they are floats; others are printed as Python prints them.
    """

    def __init__(self, values: Sequence[Any], floating: bool, options: PrintOptions) -> None:
        self._precision = options.precision
        self._floating = floating
        self._whole = floating
        self._scientific = False
        self.width = 1
        if floating:
            self._fit([value for value in values if value and math.isfinite(value)], options.sci_mode)
        else:
            self.width = max([1, *(len(str(value)) for value in values)])

    def _fit(self, values: Sequence[float], scientific: bool | None) -> None:
        """Choose notation and width for finite numbers other than zero."""
        if not values:
            return
        smallest, largest = min(map(abs, values)), max(map(abs, values))
        self._whole = all(value == math.ceil(value) for value in values)
        spread = largest / smallest > 1000.0 or largest > 1.0e8
        tiny = not self._whole and smallest < 1.0e-4
        self._scientific = spread or tiny if scientific is None else scientific
        self.width = max([1, *(len(self._plain(value)) for value in values)])

    def _plain(self, value: float) -> str:
        if self._scientific:
            return f"{value:.{self._precision}e}"
        if not self._whole:
            return f"{value:.{self._precision}f}"
        return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"

    def __call__(self, value: Any) -> str:
        """The number as text of at least `width` characters."""
        return (self._plain(value) if self._floating else str(value)).rjust(self.width)


class ComplexFormat:
    """A format for each of the two components."""

    def __init__(self, values: Sequence[complex], options: PrintOptions) -> None:
        self._real = NumberFormat([value.real for value in values], True, options)
        self._imaginary = NumberFormat([value.imag for value in values], True, options)
        self.width = self._real.width + self._imaginary.width + 1

    def __call__(self, value: complex) -> str:
        imaginary = f"{self._imaginary(value.imag)}j".lstrip()
        sign = "" if imaginary[0] in "+-" else "+"
        return f"{self._real(value.real)}{sign}{imaginary}"


def tensor_text(tensor: Tensor) -> str:
    """The text of ``repr(tensor)``: values, then what is not obvious from them."""
    options = _Current.options
    layout = tensor._layout
    if layout.traced:
        return f"tensor(..., traced, size={layout.shape}, dtype={layout.dtype})"
    if layout.device.depth:
        examples = indent(tensor_text(layout.device.all_examples(tensor)), "    ")
        return f"BatchedTensor(lvl={layout.device.depth}, value=\n{examples}\n)"
    prefix = "tensor("
    suffixes = [f"device='{layout.device}'"] if layout.device.type != "cpu" else []
    shown = layout.device.type != "meta" and layout.numel > 0
    if shown:
        body = _values_text(tensor, len(prefix), options)
        obvious = {get_default_dtype(), get_default_dtype().to_complex(), dtypes.int64, dtypes.bool_}
    else:
        body = "..." if layout.device.type == "meta" else "[]"
        obvious = {get_default_dtype()}
        if layout.ndim != 1 or body == "...":
            suffixes.append(f"size={layout.shape}")
    if layout.dtype not in obvious:
        suffixes.append(f"dtype={layout.dtype}")
    suffixes += _tape_suffix(tensor)
    return _with_suffixes(prefix + body, suffixes, len(prefix), options.linewidth)


def _tape_suffix(tensor: Tensor) -> list[str]:
    if tensor.grad_fn is not None:
        return [f"grad_fn=<{tensor.grad_fn.name()}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int, linewidth: int) -> str:
    """Append the suffixes, each on a new line where it would not fit."""
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def _values_text(tensor: Tensor, indent: int, options: PrintOptions) -> str:
    layout = tensor._layout
    summarised = layout.numel > options.threshold
    array = _shown(tensor, options.edgeitems) if summarised else host_array(tensor)
    if layout.dtype in dtypes.HALF:
        array = array.astype(np.float32)
    values = array.reshape(-1).tolist()
    element: Any = (
        ComplexFormat(values, options)
        if layout.dtype.is_complex
        else NumberFormat(values, layout.dtype.is_floating_point, options)
    )
    edge = options.edgeitems if summarised else layout.numel
    return _nested(array.tolist(), layout.shape, indent, element, edge, options.linewidth)


def _shown(tensor: Tensor, edge: int) -> np.ndarray:
    """The elements that a summary shows: the first and last `edge` of every long dimension."""
    array = host_view(tensor)
    if array is not None:
        for axis, size in enumerate(array.shape):
            if size > 2 * edge:
                array = array.take(_ends(size, edge), axis)
        return array
    shown = tensor.detach()
    for axis, size in enumerate(tensor._layout.shape):
        if size > 2 * edge:
            ends = Tensor.new_tensor(shown, _ends(size, edge), dtype=dtypes.int64)
            shown = shown.index_select(axis, ends)
    return host_array(shown)


def _ends(size: int, edge: int) -> list[int]:
    return [*range(edge), *range(size - edge, size)]


def _nested(values: Any, shape: Sequence[int], indent: int, element: Any, edge: int, linewidth: int) -> str:
    """Brackets around the rows of the first dimension, "..." where rows are left out."""
    if not shape:
        return str(element(values))
    if len(shape) == 1:
        return _row(values, shape[0], indent, element, edge, linewidth)
    rows = [_nested(row, shape[1:], indent + 1, element, edge, linewidth) for row in values]
    if shape[0] > 2 * edge:
        rows.insert(edge, "...")
    separator = "," + "\n" * (len(shape) - 1) + " " * (indent + 1)
    return "[" + separator.join(rows) + "]"


def _row(values: Sequence[Any], size: int, indent: int, element: Any, edge: int, linewidth: int) -> str:
    texts = [element(value) for value in values]
    if size > 2 * edge:
        texts.insert(edge, " ..." if edge else "...")
    per_line = max(1, (linewidth - indent) // (element.width + 2))
    lines = [", ".join(texts[start : start + per_line]) for start in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
