"""The reference table of all ops: ``python -m raxis.ops.reference_table --write`` or ``--check``.

It is derived from the op table and kept in ``docs/ops.md``: run this in the root of the repository.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import raxis.ops.definitions  # noqa: F401  fills the table
from raxis.ops.promotion import Promotion
from raxis.ops.schema import REQUIRED, Parameter
from raxis.ops.table import OPS, Effect, Kind, Op

PAGE = Path("docs", "ops.md")
"""Where the page is kept, from the root of the repository."""

_INTRODUCTION = """\
<!-- Generated from the op table by `python -m raxis.ops.reference_table --write`; do not edit. -->
# Ops

{public} public ops: {lowered} written in primitives, {composed} in other ops, {viewed} as stride arithmetic on the same
memory. Another {internal} serve only inside others. `help(raxis.add)` shows arguments, errors and an example.

- **forms**: `f` is a function of the namespace, `.m` a method of tensors, `.p` a property of tensors, `m_` also works
  in place, `out=` also writes into a given tensor; then the Python operator and other names.
- **promotion**: how operands of several dtypes are combined. `arithmetic`: PyTorch's result type. `float`: the same,
  but integers become the default float dtype. `-`: the op has a rule of its own.
- **effect**: `pure`, `random` (draws from a generator), or `writes` (changes its first operand).
- **derivative**: `formula` (its own), `composed` (that of the ops it is written in), or `-` (none).
"""

_COLUMNS = "| op | forms | promotion | effect | derivative | |\n|---|---|---|---|---|---|"

_ROLES = re.compile(r":\w+:")
"""Sphinx roles, which Markdown does not know."""


def is_public(op: Op) -> bool:
    """Whether users can call the op by name."""
    return not op.name.startswith("_") and (op.function or op.method)


def signature(op: Op) -> str:
    """The call as Python writes it: ``add(input, other, *, alpha=1)``."""
    items: list[str] = []
    starred = False
    for parameter in op.parameters:
        starred_here = parameter.varargs
        if parameter.keyword_only and not starred:
            items.append("*")
            starred_here = True
        starred = starred or starred_here
        items.append(_parameter(parameter))
    return f"{op.name}({', '.join(items)})"


def _parameter(parameter: Parameter) -> str:
    if parameter.varargs:
        return f"*{parameter.name}"
    if parameter.keywords:
        return f"**{parameter.name}"
    return parameter.name if parameter.default is REQUIRED else f"{parameter.name}={parameter.default!r}"


def forms(op: Op) -> str:
    """In which ways the op can be called."""
    method = ".p" if op.attribute else ".m"
    marks = [("f", op.function), (method, op.method), ("m_", op.inplace), ("out=", op.out and op.function)]
    found = [mark for mark, present in marks if present]
    names = (op.operator, *op.aliases)
    return " ".join([f"`{name}`" for name in (*found, *names) if name])


def derivative(op: Op) -> str:
    """Where the op's derivative comes from."""
    if op.kind is Kind.COMPOSED:
        return "composed"
    return "formula" if op.vjp else "-"


def summary(op: Op) -> str:
    """The first line of the docstring, fit for a table cell."""
    line = op.doc.split("\n", 1)[0]
    return _ROLES.sub("", line).replace("``", "`").replace("|", "\\|")


def _row(op: Op) -> str:
    promotion = "-" if op.promotion is Promotion.NONE else op.promotion.value
    effect = Effect.WRITES if op.name.endswith("_") else op.effect
    cells = [f"`{signature(op)}`", forms(op), promotion, effect.value, derivative(op), summary(op)]
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """The whole page."""
    ops = [op for op in OPS.values() if is_public(op)]
    kinds = [op.kind for op in ops]
    introduction = _INTRODUCTION.format(
        public=len(ops),
        internal=len(OPS) - len(ops),
        **{kind.value: kinds.count(kind) for kind in Kind},
    )
    return "\n".join([introduction, *_sections(ops)])


def _sections(ops: list[Op]) -> Iterator[str]:
    for namespace in sorted({op.namespace for op in ops}):
        yield f"## {namespace}\n\n{_COLUMNS}"
        yield from (_row(op) for op in sorted(ops, key=lambda op: op.name) if op.namespace == namespace)
        yield ""


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or check that it is what the table says."""
    parser = argparse.ArgumentParser(prog="python -m raxis.ops.reference_table", description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help=f"write {PAGE}")
    choice.add_argument("--check", action="store_true", help=f"fail if {PAGE} is stale")
    options = parser.parse_args(arguments)
    if not PAGE.parent.is_dir():
        parser.error(f"there is no directory {PAGE.parent} here: run this in the root of the repository.")
    if options.write:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    print(f"{PAGE} is stale: run python -m raxis.ops.reference_table --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
