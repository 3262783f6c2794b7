"""Type stubs derived from the op table: ``python -m raxis.ops.stubs --write`` or ``--check``.

Editors and type checkers read the stubs; nothing imports them at run time.
"""

from __future__ import annotations

import argparse
import keyword
import sys
from collections.abc import Iterable
from pathlib import Path

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.ops.schema import REQUIRED, Parameter
from raxis.ops.table import OPS, Op

_ROOT = Path(__file__).resolve().parent.parent

FUNCTION_STUBS = {
    "raxis": _ROOT / "ops" / "functions.pyi",
    "raxis.nn.functional": _ROOT / "nn" / "functional.pyi",
    "raxis.linalg": _ROOT / "linalg.pyi",
    "raxis.masked": _ROOT / "masked.pyi",
    "raxis.special": _ROOT / "special.pyi",
    "raxis.fft": _ROOT / "fft.pyi",
    "raxis.signal.windows": _ROOT / "signal" / "windows.pyi",
}
METHOD_STUB = _ROOT / "ops" / "methods.pyi"

_HEADER = '''"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor
'''

_SHARED = (
    "digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "i0", "log1p", "log_softmax", "logit", "logsumexp",
    "polygamma", "round", "sinc", "softmax", "xlogy",
)  # fmt: skip
_RENAMED = {
    "digamma": "psi", "igamma": "gammainc", "igammac": "gammaincc", "lgamma": "gammaln", "mvlgamma": "multigammaln",
    "sigmoid": "expit",
}  # fmt: skip
"""What `raxis.special` takes over from `raxis`, under the same and under other names."""

_MORE = {
    "raxis.linalg": "from raxis.errors import LinAlgError as LinAlgError\n",
    "raxis.special": "from raxis.ops import functions as _functions\n\n"
    + "".join(f"{name} = _functions.{name}\n" for name in _SHARED)
    + "".join(f"{public} = _functions.{name}\n" for name, public in _RENAMED.items()),
}
"""What modules have besides the functions of the table."""

_TYPES = {
    "Tensor": "Tensor",
    "Tensor|Scalar": "Tensor | builtins.complex",
    "Scalar": "builtins.complex",
    "int": "builtins.int",
    "start": "builtins.int | Tensor",
    "float": "builtins.float",
    "bool": "builtins.bool",
    "str": "builtins.str",
    "dtype": "DType",
    "device": "DeviceLike",
    "Generator": "Generator",
    "memory_format": "MemoryFormat",
}
"""Annotations by schema type; every other type is Any."""


def annotation(parameter: Parameter) -> str:
    """The annotation of one parameter."""
    base = _TYPES.get(parameter.type, "Any")
    if parameter.varargs or parameter.keywords:
        return "Any" if base == "Any" else f"{base} | Sequence[{base}]"
    if parameter.length is not None:
        base = f"Sequence[{base}]" if parameter.is_tensor else f"{base} | Sequence[{base}]"
    optional = parameter.optional or parameter.default is None
    return f"{base} | None" if optional and base != "Any" else base


def result_annotation(op: Op) -> str:
    """The annotation of an op's result."""
    if op.schema.result_names:
        return _result_class(op)
    text = op.schema.results
    if text in ("Tensor[]", "Tensor..."):
        return "tuple[Tensor, ...]"
    if text == "Scalar":
        return "Any"  # by dtype a bool, an int, a float or a complex
    return _TYPES.get(text, "Any") if text != "None" else "None"


def _result_class(op: Op) -> str:
    return f"_{op.name.strip('_')}_result"


def _parameters(op: Op, *, method: bool, out: bool) -> str:
    items: list[str] = []
    starred = False
    for position, parameter in enumerate(op.parameters):
        if method and position == 0:
            items.append("self")
        elif parameter.varargs:
            items.append(f"*{parameter.name}: {annotation(parameter)}")
            starred = True
        elif parameter.keywords:
            continue
        else:
            if parameter.keyword_only and not starred:
                items.append("*")
                starred = True
            default = "" if parameter.default is REQUIRED else " = ..."
            # PyTorch names some parameters `from`, which Python code can only pass by position.
            name = f"{parameter.name}_" if keyword.iskeyword(parameter.name) else parameter.name
            items.append(f"{name}: {annotation(parameter)}{default}")
    if out:
        items.extend([] if starred else ["*"])
        items.append("out: Any = ...")
    items.extend(f"**{parameter.name}: Any" for parameter in op.parameters if parameter.keywords)
    return ", ".join(items)


def _summary(op: Op) -> str:
    line = op.doc.splitlines()[0] if op.doc else op.name
    return line.replace("\\", "\\\\").replace('"""', "'''")


def _definition(op: Op, name: str, *, method: bool, out: bool, indent: str = "") -> str:
    result = "Tensor" if name.endswith("_") and not name.startswith("_") else result_annotation(op)
    head = f"{indent}def {name}({_parameters(op, method=method, out=out)}) -> {result}:"
    return f'{head}\n{indent}    """{_summary(op)}"""\n'


def _result_classes(ops: Iterable[Op]) -> str:
    parts = []
    for op in ops:
        if op.schema.result_names:
            fields = "".join(f"    {name}: Tensor\n" for name in op.schema.result_names)
            parts.append(f"class {_result_class(op)}(NamedTuple):\n{fields}")
    return "\n".join(parts)


def function_stub(namespace: str) -> str:
    """The stub of one namespace's functions."""
    ops = sorted(
        (op for op in OPS.values() if op.namespace == namespace and op.function), key=lambda op: op.name
    )
    parts = [_HEADER, _MORE.get(namespace, ""), _result_classes(ops)]
    for op in ops:
        for name in (op.name, *op.aliases):
            parts.append(_definition(op, name, method=False, out=op.out))
            if op.inplace:
                parts.append(_definition(op, f"{name}_", method=False, out=False))
    return "\n".join(part for part in parts if part)


def method_stub() -> str:
    """The stub of Tensor's derived methods."""
    ops = sorted((op for op in OPS.values() if op.method), key=lambda op: op.name)
    lines = ["class TensorMethods:"]
    for op in ops:
        if op.attribute:
            lines.append("    @property")
        for name in (op.name, *op.aliases):
            lines.append(_definition(op, name, method=True, out=op.out and not op.attribute, indent="    "))
            if op.inplace:
                lines.append(_definition(op, f"{name}_", method=True, out=False, indent="    "))
        lines.extend(_operator_definitions(op))
    return "\n".join([_HEADER, _result_classes(ops), *lines])


def _operator_definitions(op: Op) -> list[str]:
    if not op.operator:
        return []
    tensors = [parameter for parameter in op.parameters if parameter.is_tensor]
    if len(tensors) == 1:
        return [f"    def {op.operator}(self) -> Tensor: ...\n"]
    names = [op.operator]
    if op.operator not in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        stem = op.operator.strip("_")
        names += [f"__r{stem}__", *([f"__i{stem}__"] if op.inplace else [])]
    ignore = "  # type: ignore[override]" if op.operator in ("__eq__", "__ne__") else ""
    other = "Any" if op.operator in ("__eq__", "__ne__") else annotation(tensors[1])
    return [f"    def {name}(self, other: {other}) -> Tensor: ...{ignore}\n" for name in names]


def stubs() -> dict[Path, str]:
    """Every stub file and its text."""
    present = [(name, path) for name, path in FUNCTION_STUBS.items() if path.with_suffix(".py").exists()]
    return {**{path: function_stub(name) for name, path in present}, METHOD_STUB: method_stub()}


def main(arguments: list[str] | None = None) -> int:
    """Write the stubs, or check that they are what the table says."""
    parser = argparse.ArgumentParser(prog="python -m raxis.ops.stubs", description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help="write the stub files")
    choice.add_argument("--check", action="store_true", help="fail if a stub file is stale")
    options = parser.parse_args(arguments)
    stale = [path for path, text in stubs().items() if not path.exists() or path.read_text() != text]
    if options.write:
        for path in stale:
            path.write_text(stubs()[path])
        print(f"{len(stale)} stub files written")
        return 0
    for path in stale:
        print(f"{path.relative_to(_ROOT)} is stale: run python -m raxis.ops.stubs --write", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
