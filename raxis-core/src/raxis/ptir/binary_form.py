"""The binary form of programs: lossless and compact, ``from_bytes(to_bytes(program)) == program``.

Numbers are little-endian. A *count* is an unsigned LEB128 number: seven bits a byte, the lowest first, the top
bit set in all bytes but the last. A *string* is a count of bytes and UTF-8; a *list* is a count and its items.

=============  ====================================================================================================
file           8 bytes `MAGIC`; u16 major, u16 minor version; u64 length of the body; body; u32 CRC-32 of the body
body           list of strings; list of types; *name*; attributes; function
type           *dtype*; list of counts: the shape
parameter      *type*; flags byte: 1 by value, 2 named, 4 identified; *name* if named; 16 bytes if identified
function       list of parameters; list of instructions; list of values: the results
instruction    *primitive*; list of values: the operands; attributes; list of *types*: the results;
               list of functions: the regions
value          count: its number in its function, where parameters and results are numbered as they are defined
attributes     list of pairs of a *name* and an attribute
attribute      a tag byte (`_TAGS`) and what it announces
=============  ====================================================================================================

What stands in italics is a count, the index in one of the two leading lists.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar
from zlib import crc32

from raxis.dtypes import DType
from raxis.ptir.attributes import Attribute
from raxis.ptir.packing import packed, unpacked
from raxis.ptir.program import Instruction, Numbering, Parameter, Program, Region, Value
from raxis.ptir.types import BY_SHORT_NAME, SHORT_NAMES, TensorType
from raxis.ptir.verifier import verify
from raxis.ptir.version import VERSION, ParseError, check_version, refusing_deep_nesting

MAGIC = b"\x89PTIR\r\n\x1a"
"""The first bytes of the binary form; a transfer that mistakes it for text damages them."""

_TAGS = ("false", "true", "int", "float", "complex", "str", "dtype", "tuple", "packed")
_TAG = {name: number for number, name in enumerate(_TAGS)}
_BY_VALUE, _NAMED, _IDENTIFIED = 1, 2, 4
_HEADER = struct.Struct("<8sHHQ")
_CHECKSUM = struct.Struct("<I")
_FLOAT = struct.Struct("<d")
_COMPLEX = struct.Struct("<dd")
_ENCODING = ("utf-8", "surrogatepass")
_LONGEST_COUNT = 10
_T = TypeVar("_T")


def to_bytes(program: Program) -> bytes:
    """The binary form of a program.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> to_bytes(Builder("empty").build([]))[:8]
        b'\\x89PTIR\\r\\n\\x1a'
    """
    body = _Writer().body(program)
    return _HEADER.pack(MAGIC, *VERSION, len(body)) + body + _CHECKSUM.pack(crc32(body))


def from_bytes(data: bytes) -> Program:
    """The program of a binary form, verified.

    Raises:
        ParseError: if the bytes are damaged, incomplete, no program, or of another major version.
        VerificationError: if they are well-formed, but no valid program.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> from_bytes(to_bytes(Builder("empty").build([]))).name
        'empty'
    """
    body = _checked_body(data)
    with refusing_deep_nesting():
        program = _Reader(body).program()
        verify(program)
    return program


def _checked_body(data: bytes) -> bytes:
    if data[: len(MAGIC)] != MAGIC:
        raise ParseError(f"a binary program starts with the bytes {MAGIC!r}, but these are {data[:8]!r}.")
    if len(data) < _HEADER.size:
        raise ParseError(f"a binary program has a header of {_HEADER.size} bytes, but got {len(data)}.")
    _, major, minor, length = _HEADER.unpack_from(data)
    check_version(major, minor)
    expected = _HEADER.size + length + _CHECKSUM.size
    if len(data) != expected:
        raise ParseError(f"this binary program should have {expected} bytes, but has {len(data)}.")
    body = data[_HEADER.size : -_CHECKSUM.size]
    if _CHECKSUM.unpack(data[-_CHECKSUM.size :])[0] != crc32(body):
        raise ParseError("the checksum of this binary program does not match; the bytes are damaged.")
    return body


def _count(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _listed(items: Sequence[bytes]) -> bytes:
    return _count(len(items)) + b"".join(items)


def _sized(data: bytes) -> bytes:
    return _count(len(data)) + data


class _Writer:
    """Encodes one program, collecting its strings and types."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {}
        self._types: dict[TensorType, int] = {}

    def body(self, program: Program) -> bytes:
        rest = self._string(program.name) + self._attributes(program.attributes)
        rest += self._function(Region(program.parameters, program.instructions, program.results))
        types = _listed([self._type_entry(type) for type in self._types])
        strings = _listed([_sized(string.encode(*_ENCODING)) for string in self._strings])
        return strings + types + rest

    def _string(self, string: str) -> bytes:
        return _count(self._strings.setdefault(string, len(self._strings)))

    def _type(self, type: TensorType) -> bytes:
        return _count(self._types.setdefault(type, len(self._types)))

    def _type_entry(self, type: TensorType) -> bytes:
        return self._string(SHORT_NAMES[type.dtype]) + _listed([_count(size) for size in type.shape])

    def _parameter(self, parameter: Parameter, number: Numbering) -> bytes:
        number(parameter)
        name, stable_id = parameter.name, parameter.stable_id
        flags = _BY_VALUE * parameter.by_value
        flags |= _NAMED * (name is not None) | _IDENTIFIED * (stable_id is not None)
        encoded = self._type(parameter.type) + bytes([flags])
        if name is not None:
            encoded += self._string(name)
        return encoded if stable_id is None else encoded + stable_id.to_bytes(16, "little")

    def _function(self, function: Region) -> bytes:
        number = Numbering()
        encoded = _listed([self._parameter(parameter, number) for parameter in function.parameters])
        encoded += _listed([self._instruction(instruction, number) for instruction in function.instructions])
        return encoded + _listed([_count(number(value)) for value in function.results])

    def _instruction(self, instruction: Instruction, number: Numbering) -> bytes:
        operands = _listed([_count(number(value)) for value in instruction.operands])
        return b"".join(
            (
                self._string(instruction.primitive),
                operands,
                self._attributes(instruction.attributes),
                self._defined(instruction.results, number),
                _listed([self._function(region) for region in instruction.regions]),
            )
        )

    def _defined(self, values: Iterable[Value], number: Numbering) -> bytes:
        types = []
        for value in values:
            number(value)
            types.append(self._type(value.type))
        return _listed(types)

    def _attributes(self, attributes: Mapping[str, Attribute]) -> bytes:
        return _listed([self._string(name) + self._attribute(value) for name, value in attributes.items()])

    def _attribute(self, value: Attribute) -> bytes:
        tag, encoded = self._tagged(value)
        return bytes([_TAG[tag]]) + encoded

    def _tagged(self, value: Attribute) -> tuple[str, bytes]:
        if isinstance(value, bool):
            return ("true" if value else "false"), b""
        if isinstance(value, int):
            return "int", _sized(value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
        if isinstance(value, float):
            return "float", _FLOAT.pack(value)
        if isinstance(value, complex):
            return "complex", _COMPLEX.pack(value.real, value.imag)
        if isinstance(value, str):
            return "str", self._string(value)
        if isinstance(value, DType):
            return "dtype", self._string(SHORT_NAMES[value])
        return self._tuple(value)

    def _tuple(self, values: tuple[Attribute, ...]) -> tuple[str, bytes]:
        numbers = packed(values)
        if numbers is None:
            return "tuple", _listed([self._attribute(value) for value in values])
        dtype, data = numbers
        return "packed", self._string(SHORT_NAMES[dtype]) + _sized(data)


class _Reader:
    """Decodes a body, trusting none of its numbers."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        self._strings: list[str] = []
        self._types: list[TensorType] = []
        self._read: Mapping[str, Callable[[], Attribute]] = {
            "false": lambda: False,
            "true": lambda: True,
            "int": self._read_int,
            "float": self._read_float,
            "complex": self._read_complex,
            "str": self._string,
            "dtype": self._dtype,
            "tuple": self._read_tuple,
            "packed": self._read_packed,
        }

    def program(self) -> Program:
        self._strings = self._list(self._string_entry)
        self._types = self._list(self._type_entry)
        name, attributes = self._string(), self._attributes()
        whole = self._function()
        if self._position != len(self._data):
            raise self._error(f"{len(self._data) - self._position} bytes follow the program")
        return Program(name, whole.parameters, whole.instructions, whole.results, attributes)

    def _error(self, problem: str) -> ParseError:
        return ParseError(f"binary program, byte {_HEADER.size + self._position}: {problem}.")

    def _bytes(self, count: int) -> bytes:
        end = self._position + count
        if end > len(self._data):
            raise self._error(f"{count} bytes should follow, but {len(self._data) - self._position} do")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def _count(self) -> int:
        number = 0
        for position in range(_LONGEST_COUNT):
            (byte,) = self._bytes(1)
            number |= (byte & 0x7F) << 7 * position
            if byte < 0x80:
                return number
        raise self._error(f"a count has more than {_LONGEST_COUNT} bytes")

    def _length(self) -> int:
        """The length of a list, of which every item takes a byte or more."""
        length, left = self._count(), len(self._data) - self._position
        if length > left:
            raise self._error(f"a list of {length} items should follow, but only {left} bytes do")
        return length

    def _list(self, item: Callable[[], _T]) -> list[_T]:
        return [item() for _ in range(self._length())]

    def _item(self, kind: str, items: Sequence[_T]) -> _T:
        index = self._count()
        if index >= len(items):
            raise self._error(f"{kind} {index} is used, but only {len(items)} are defined")
        return items[index]

    def _string_entry(self) -> str:
        try:
            return self._bytes(self._count()).decode(*_ENCODING)
        except UnicodeDecodeError:
            raise self._error("a string is not UTF-8") from None

    def _string(self) -> str:
        return self._item("string", self._strings)

    def _dtype(self) -> DType:
        name = self._string()
        if name not in BY_SHORT_NAME:
            raise self._error(f"there is no dtype {name!r}")
        return BY_SHORT_NAME[name]

    def _type_entry(self) -> TensorType:
        return TensorType(self._dtype(), tuple(self._list(self._count)))

    def _type(self) -> TensorType:
        return self._item("type", self._types)

    def _parameter(self, id: int) -> Parameter:
        type, (flags,) = self._type(), self._bytes(1)
        if flags > _BY_VALUE | _NAMED | _IDENTIFIED:
            raise self._error(f"a parameter has unknown flags {flags:#x}")
        name = self._string() if flags & _NAMED else None
        stable_id = int.from_bytes(self._bytes(16), "little") if flags & _IDENTIFIED else None
        return Parameter(id, type, bool(flags & _BY_VALUE), name, stable_id)

    def _function(self) -> Region:
        parameters = tuple(self._parameter(position) for position in range(self._length()))
        scope: list[Value] = list(parameters)
        instructions = tuple(self._list(lambda: self._instruction(scope)))
        return Region(parameters, instructions, self._values(scope))

    def _values(self, scope: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(self._list(lambda: self._item("value", scope)))

    def _instruction(self, scope: list[Value]) -> Instruction:
        primitive, operands, attributes = self._string(), self._values(scope), self._attributes()
        results = self._defined(scope)
        return Instruction(primitive, operands, attributes, results, tuple(self._list(self._function)))

    def _defined(self, scope: list[Value]) -> tuple[Value, ...]:
        types = self._list(self._type)
        values = tuple(Value(len(scope) + position, type) for position, type in enumerate(types))
        scope.extend(values)
        return values

    def _attributes(self) -> dict[str, Attribute]:
        entries = self._list(lambda: (self._string(), self._attribute()))
        attributes = dict(entries)
        if len(attributes) < len(entries):
            raise self._error("an attribute is given twice")
        return attributes

    def _attribute(self) -> Attribute:
        (tag,) = self._bytes(1)
        if tag >= len(_TAGS):
            raise self._error(f"an attribute has the unknown tag {tag}")
        return self._read[_TAGS[tag]]()

    def _read_int(self) -> int:
        return int.from_bytes(self._bytes(self._count()), "little", signed=True)

    def _read_float(self) -> float:
        return float(_FLOAT.unpack(self._bytes(_FLOAT.size))[0])

    def _read_complex(self) -> complex:
        return complex(*_COMPLEX.unpack(self._bytes(_COMPLEX.size)))

    def _read_tuple(self) -> tuple[Attribute, ...]:
        return tuple(self._list(self._attribute))

    def _read_packed(self) -> tuple[Attribute, ...]:
        dtype, data = self._dtype(), self._bytes(self._count())
        try:
            return unpacked(dtype, data)
        except ValueError as error:
            raise self._error(str(error).rstrip(".")) from None
