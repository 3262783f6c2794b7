"""Op signatures: parsing ``add(Tensor input, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor``.

Types of parameters:

=================  ==========================================================================
``Tensor``         a tensor operand (``Tensor?``: or None; ``Tensor[]``: a sequence of them)
``Tensor|Scalar``  a tensor or a Python number
``Scalar``         a run-time number (``Scalar?``: or None): part of the cache key by type only
``int`` ``float`` ``bool`` ``str`` ``dtype`` ``device`` ``layout`` ...
                   static values (``?``: or None); part of the cache key by value
``start``          an int, also as a 0-d integer tensor
``*args``          anything (composed ops only, as ``**kwargs``)
``int[]``          a sequence of ints; ``int[2]`` also takes one int for both; ``int...`` also varargs
=================  ==========================================================================
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

REQUIRED: Any = object()
"""Default of parameters that must be given."""

_PARAMETER = re.compile(
    r"(?P<type>[A-Za-z_|]+)(?P<list>\[\d*\]|\.\.\.)?(?P<optional>\?)? (?P<name>\w+)(=(?P<default>.+))?"
)
_SCHEMA = re.compile(r"(?P<name>\w+)\((?P<parameters>.*)\) -> (?P<results>.+)", re.DOTALL)


class Parameter(NamedTuple):
    """One parameter of an op.

    `length` is None for single values, -1 for sequences of any length, else the length one value repeats to.
    """

    name: str
    type: str
    optional: bool = False
    length: int | None = None
    varargs: bool = False
    keywords: bool = False
    keyword_only: bool = False
    default: Any = REQUIRED

    @property
    def is_tensor(self) -> bool:
        return self.type in ("Tensor", "Tensor|Scalar")

    @property
    def is_scalar(self) -> bool:
        return self.type == "Scalar"

    @property
    def is_real(self) -> bool:
        """Whether it is a static real number, whose sign matters also when it is zero."""
        return self.length is None and self.type in ("float", "number", "typed_number")

    @property
    def is_static(self) -> bool:
        return not (self.is_tensor or self.is_scalar)


class Schema(NamedTuple):
    """A parsed signature: `results` is the text behind the arrow, `result_names` the fields of several results."""

    name: str
    parameters: tuple[Parameter, ...]
    results: str
    result_names: tuple[str, ...]

    def position(self, name: str) -> int:
        """Position of the parameter called `name`."""
        for position, parameter in enumerate(self.parameters):
            if parameter.name == name:
                return position
        raise KeyError(f"{self.name} has no parameter {name!r}")


def parse(text: str) -> Schema:
    """Parse a signature; ``ValueError`` if it is not one."""
    match = _SCHEMA.fullmatch(" ".join(text.split()))
    if match is None:
        raise ValueError(f"not an op schema: {text!r}")
    names = _result_names(match["results"])
    return Schema(match["name"], _parse_parameters(match["parameters"]), match["results"], names)


def _result_names(text: str) -> tuple[str, ...]:
    if not text.startswith("("):
        return ()
    return tuple(item.split()[-1] for item in text.strip("()").split(","))


def _parse_parameters(text: str) -> tuple[Parameter, ...]:
    parameters = []
    keyword_only = False
    for item in _split(text):
        if item == "*":
            keyword_only = True
        else:
            parameters.append(_parse_parameter(item, keyword_only))
    return tuple(parameters)


def _split(text: str) -> list[str]:
    items, depth, current = [], 0, ""
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            items.append(current.strip())
            current = ""
        else:
            current += character
    return [*items, current.strip()] if current.strip() else items


def _parse_parameter(text: str, keyword_only: bool) -> Parameter:
    if text.startswith("*"):
        return Parameter(
            text.strip("*"), "Any", varargs=not text.startswith("**"), keywords=text.startswith("**")
        )
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise ValueError(f"not a parameter: {text!r}")
    listing = match["list"]
    length = None
    if listing is not None:
        digits = listing.strip("[].")
        length = int(digits) if digits else -1
    return Parameter(
        match["name"],
        match["type"],
        optional=match["optional"] is not None,
        length=length,
        varargs=listing == "...",
        keyword_only=keyword_only,
        default=REQUIRED if match["default"] is None else ast.literal_eval(match["default"]),
    )
