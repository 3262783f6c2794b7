"""The strict verifier: a program that passes is well-formed and well-typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raxis.ptir.attributes import attributes_key, canonical
from raxis.ptir.identity import BITS, is_id
from raxis.ptir.primitives import PRIMITIVES, PrimitiveError
from raxis.ptir.program import Instruction, Parameter, Program, Value


class VerificationError(RuntimeError):
    """A program is malformed; the sentence says where and why."""


def verify(program: Program) -> None:
    """Check a program.

    Every value is defined once and before its use, in its own function; ids are unique there; primitives
    exist; attributes and regions are those of the primitive; result types are those it infers; by-value
    parameters have rank 0; stable identities have 128 bits.

    Raises:
        VerificationError: if any of this does not hold.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> verify(Builder("empty").build([]))
    """
    where = f"program {program.name!r}"
    _check_attributes(where, program.attributes)
    _check_body(where, program.parameters, program.instructions, program.results)


def _check_body(
    where: str, parameters: Sequence[Parameter], instructions: Sequence[Instruction], results: Sequence[Value]
) -> None:
    defined: dict[int, Value] = {}
    _check_parameters(where, parameters)
    _define(where, defined, parameters)
    for instruction in instructions:
        here = f"{where}, {instruction.primitive}"
        _check_uses(here, defined, instruction.operands)
        _check_instruction(here, instruction)
        _define(here, defined, instruction.results)
    _check_uses(f"{where}, results", defined, results)


def _check_parameters(where: str, parameters: Sequence[Parameter]) -> None:
    for parameter in parameters:
        if parameter.by_value and parameter.type.rank:
            raise VerificationError(
                f"{where}: by-value parameter {parameter} must have rank 0, not {parameter.type}."
            )
        if parameter.stable_id is not None and not is_id(parameter.stable_id):
            raise VerificationError(
                f"{where}: the identity of parameter {parameter} must be an integer in [0, 2**{BITS}), "
                f"not {parameter.stable_id!r}."
            )


def _define(where: str, defined: dict[int, Value], values: Sequence[Value]) -> None:
    for value in values:
        if value.id in defined:
            raise VerificationError(f"{where}: value {value} is defined twice.")
        if min(value.type.shape, default=0) < 0:
            raise VerificationError(f"{where}: value {value} has a negative size in {value.type}.")
        defined[value.id] = value


def _check_uses(where: str, defined: Mapping[int, Value], values: Sequence[Value]) -> None:
    for value in values:
        if defined.get(value.id) is not value:
            raise VerificationError(f"{where}: value {value} is not defined before its use.")


def _check_instruction(where: str, instruction: Instruction) -> None:
    primitive = PRIMITIVES.get(instruction.primitive)
    if primitive is None:
        raise VerificationError(f"{where}: there is no primitive {instruction.primitive!r}.")
    _check_attributes(where, instruction.attributes)
    for region in instruction.regions:
        _check_body(f"{where} region", region.parameters, region.instructions, region.results)
    operands = [value.type for value in instruction.operands]
    try:
        inferred = primitive.infer(operands, instruction.attributes, instruction.regions)
    except PrimitiveError as error:
        raise VerificationError(f"{where}: {error}") from error
    declared = tuple(value.type for value in instruction.results)
    if inferred != declared:
        raise VerificationError(
            f"{where}: the results are declared as ({', '.join(map(str, declared))}), but the operands give "
            f"({', '.join(map(str, inferred))})."
        )
    if attributes_key(primitive.canonical(instruction.attributes)) != attributes_key(instruction.attributes):
        raise VerificationError(
            f"{where}: attributes {dict(instruction.attributes)} are not in canonical form."
        )


def _check_attributes(where: str, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        try:
            same = attributes_key({name: canonical(value)}) == attributes_key({name: value})
        except TypeError:
            same = False
        if not same:
            raise VerificationError(f"{where}: attribute {name!r} has no valid value: {value!r}.")
