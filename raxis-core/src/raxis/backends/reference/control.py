"""Branches and loops over compiled regions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from raxis.backends.reference.casting import Kernel
from raxis.ptir.program import Instruction

RegionFunction = Callable[..., tuple[Any, ...]]


def _cond(_: Instruction, regions: Sequence[RegionFunction]) -> Kernel:
    if_true, if_false = regions
    return lambda predicate, *arguments: if_true(*arguments) if predicate else if_false(*arguments)


def _while(_: Instruction, regions: Sequence[RegionFunction]) -> Kernel:
    condition, body = regions

    def kernel(*carries: Any) -> tuple[Any, ...]:
        while condition(*carries)[0]:
            carries = body(*carries)
        return carries

    return kernel


def _scan(instruction: Instruction, regions: Sequence[RegionFunction]) -> Kernel:
    count = instruction.attributes["carry_count"]
    stacked_types = [value.type for value in instruction.results[count:]]
    length = instruction.operands[count].type.shape[0]
    (body,) = regions

    def kernel(*operands: Any) -> tuple[Any, ...]:
        carries, sequences = operands[:count], operands[count:]
        stacked = [np.empty(type.shape, type.dtype.numpy) for type in stacked_types]
        for step in range(length):
            results = body(*carries, *(sequence[step] for sequence in sequences))
            carries = results[:count]
            for target, element in zip(stacked, results[count:], strict=True):
                target[step] = element
        return (*carries, *stacked)

    return kernel


KERNELS: Mapping[str, Callable[[Instruction, Sequence[RegionFunction]], Kernel]] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}
