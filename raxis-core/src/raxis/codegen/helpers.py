"""Functions that kernels call, printed where they are used.

A function is named ``rx_NAME_SUFFIX``, where the suffix is the type it works on. Templates have the words

- ``$T`` for that type, ``$s`` for the suffix, ``$U`` for the unsigned integer of its size,
- ``$R`` and ``$r``: its real type and that one's suffix (of complex types),
- ``$sin`` and the like for the language's mathematical functions on ``$R``,
- ``$bits`` for the number of bits of ``$T``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from raxis.codegen import complex_functions, integer_functions, real_functions
from raxis.codegen.dialect import Dialect

TEMPLATES = {**real_functions.TEMPLATES, **integer_functions.TEMPLATES, **complex_functions.TEMPLATES}

_REAL = {"c64": "f32", "c128": "f64", "f16": "f32", "bf16": "f32"}
_BITS = {"u8": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "f32": 32, "f64": 64}
_USED = re.compile(r"\brx_([a-z0-9_]+)_([a-z]+[0-9]+)\b")
_WORD = re.compile(r"\$(\w+)")
_COMPLEX_TYPE = re.compile(r"\b(c64|c128)\b")


def definitions(dialect: Dialect, text: str) -> str:
    """The types and functions that `text` uses, each after those it uses itself."""
    made: dict[tuple[str, str], str] = {}
    _collect(dialect, text, made)
    functions = list(made.values())
    types = sorted(set(_COMPLEX_TYPE.findall("\n".join([text, *functions]))))
    structs = [f"typedef struct {{ {_REAL[name]} re, im; }} {name};" for name in types]
    return "\n".join([*structs, *functions])


def _collect(dialect: Dialect, text: str, made: dict[tuple[str, str], str]) -> None:
    for name, suffix in _used(text):
        if (name, suffix) not in made:
            function = _instance(dialect, name, suffix)
            _collect(dialect, function.replace(f"rx_{name}_{suffix}", ""), made)
            made[name, suffix] = function


def _used(text: str) -> Iterable[tuple[str, str]]:
    return dict.fromkeys(_USED.findall(text))


def _instance(dialect: Dialect, name: str, suffix: str) -> str:
    own = dialect.helpers.get(f"{name}_{suffix}")
    if own is not None:
        return f"{dialect.function} {own}"
    template = TEMPLATES.get(f"{name}_{suffix}") or TEMPLATES[name]
    text = _filled(dialect, template, suffix)
    return "\n".join(_qualified(dialect, text))


def _qualified(dialect: Dialect, text: str) -> Iterator[str]:
    """The qualifiers go before every line that begins a function."""
    for line in text.strip().splitlines():
        yield f"{dialect.function} {line}" if line[0] not in " }" else line


def _filled(dialect: Dialect, template: str, suffix: str) -> str:
    real = _REAL.get(suffix, suffix)
    bits = _BITS.get(suffix, 32)
    words = {"T": suffix, "s": suffix, "R": real, "r": real, "U": f"u{bits}", "bits": str(bits)}
    return _WORD.sub(lambda found: words.get(found[1]) or dialect.math(found[1], real), template)
