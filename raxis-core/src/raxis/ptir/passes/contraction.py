"""Transposes next to a dot_general become its dimension numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from raxis.ptir.passes.record import Pass
from raxis.ptir.passes.rewriter import Rewriter, Rule, RuleTable, sweep
from raxis.ptir.passes.views import moving
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction, Value

SIDES = ("lhs", "rhs")


def _transposed_operand(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """An operand's transpose only renames its dims, if the free ones stay in order."""
    operands, attributes = list(instruction.operands), dict(instruction.attributes)
    found = False
    for place, side in enumerate(SIDES):
        inner = rewriter.made_by(operands[place], "transpose")
        if inner is None:
            continue
        permutation = inner.attributes["permutation"]
        renamed = {
            name: tuple(permutation[dim] for dim in attributes[name])
            for name in (f"{side}_batch", f"{side}_contract")
        }
        if _keeps_free_order(instruction, side, permutation):
            operands[place] = inner.operands[0]
            attributes |= renamed
            found = True
    return rewriter.emit("dot_general", *operands, **attributes) if found else None


def _keeps_free_order(instruction: Instruction, side: str, permutation: Sequence[int]) -> bool:
    operand = instruction.operands[SIDES.index(side)].type
    batch, contract = (instruction.attributes[f"{side}_{role}"] for role in ("batch", "contract"))
    free = moving(operand.shape, free_dims(operand.rank, batch, contract))
    order = [permutation[dim] for dim in free]
    return order == sorted(order)


def _transposed_result(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """A transpose that moves rhs's free dims before lhs's is the product with its operands exchanged.

    One that permutes batch dims permutes them in both operands.
    """
    inner = rewriter.made_by(instruction.operands[0], "dot_general")
    if inner is None or rewriter.uses(instruction.operands[0]) > 1:
        return None
    lhs, rhs = inner.operands
    batch = len(inner.attributes["lhs_batch"])
    left = lhs.type.rank - batch - len(inner.attributes["lhs_contract"])
    permutation = instruction.attributes["permutation"]
    order, rest = permutation[:batch], permutation[batch:]
    in_order = tuple(range(batch, len(permutation)))
    exchanged = in_order[left:] + in_order[:left]
    if sorted(order) != list(range(batch)) or rest not in {in_order, exchanged}:
        return None
    attributes = dict(inner.attributes)
    for side in SIDES:
        attributes[f"{side}_batch"] = tuple(attributes[f"{side}_batch"][place] for place in order)
    if rest == in_order:
        return rewriter.emit("dot_general", lhs, rhs, **attributes)
    return rewriter.emit("dot_general", rhs, lhs, **_exchanged(attributes))


def _exchanged(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The dimension numbers of a product with its operands exchanged."""
    lhs, rhs = SIDES
    return {
        f"{side}_{role}": attributes[f"{other}_{role}"]
        for side, other in ((lhs, rhs), (rhs, lhs))
        for role in ("batch", "contract")
    }


_TABLE = RuleTable(
    [
        Rule("transposed operand", ("dot_general",), _transposed_operand),
        Rule("transposed product", ("transpose",), _transposed_result),
    ]
)

TRANSPOSES = Pass(
    "transposes",
    "transposes of operands and results of dot_general become its dimension numbers",
    lambda program, context: sweep(program, _TABLE, context),
    exact=False,
)
