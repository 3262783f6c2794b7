"""Reads the text form of programs (see `raxis.ptir.text`) and verifies what it read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from raxis.ptir.attributes import Attribute
from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
from raxis.ptir.types import BY_SHORT_NAME, TensorType
from raxis.ptir.verifier import verify
from raxis.ptir.version import ParseError, check_version, refusing_deep_nesting

_HEADER = re.compile(r"\s*ptir +(\d+)\.(\d+)[ \r]*\n")
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<id>%\d+)
  | (?P<stable_id>@[0-9a-f]{32}\b)
  | (?P<float>-?0x[0-9a-f]+\.[0-9a-f]+p[+-]\d+ | -?inf\b | nan\b)
  | (?P<int>-?\d+)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<mark>[](){}[,:=])
  | (?P<end>$)
    )""",
    re.VERBOSE | re.ASCII,
)
_A_TOKEN = {
    "string": "a string",
    "id": "a value",
    "stable_id": "a stable identity",
    "int": "an integer",
    "float": "a float",
    "name": "a name",
    "end": "the end",
}
_T = TypeVar("_T")


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


def parse(text: str) -> Program:
    """The program of a text.

    Raises:
        ParseError: if the text is malformed, or of another major version.
        VerificationError: if it is well-formed, but no valid program.

    Example:
        >>> parse('ptir 1.0 \\nprogram "empty"() { return }').name
        'empty'
    """
    header = _HEADER.match(text)
    if header is None:
        raise ParseError("a program starts with a line 'ptir MAJOR.MINOR', but this text does not.")
    check_version(int(header[1]), int(header[2]))
    with refusing_deep_nesting():
        program = _Parser(text, header.end()).program()
        verify(program)
    return program


class _Parser:
    """Recursive descent over the tokens."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self._token = self._read(position)

    def _read(self, position: int) -> _Token:
        match = _TOKEN.match(self._text, position)
        if match is None or match.lastgroup is None:
            raise self._error(position, f"unexpected character {self._text[position:].lstrip()[0]!r}")
        self._after = match.end()
        return _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))

    def _error(self, position: int, problem: str) -> ParseError:
        return ParseError(f"line {self._text.count(chr(10), 0, position) + 1}: {problem}.")

    def _take(self, kind: str) -> str:
        token = self._token
        if token.kind != kind:
            raise self._error(
                token.position, f"expected {_A_TOKEN[kind]}, but found {token.text or 'the end'!r}"
            )
        self._token = self._read(self._after) if kind != "end" else token
        return token.text

    def _accept(self, text: str) -> bool:
        found = self._token.text == text and self._token.kind in {"mark", "name"}
        if found:
            self._take(self._token.kind)
        return found

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            found = self._token.text or "the end"
            raise self._error(self._token.position, f"expected {text!r}, but found {found!r}")

    def _list(self, item: Callable[[], _T], end: str) -> list[_T]:
        """Comma-separated items up to and with the end mark."""
        items: list[_T] = []
        while not self._accept(end):
            if items:
                self._expect(",")
            items.append(item())
        return items

    def program(self) -> Program:
        self._expect("program")
        name = self._string()
        self._expect("(")
        parameters = self._list(self._parameter, ")")
        attributes = self._attributes() if self._accept("with") else {}
        instructions, results = self._body(parameters)
        self._take("end")
        return Program(name, tuple(parameters), instructions, results, attributes)

    def _parameter(self) -> Parameter:
        id = int(self._take("id")[1:])
        name = self._string() if self._token.kind == "string" else None
        stable_id = int(self._take("stable_id")[1:], 16) if self._token.kind == "stable_id" else None
        self._expect(":")
        by_value = self._accept("scalar")
        return Parameter(id, self._type(), by_value, name, stable_id)

    def _type(self) -> TensorType:
        position, name = self._token.position, self._take("name")
        if name not in BY_SHORT_NAME:
            raise self._error(position, f"there is no dtype {name!r}")
        self._expect("[")
        return TensorType(BY_SHORT_NAME[name], tuple(self._list(lambda: int(self._take("int")), "]")))

    def _body(self, parameters: Sequence[Value]) -> tuple[tuple[Instruction, ...], tuple[Value, ...]]:
        scope = {value.id: value for value in parameters}
        instructions = []
        self._expect("{")
        while not self._accept("return"):
            instructions.append(self._instruction(scope))
        results = self._values(scope)
        self._expect("}")
        return tuple(instructions), results

    def _values(self, scope: dict[int, Value]) -> tuple[Value, ...]:
        values: list[Value] = []
        while self._token.kind == "id" or (values and self._accept(",")):
            values.append(self._use(scope))
        return tuple(values)

    def _use(self, scope: dict[int, Value]) -> Value:
        position, id = self._token.position, int(self._take("id")[1:])
        if id not in scope:
            raise self._error(position, f"value %{id} is not defined before its use")
        return scope[id]

    def _instruction(self, scope: dict[int, Value]) -> Instruction:
        position = self._token.position
        ids = self._list(lambda: int(self._take("id")[1:]), "=") if self._token.kind == "id" else []
        primitive = self._take("name")
        self._expect("(")
        operands = tuple(self._list(lambda: self._use(scope), ")"))
        attributes = self._attributes() if self._token.text == "{" else {}
        self._expect(":")
        results = tuple(self._result(id, first=not count) for count, id in enumerate(ids))
        regions = []
        while self._accept("region"):
            regions.append(self._region())
        for value in results:
            if value.id in scope:
                raise self._error(position, f"value {value} is defined twice")
            scope[value.id] = value
        return Instruction(primitive, operands, attributes, results, tuple(regions))

    def _result(self, id: int, first: bool) -> Value:
        if not first:
            self._expect(",")
        return Value(id, self._type())

    def _region(self) -> Region:
        self._expect("(")
        parameters = self._list(self._parameter, ")")
        instructions, results = self._body(parameters)
        return Region(tuple(parameters), instructions, results)

    def _attributes(self) -> dict[str, Attribute]:
        self._expect("{")
        position, entries = self._token.position, self._list(self._attribute, "}")
        attributes = dict(entries)
        if len(attributes) < len(entries):
            raise self._error(position, "an attribute is given twice")
        return attributes

    def _attribute(self) -> tuple[str, Attribute]:
        name = self._string() if self._token.kind == "string" else self._take("name")
        self._expect("=")
        return name, self._attribute_value()

    def _attribute_value(self) -> Attribute:
        if self._accept("["):
            return tuple(self._list(self._attribute_value, "]"))
        if self._token.kind == "name":
            return self._named_value()
        kind, text, position = self._token
        read: dict[str, Callable[[], Attribute]] = {
            "string": self._string,
            "int": lambda: int(self._take("int")),
            "float": self._float,
        }
        if kind not in read:
            raise self._error(position, f"expected an attribute value, but found {text or 'the end'!r}")
        return read[kind]()

    def _string(self) -> str:
        position, text = self._token.position, self._take("string")
        try:
            return str(json.loads(text))
        except json.JSONDecodeError as error:
            raise self._error(position, f"{text} is no JSON string: {error.msg}") from None

    def _float(self) -> float:
        position, text = self._token.position, self._take("float")
        try:
            return float.fromhex(text)
        except OverflowError:
            raise self._error(position, f"{text} is too large for a float of 64 bits") from None

    def _complex(self) -> complex:
        self._expect("(")
        real = self._float()
        self._expect(",")
        imag = self._float()
        self._expect(")")
        return complex(real, imag)

    def _named_value(self) -> Attribute:
        position, name = self._token.position, self._take("name")
        if name in {"true", "false"}:
            return name == "true"
        if name in BY_SHORT_NAME:
            return BY_SHORT_NAME[name]
        if name == "complex":
            return self._complex()
        raise self._error(position, f"expected an attribute value, but found {name!r}")
