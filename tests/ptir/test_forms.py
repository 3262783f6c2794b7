"""Stored forms of programs: lossless, strict, and refused with a sentence when damaged."""

from __future__ import annotations

import json
import struct
from contextlib import suppress
from pathlib import Path
from random import Random
from zlib import crc32

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from raxis import dtypes
from raxis.ptir import Builder, ParseError, Program, TensorType, VerificationError, parse, verify
from raxis.ptir.binary_form import MAGIC
from raxis.ptir.files import FORMS, form_of
from raxis.ptir.packing import PACKED_FROM
from raxis.ptir.version import VERSION
from tests.ptir.random_programs import SEEDS, programs, random_program

NAN, INF = float("nan"), float("inf")


def round_trip(program: Program) -> None:
    verify(program)
    for form in FORMS.values():
        data = form.write(program)
        again = form.read(data)
        assert again == program
        assert hash(again) == hash(program)
        assert form.write(again) == data
    json.loads(program.to_json(), parse_constant=pytest.fail)  # JSON as the standard has it


@settings(max_examples=150)
@given(programs())
def test_random_programs(program: Program) -> None:
    round_trip(program)


@pytest.mark.slow
@settings(max_examples=3000, phases=[Phase.generate])
@given(programs(12))
def test_thousands_of_random_programs(program: Program) -> None:
    round_trip(program)


def noted(**notes: object) -> Program:
    return Builder("noted").build([], notes)


@pytest.mark.parametrize(
    "value",
    [
        True,
        0,
        -1,
        2**200,
        -(2**63),
        0.1,
        -0.0,
        NAN,
        -INF,
        5e-324,
        complex(NAN, -0.0),
        complex(-0.0, INF),
        "",
        '"\\\n\u2028ä\U0001f600',
        "\ud800",
        dtypes.bfloat16,
        (),
        ((), (1, (2.0, "x"))),
        (0.1, NAN, -0.0, INF) * PACKED_FROM,
        (1.0, -0.0) * PACKED_FROM,
        (2**62, -1) * PACKED_FROM,
        (2**63, -1) * PACKED_FROM,
        (True, False) * PACKED_FROM,
        (True, 1) * PACKED_FROM,
        (1, 1.0) * PACKED_FROM,
        (complex(0.1, NAN), -0j) * PACKED_FROM,
        ("a",) * PACKED_FROM,
    ],
    ids=lambda value: repr(value)[:24],
)
def test_every_kind_of_attribute(value: object) -> None:
    round_trip(noted(note=value, nested=(value, (value,))))


def test_a_program_without_anything_and_a_parameter_with_everything() -> None:
    round_trip(Builder("").build([]))
    builder = Builder("every member")
    scalar = builder.parameter(TensorType(dtypes.float32, ()), True, name="", stable_id=0)
    other = builder.parameter(TensorType(dtypes.float32, (0, 3)), name="w", stable_id=2**128 - 1)
    round_trip(builder.build([scalar, other, other]))


def test_parameters_of_regions_keep_everything() -> None:
    def program(by_value: bool) -> Program:
        inner = Builder()
        inside = inner.parameter(TensorType(dtypes.float32, ()), by_value, name="alpha", stable_id=5)
        builder = Builder("outer")
        x = builder.parameter(TensorType(dtypes.float32, ()), True)
        return builder.build(builder.emit("composite", x, name="same", regions=[inner.region([inside])]))

    round_trip(program(True))
    assert program(True) != program(False)
    assert f'region(%0 "alpha" @{5:032x}: scalar f32[])' in program(True).text()


def test_stable_ids_are_part_of_a_program() -> None:
    def program(stable_id: int | None) -> Program:
        builder = Builder("identified")
        return builder.build([builder.parameter(TensorType(dtypes.float32, ()), stable_id=stable_id)])

    assert program(1) != program(2)
    assert program(0) != program(None)
    assert "%0 @0000000000000000000000000000000f: f32[]" in program(15).text()
    for wrong in (-1, 2**128, 1.0, True):
        with pytest.raises(VerificationError, match="must be an integer in"):
            verify(program(wrong))  # type: ignore[arg-type]
    with pytest.raises(ParseError, match="unexpected character '@'"):
        parse(program(15).text().replace("@0", "@"))


@pytest.mark.parametrize(
    ("values", "itemsize"),
    [
        (np.arange(1000) / 8, 2),
        (np.arange(1000) / 2**14, 4),
        (np.arange(1000) / 3, 8),
        (np.arange(1000) % 200, 1),
        (np.arange(1000) * 7, 2),
        (np.arange(1000) % 2 == 0, 1),
    ],
)
def test_large_constants_are_raw_bytes(values: np.ndarray, itemsize: int) -> None:
    builder = Builder("large")
    dtype = dtypes.from_numpy_dtype(values.dtype)
    program = builder.build([builder.constant(values.tolist(), dtype, values.shape)])
    round_trip(program)
    assert len(program.to_bytes()) < 1000 * itemsize + 200
    assert len(program.to_json()) < 1000 * itemsize * 4 / 3 + 400


def patched(
    data: bytes, major: int = VERSION[0], minor: int = VERSION[1], body: bytes | None = None
) -> bytes:
    """The binary form with another version or body, and a checksum that matches."""
    body = data[20:-4] if body is None else body
    return MAGIC + struct.pack("<HHQ", major, minor, len(body)) + body + struct.pack("<I", crc32(body))


def test_version_gate() -> None:
    program = random_program(3, 5)
    text, document, data = program.text(), program.to_json(), program.to_bytes()
    newer = [
        lambda: parse(text.replace("ptir 1.0", "ptir 2.0")),
        lambda: Program.from_json(document.replace('"ptir": "1.0"', '"ptir": "2.0"')),
        lambda: Program.from_bytes(patched(data, major=2)),
        lambda: Program.from_bytes(patched(data, major=2)[:25]),  # whatever follows the version
    ]
    for read in newer:
        with pytest.raises(
            ParseError, match=r"PTIR version 2\.0, but this version of Raxis reads version 1; use"
        ):
            read()
    assert parse(text.replace("ptir 1.0", "ptir 1.9")) == program
    assert Program.from_json(document.replace('"ptir": "1.0"', '"ptir": "1.9"')) == program
    assert Program.from_bytes(patched(data, minor=9)) == program


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "starts with the bytes"),
        (lambda data: data.replace(b"\r\n", b"\n"), "starts with the bytes"),
        (lambda data: data[:15], "has a header of 20 bytes, but got 15"),
        (lambda data: data[:-1], "should have"),
        (lambda data: data + b"\0", "should have"),
        (lambda data: data[:30] + bytes([data[30] ^ 1]) + data[31:], "checksum"),
        (lambda data: patched(data, body=b""), "1 bytes should follow, but 0 do"),
        (lambda data: patched(data, body=data[20:-4] + b"\0"), "1 bytes follow the program"),
        (
            lambda data: patched(data, body=b"\xff" * 8 + b"\x7f"),
            "list of 9223372036854775807 items should follow",
        ),
        (lambda data: patched(data, body=b"\xff" * 30), "more than 10 bytes"),
        (lambda data: patched(data, body=b"\x01\x02\xff\xfe"), "not UTF-8"),
    ],
)
def test_damaged_bytes(change, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        Program.from_bytes(change(random_program(3, 5).to_bytes()))


def sample_document() -> dict:
    builder = Builder("sample")
    x = builder.parameter(TensorType(dtypes.float32, (2,)), name="x", stable_id=7)
    total = builder.emit("reduce_sum", builder.emit("exp", x), dims=(0,))
    return json.loads(builder.build([total], {"note": (0.5, 1j, dtypes.int8)}).to_json())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("ptir"), 'has a member "ptir"'),
        (lambda d: d.update(ptir=1.0), 'has a member "ptir"'),
        (lambda d: d.pop("results"), "missing: results; unknown: none"),
        (lambda d: d.update(extra=1), "missing: none; unknown: extra"),
        (lambda d: d.update(name=3), "the document, name: expected a string, but got 3"),
        (lambda d: d.update(results=[99]), r"results\[0\]: value %99 is not defined"),
        (lambda d: d.update(results=[True]), "expected an integer, but got true"),
        (
            lambda d: d["parameters"][0].update(type="f31[2]"),
            r"expected a type such as f32\[2,3\], but got 'f31",
        ),
        (lambda d: d["parameters"][0].update(stable_id="7"), "expected 32 hexadecimal digits"),
        (lambda d: d["parameters"][0].update(by_value=1), "expected true or false, but got 1"),
        (lambda d: d["instructions"][0]["results"][0].update(id=0), "value %0 is defined twice"),
        (lambda d: d["instructions"][0].update(operands=[5]), r"instructions\[0\], operands\[0\]: value %5"),
        (lambda d: d["instructions"][0].update(attributes=[]), "expected an object"),
        (lambda d: d["attributes"].update(note=0.5), "expected an attribute, but got 0.5"),
        (lambda d: d["attributes"].update(note=None), "expected an attribute, but got null"),
        (lambda d: d["attributes"].update(note={"float": "NaN"}), 'expected a number, "nan", "inf"'),
        (lambda d: d["attributes"].update(note={"float": True}), "expected a number"),
        (lambda d: d["attributes"].update(note={"float": 10**400}), "too large"),
        (
            lambda d: d["attributes"].update(note={"complex": [1.0]}),
            "a real and an imaginary part, but got 1",
        ),
        (lambda d: d["attributes"].update(note={"dtype": "half"}), "there is no dtype 'half'"),
        (
            lambda d: d["attributes"].update(note={"packed": "f32", "base64": "AAA="}),
            "2 bytes are not elements",
        ),
        (lambda d: d["attributes"].update(note={"packed": "bf16", "base64": ""}), "not elements of bf16"),
        (lambda d: d["attributes"].update(note={"packed": "bool", "base64": "Ag=="}), "must be 0 or 1"),
        (lambda d: d["attributes"].update(note={"packed": "f32", "base64": "*"}), "note, base64"),
    ],
)
def test_malformed_documents(change, message: str) -> None:
    document = sample_document()
    change(document)
    with pytest.raises(ParseError, match=message):
        Program.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: this is no JSON document"),
        ("[]", "expected an object"),
        ('{"ptir": "1.0", "ptir": "1.0"}', "a member given twice"),
        ('{"ptir": NaN}', "NaN, which is not JSON"),
        ("[" * 100_000, "deeper than"),
    ],
)
def test_what_is_no_document(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        Program.from_json(text)


def test_well_formed_but_invalid() -> None:
    document = sample_document()
    document["instructions"][0]["primitive"] = "gelu"
    with pytest.raises(VerificationError, match="no primitive 'gelu'"):
        Program.from_json(json.dumps(document))
    builder = Builder()
    x = builder.parameter(TensorType(dtypes.float32, (2,)))
    data = builder.build([builder.emit("exp", x)]).to_bytes()
    with pytest.raises(VerificationError, match="no primitive 'gel'"):
        Program.from_bytes(patched(data, body=data[20:-4].replace(b"exp", b"gel")))


def check_damage(seed: int, damage: int, suffix: str) -> None:
    """Whatever is changed: the result is a valid program or one of two errors."""
    random = Random(damage)
    data = bytearray(FORMS[suffix].write(random_program(seed, 5)))
    start = 20 if suffix == ".ptirb" else 0
    for _ in range(random.randint(1, 3)):
        place = random.randrange(start, len(data))
        kind = random.randrange(3)
        if kind == 0:
            data[place] = random.choice(b'\0\x01\x7f\x80\xff0129abf"{}[]%@,:.-x \n')
        elif kind == 1:
            del data[place : place + random.randint(1, 4)]
        else:
            data[place:place] = data[max(place - random.randint(1, 9), start) : place]
    damaged = bytes(data)
    if suffix == ".ptirb":
        damaged = patched(damaged, body=damaged[20:-4])
    with suppress(ParseError, VerificationError):
        verify(FORMS[suffix].read(damaged))


@settings(max_examples=300, phases=[Phase.generate])
@given(SEEDS, SEEDS, st.sampled_from(list(FORMS)))
def test_damage_never_gets_past_the_reader(seed: int, damage: int, suffix: str) -> None:
    check_damage(seed, damage, suffix)


@pytest.mark.slow
@settings(max_examples=4000, phases=[Phase.generate])
@given(SEEDS, SEEDS, st.sampled_from(list(FORMS)))
def test_damage_never_gets_past_the_reader_in_thousands(seed: int, damage: int, suffix: str) -> None:
    check_damage(seed, damage, suffix)


@pytest.mark.parametrize("suffix", FORMS)
def test_files(suffix: str, tmp_path: Path) -> None:
    program, path = random_program(11, 8), tmp_path / f"program{suffix}"
    program.save(path)
    assert Program.load(path) == Program.load(str(path)) == program
    assert path.read_bytes() == form_of(path).write(program)
    program.save(path)  # over itself
    assert [item.name for item in tmp_path.iterdir()] == [path.name]
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ParseError, match=f"program{suffix}: "):
        Program.load(path)


def test_an_error_while_saving_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "program.ptir"
    program = random_program(1, 3)
    program.save(path)
    invalid = Program("invalid", (), (), program.parameters)
    with pytest.raises(VerificationError, match="not defined"):
        invalid.save(path)
    assert Program.load(path) == program
    with pytest.raises(
        ValueError, match=r"'program.txt' says no form of programs; use one of .ptir \(text\)"
    ):
        program.save("program.txt")
    with pytest.raises(FileNotFoundError):
        Program.load(tmp_path / "missing.ptir")
