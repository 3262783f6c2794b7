"""The JSON form of programs: lossless, ``from_json(to_json(program)) == program``.

::

    {
    "ptir": "1.0",
    "name": "scale",
    "attributes": {},
    "parameters": [
    {"id": 0, "type": "f32[2,3]"},
    {"id": 1, "type": "f32[]", "by_value": true, "name": "factor"}
    ],
    "instructions": [
    {"primitive": "broadcast", "operands": [1], "attributes": {"dims": [], "shape": [2, 3]}, "results": [...]},
    {"primitive": "mul", "operands": [0, 2], "results": [{"id": 3, "type": "f32[2,3]"}]}
    ],
    "results": [3]
    }

Ids count from 0 in the program and in every region. A parameter's `stable_id` is 32 hexadecimal digits. Attributes
are JSON's own booleans, integers, strings and lists, and one-member objects for the rest: ``{"dtype": "f32"}``;
``{"float": 0.5}``, also ``"nan"``, ``"inf"`` and ``"-inf"``; ``{"complex": [0.5, "nan"]}``; and for long lists of
numbers ``{"packed": "f32", "base64": "..."}`` (see `raxis.ptir.packing`).
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from raxis.dtypes import DType
from raxis.ptir.attributes import Attribute
from raxis.ptir.json_reading import Node
from raxis.ptir.packing import packed, unpacked
from raxis.ptir.program import Instruction, Numbering, Parameter, Program, Region, Value
from raxis.ptir.types import BY_SHORT_NAME, SHORT_NAMES, TensorType, parse_type
from raxis.ptir.verifier import verify
from raxis.ptir.version import VERSION, ParseError, check_version, refusing_deep_nesting

Document = dict[str, Any]

_VERSION = re.compile(r"(\d+)\.(\d+)", re.ASCII)
_STABLE_ID = re.compile(r"[0-9a-f]{32}")
_SPELLED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_json(program: Program) -> str:
    """The JSON document of a program, an instruction a line.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> json.loads(to_json(Builder("empty").build([])))["ptir"]
        '1.0'
    """
    number = Numbering()
    members = {
        "ptir": json.dumps(f"{VERSION[0]}.{VERSION[1]}"),
        "name": json.dumps(program.name),
        "attributes": json.dumps(_attributes(program.attributes)),
        "parameters": _lines([_parameter(parameter, number) for parameter in program.parameters]),
        "instructions": _lines([_instruction(instruction, number) for instruction in program.instructions]),
        "results": json.dumps([number(value) for value in program.results]),
    }
    return "{\n" + ",\n".join(f'"{key}": {text}' for key, text in members.items()) + "\n}\n"


def _lines(documents: Sequence[Document]) -> str:
    return "[" + ",".join(f"\n{json.dumps(document, allow_nan=False)}" for document in documents) + "\n]"


def _value(value: Value, number: Numbering) -> Document:
    return {"id": number(value), "type": str(value.type)}


def _parameter(parameter: Parameter, number: Numbering) -> Document:
    document = _value(parameter, number)
    if parameter.by_value:
        document["by_value"] = True
    if parameter.name is not None:
        document["name"] = parameter.name
    if parameter.stable_id is not None:
        document["stable_id"] = f"{parameter.stable_id:032x}"
    return document


def _instruction(instruction: Instruction, number: Numbering) -> Document:
    document: Document = {
        "primitive": instruction.primitive,
        "operands": [number(value) for value in instruction.operands],
    }
    if instruction.attributes:
        document["attributes"] = _attributes(instruction.attributes)
    document["results"] = [_value(value, number) for value in instruction.results]
    if instruction.regions:
        document["regions"] = [_region(region) for region in instruction.regions]
    return document


def _region(region: Region) -> Document:
    number = Numbering()
    return {
        "parameters": [_parameter(parameter, number) for parameter in region.parameters],
        "instructions": [_instruction(instruction, number) for instruction in region.instructions],
        "results": [number(value) for value in region.results],
    }


def _attributes(attributes: Mapping[str, Attribute]) -> Document:
    return {name: _attribute(value) for name, value in attributes.items()}


def _attribute(value: Attribute) -> Any:
    if isinstance(value, tuple):
        numbers = packed(value)
        if numbers is None:
            return [_attribute(item) for item in value]
        dtype, data = numbers
        return {"packed": SHORT_NAMES[dtype], "base64": b64encode(data).decode("ascii")}
    if isinstance(value, DType):
        return {"dtype": SHORT_NAMES[value]}
    if isinstance(value, complex):
        return {"complex": [_float(value.real), _float(value.imag)]}
    return {"float": _float(value)} if isinstance(value, float) else value


def _float(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def from_json(text: str) -> Program:
    """The program of a JSON document, verified.

    Raises:
        ParseError: if the text is no JSON, the document no program, or of another major version.
        VerificationError: if it is well-formed, but no valid program.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> from_json(to_json(Builder("empty").build([]))).name
        'empty'
    """
    with refusing_deep_nesting():
        program = _read_program(Node(_document(text), "the document"))
        verify(program)
    return program


def _document(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_members, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ParseError(f"line {error.lineno}: this is no JSON document: {error.msg}.") from None


def _members(pairs: list[tuple[str, Any]]) -> Document:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ParseError(
            f"the document has an object with a member given twice: {[name for name, _ in pairs]}."
        )
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ParseError(f"the document contains {name}, which is not JSON; write it as a string.")


def _read_program(document: Node) -> Program:
    version = document.object().get("ptir")
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if match is None:
        raise ParseError('a JSON program has a member "ptir": "MAJOR.MINOR", but this document does not.')
    check_version(int(match[1]), int(match[2]))
    document.has_members({"ptir", "name", "attributes", "parameters", "instructions", "results"})
    scope: dict[int, Value] = {}
    parameters = tuple(_read_parameter(node, scope) for node in document["parameters"].items())
    instructions, results = _read_function(document, scope)
    attributes = _read_attributes(document["attributes"])
    return Program(document["name"].string(), parameters, instructions, results, attributes)


def _defined(node: Node, scope: dict[int, Value], make: Callable[[int, TensorType], Any]) -> Any:
    id = node["id"].integer()
    if id in scope:
        raise node.error(f"value %{id} is defined twice")
    scope[id] = make(id, _read_type(node["type"]))
    return scope[id]


def _read_type(node: Node) -> TensorType:
    spelled = node.string()
    try:
        return parse_type(spelled)
    except ValueError as error:
        raise node.error(str(error).rstrip(".")) from None


def _read_parameter(node: Node, scope: dict[int, Value]) -> Parameter:
    node.has_members({"id", "type"}, {"by_value", "name", "stable_id"})
    by_value = node["by_value"].boolean() if "by_value" in node else False
    name = node["name"].string() if "name" in node else None
    stable_id = _read_stable_id(node["stable_id"]) if "stable_id" in node else None
    parameter: Parameter = _defined(
        node, scope, lambda id, type: Parameter(id, type, by_value, name, stable_id)
    )
    return parameter


def _read_stable_id(node: Node) -> int:
    digits = node.string()
    if not _STABLE_ID.fullmatch(digits):
        raise node.error(f"expected 32 hexadecimal digits, but got {digits!r}")
    return int(digits, 16)


def _read_value(node: Node, scope: dict[int, Value]) -> Value:
    node.has_members({"id", "type"})
    value: Value = _defined(node, scope, Value)
    return value


def _read_function(node: Node, scope: dict[int, Value]) -> tuple[tuple[Instruction, ...], tuple[Value, ...]]:
    instructions = tuple(_read_instruction(item, scope) for item in node["instructions"].items())
    return instructions, _read_uses(node["results"], scope)


def _read_uses(node: Node, scope: Mapping[int, Value]) -> tuple[Value, ...]:
    return tuple(_read_use(item, scope) for item in node.items())


def _read_use(node: Node, scope: Mapping[int, Value]) -> Value:
    id = node.integer()
    if id not in scope:
        raise node.error(f"value %{id} is not defined before its use")
    return scope[id]


def _read_instruction(node: Node, scope: dict[int, Value]) -> Instruction:
    node.has_members({"primitive", "operands", "results"}, {"attributes", "regions"})
    operands = _read_uses(node["operands"], scope)
    attributes = _read_attributes(node["attributes"]) if "attributes" in node else {}
    regions = tuple(map(_read_region, node["regions"].items())) if "regions" in node else ()
    results = tuple(_read_value(item, scope) for item in node["results"].items())
    return Instruction(node["primitive"].string(), operands, attributes, results, regions)


def _read_region(node: Node) -> Region:
    node.has_members({"parameters", "instructions", "results"})
    scope: dict[int, Value] = {}
    parameters = tuple(_read_parameter(item, scope) for item in node["parameters"].items())
    return Region(parameters, *_read_function(node, scope))


def _read_attributes(node: Node) -> dict[str, Attribute]:
    return {name: _read_attribute(node[name]) for name in node.object()}


def _read_attribute(node: Node) -> Attribute:
    value = node.value
    if isinstance(value, list):
        return tuple(map(_read_attribute, node.items()))
    if isinstance(value, bool | int | str):
        return value
    read = _TAGGED.get(frozenset(value)) if isinstance(value, dict) else None
    if read is None:
        raise node.error(f"expected an attribute, but got {json.dumps(value)}")
    return read(node)


def _read_float(node: Node) -> float:
    value = node.value
    if isinstance(value, str) and value in _SPELLED:
        return _SPELLED[value]
    if isinstance(value, bool) or not isinstance(value, float | int):
        raise node.error(f'expected a number, "nan", "inf" or "-inf", but got {json.dumps(value)}')
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise node.error(f"{str(value)[:20]}... is too large for a float of 64 bits")
    return number


def _read_complex(node: Node) -> complex:
    parts = node["complex"].items()
    if len(parts) != 2:
        raise node.error(f"expected a real and an imaginary part, but got {len(parts)} numbers")
    return complex(*map(_read_float, parts))


def _read_dtype(node: Node) -> DType:
    name = node.string()
    if name not in BY_SHORT_NAME:
        raise node.error(f"there is no dtype {name!r}")
    return BY_SHORT_NAME[name]


def _read_packed(node: Node) -> Attribute:
    dtype, encoded = _read_dtype(node["packed"]), node["base64"].string()
    try:
        return unpacked(dtype, b64decode(encoded, validate=True))
    except ValueError as error:
        raise node["base64"].error(str(error).rstrip(".")) from None


_TAGGED: Mapping[frozenset[str], Callable[[Node], Attribute]] = {
    frozenset({"dtype"}): lambda node: _read_dtype(node["dtype"]),
    frozenset({"float"}): lambda node: _read_float(node["float"]),
    frozenset({"complex"}): _read_complex,
    frozenset({"packed", "base64"}): _read_packed,
}
