"""Einstein summation: parsing an equation, then contracting operands two at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from raxis.dtypes import Category, promote_types
from raxis.ops.definitions.contraction import LABELS, contract
from raxis.ops.table import composed
from raxis.tensor import Tensor

_ELLIPSIS = "".join(chr(code) for code in range(0x3B1, 0x3B1 + 64))
"""Labels of the dimensions an ellipsis stands for, the last one first."""


class Equation(NamedTuple):
    """Labels of the operands' and the result's dimensions, ellipses resolved."""

    operands: tuple[str, ...]
    result: str


# ---- parsing ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def parse(equation: str, ndims: tuple[int, ...]) -> Equation:
    """Parse an equation for operands with these numbers of dimensions.

    Raises:
        RuntimeError: if it is malformed or does not fit.
    """
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        more = "fewer" if len(ndims) < len(terms) else "more"
        raise RuntimeError(f"einsum(): {more} operands were provided than specified in the equation")
    offset, operands = 0, []
    for number, (term, ndim) in enumerate(zip(terms, ndims, strict=True)):
        labels = _labels(term, offset, f"operand {number}")
        operands.append(_resolved(labels, ndim, number))
        offset += len(term) + 1
    if not arrow:
        return Equation(tuple(operands), _implicit_result(operands))
    return Equation(tuple(operands), _explicit_result(_labels(right, offset + 1, "the output"), operands))


def _labels(term: str, offset: int, where: str) -> list[str]:
    """The subscripts of one term, ``...`` as one of them."""
    found: list[str] = []
    position = 0
    while position < len(term):
        character = term[position]
        if character == " ":
            position += 1
        elif character == ".":
            if "..." in found:
                raise RuntimeError(f"einsum(): found '.' for {where} for which an ellipsis was already found")
            if term[position : position + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for {where} that is not part of any ellipsis")
            found.append("...")
            position += 3
        elif character in LABELS:
            found.append(character)
            position += 1
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {offset + position} in the equation string, subscripts "
                "must be in [a-zA-Z]"
            )
    return found


def _resolved(labels: list[str], ndim: int, number: int) -> str:
    named = len(labels) - ("..." in labels)
    if "..." not in labels and named != ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) does not match the number of dimensions "
            f"({ndim}) for operand {number} and no ellipsis was given"
        )
    if named > ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({named}) is more than the number of dimensions "
            f"({ndim}) for operand {number}"
        )
    covered = _ELLIPSIS[: ndim - named][::-1]
    return "".join(covered if label == "..." else label for label in labels)


def _covered(operands: Sequence[str]) -> str:
    """Labels of all dimensions under ellipses, first dimension first."""
    depth = max((sum(label in _ELLIPSIS for label in operand) for operand in operands), default=0)
    return _ELLIPSIS[:depth][::-1]


def _implicit_result(operands: Sequence[str]) -> str:
    everything = "".join(operands)
    once = sorted(label for label in set(everything) - set(_ELLIPSIS) if everything.count(label) == 1)
    return _covered(operands) + "".join(once)


def _explicit_result(labels: list[str], operands: Sequence[str]) -> str:
    everything = "".join(operands)
    for label in labels:
        if labels.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label != "..." and label not in everything:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
    return "".join(_covered(operands) if label == "..." else label for label in labels)


def _from_sublists(arguments: Sequence[Any]) -> tuple[str, list[Tensor]]:
    """Equation and operands of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    operands = list(arguments[0 : len(arguments) - len(arguments) % 2 : 2])
    equation = ",".join(_term(sublist) for sublist in arguments[1::2])
    return (f"{equation}->{_term(arguments[-1])}" if len(arguments) % 2 else equation), operands


def _term(sublist: Sequence[Any]) -> str:
    return "".join("..." if item is Ellipsis else _letter(item) for item in sublist)


def _letter(number: int) -> str:
    order = LABELS[26:] + LABELS[:26]
    if not 0 <= number < len(order):
        raise RuntimeError(f"einsum(): expected subscripts in range [0, 52) but got {number}")
    return order[number]


# ---- contraction -----------------------------------------------------------------------------------------------------


def _sizes(equation: Equation, operands: Sequence[Tensor]) -> dict[str, int]:
    """The size of every label; sizes of 1 broadcast."""
    sizes: dict[str, int] = {}
    for number, (labels, operand) in enumerate(zip(equation.operands, operands, strict=True)):
        for position, (label, size) in enumerate(zip(labels, operand._layout.shape, strict=True)):
            first = labels.index(label)
            if first != position and operand.shape[first] != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes don't match, "
                    f"{size} != {operand.shape[first]}"
                )
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in (1, known):
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {number} which does not broadcast with "
                    f"previously seen size {known}"
                )
    return sizes


def _simplified(operand: Tensor, labels: str, sizes: dict[str, int]) -> tuple[Tensor, str]:
    """`operand` with repeated labels reduced to a diagonal and broadcast dimensions dropped."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            operand = operand.diagonal(0, first, second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    dropped = [axis for axis, label in enumerate(labels) if operand._layout.shape[axis] == 1 != sizes[label]]
    if dropped:
        operand = operand.squeeze(tuple(dropped))
    return operand, "".join(label for axis, label in enumerate(labels) if axis not in dropped)


def _summed(operand: Tensor, labels: str, kept: str) -> tuple[Tensor, str]:
    axes = tuple(axis for axis, label in enumerate(labels) if label not in kept)
    if not axes:
        return operand, labels
    return operand.sum(axes), "".join(label for label in labels if label in kept)


def _path(equation: Equation, operands: Sequence[Tensor]) -> list[tuple[int, ...]]:
    """Which two operands to contract at each step: opt_einsum's choice if installed, else left to right."""
    count = len(operands)
    if count > 2:
        try:
            import opt_einsum  # type: ignore[import-not-found]  # optional
        except ImportError:
            pass
        else:
            text = ",".join(equation.operands) + "->" + equation.result
            shapes = [tuple(operand.shape) for operand in operands]
            return opt_einsum.contract_path(text, *shapes, shapes=True)[0]
    return [(0, 1), *((0, remaining - 1) for remaining in range(count - 1, 1, -1))]


def _contracted(equation: Equation, operands: Sequence[Tensor]) -> Any:
    sizes = _sizes(equation, operands)
    parts = [
        _simplified(operand, labels, sizes)
        for operand, labels in zip(operands, equation.operands, strict=True)
    ]
    if len(parts) > 1:
        for step in _path(equation, operands):
            chosen = [parts[position] for position in step]
            parts = [part for position, part in enumerate(parts) if position not in step]
            while len(chosen) > 1:
                rest = [labels for _, labels in (*parts, *chosen[2:])]
                chosen[:2] = [_pair(chosen[0], chosen[1], equation.result, "".join(rest))]
            parts += chosen
    operand, labels = _summed(*parts[0], equation.result)
    permutation = tuple(labels.index(label) for label in equation.result)
    return operand if permutation == tuple(range(len(labels))) else operand.permute(permutation)


def _pair(
    first: tuple[Tensor, str], second: tuple[Tensor, str], result: str, rest: str
) -> tuple[Tensor, str]:
    left, left_labels = _summed(*first, second[1] + result + rest)
    right, right_labels = _summed(*second, left_labels + result + rest)
    wanted = result + rest
    kept = "".join(dict.fromkeys(label for label in left_labels + right_labels if label in wanted))
    if set(kept) == set(result):
        kept = result
    if left.dtype.category is right.dtype.category is Category.INTEGER:
        # A sum of integers is int64.
        dtype = promote_types(left.dtype, right.dtype)
        left, right = left.to(dtype), right.to(dtype)
    return contract(left, right, left_labels, right_labels, kept), kept


@composed("einsum(str equation, Tensor... operands) -> Tensor", method=False, out=False)
def einsum(*args: Any) -> Any:
    """Sums of products of elements, in Einstein's summation convention.

    Subscripts name dimensions; those that are not in the output are summed over. ``...`` covers dimensions
    without a name, which broadcast. Operands are contracted pair by pair: left to right, or in the order
    opt_einsum chooses if it is installed.

    Args:
        args: an equation such as ``"ij,jk->ik"`` and the operands (one by one or as a list), or operands and
            lists of subscript numbers in turn, the output's last: ``a, [0, 1], b, [1, 2], [0, 2]``.

    Raises:
        RuntimeError: if the equation is malformed or does not fit the operands.
        ValueError: if there are no operands.

    Example:
        >>> import raxis
        >>> raxis.einsum("ij,jk->ik", raxis.ones(2, 3), raxis.ones(3, 4)).shape
        raxis.Size([2, 4])
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    equation, operands = (args[0], list(args[1:])) if isinstance(args[0], str) else _from_sublists(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if not operands:
        raise ValueError("einsum(): must provide at least one operand")
    return _contracted(parse(equation, tuple(operand._layout.ndim for operand in operands)), operands)
