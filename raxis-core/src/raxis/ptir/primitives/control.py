"""Primitives with regions: branches, loops, and named composites."""

from __future__ import annotations

from raxis import dtypes
from raxis.ptir.primitives.checks import listed, require
from raxis.ptir.primitives.record import Attributes, Primitive, Regions, Results, Types
from raxis.ptir.program import Region
from raxis.ptir.types import TensorType

_PREDICATE = TensorType(dtypes.bool_, ())


def _require_parameters(name: str, region: Region, expected: Types) -> None:
    require(
        region.parameter_types == tuple(expected),
        f"{name} expected a region with parameters ({listed(expected)}), "
        f"but got ({listed(region.parameter_types)}).",
    )


def _require_results(name: str, region: Region, expected: Types) -> None:
    require(
        region.result_types == tuple(expected),
        f"{name} expected a region with results ({listed(expected)}), but got ({listed(region.result_types)}).",
    )


def _cond(operands: Types, _: Attributes, regions: Regions) -> Results:
    require(
        list(operands[:1]) == [_PREDICATE],
        f"cond expected a predicate of type {_PREDICATE}, but got ({listed(operands)}).",
    )
    for region in regions:
        _require_parameters("cond", region, operands[1:])
    _require_results("cond", regions[1], regions[0].result_types)
    return regions[0].result_types


def _while(operands: Types, _: Attributes, regions: Regions) -> Results:
    condition, body = regions
    for region in regions:
        _require_parameters("while", region, operands)
    _require_results("while", condition, (_PREDICATE,))
    _require_results("while", body, operands)
    return tuple(operands)


def _scan(operands: Types, attributes: Attributes, regions: Regions) -> Results:
    count = attributes["carry_count"]
    require(
        0 <= count < len(operands),
        f"scan expected 0 <= carry_count < {len(operands)}, the number of operands, but got {count}.",
    )
    carries, sequences = operands[:count], operands[count:]
    require(
        all(sequence.rank for sequence in sequences)
        and len({sequence.shape[0] for sequence in sequences}) == 1,
        f"scan expected sequences with equal leading dims, but got ({listed(sequences)}).",
    )
    (body,) = regions
    _require_parameters("scan", body, [*carries, *(TensorType(xs.dtype, xs.shape[1:]) for xs in sequences)])
    length = sequences[0].shape[0]
    require(
        body.result_types[:count] == tuple(carries),
        f"scan expected the first results of its body to be ({listed(carries)}), "
        f"but got ({listed(body.result_types)}).",
    )
    stacked = (TensorType(ys.dtype, (length, *ys.shape)) for ys in body.result_types[count:])
    return (*carries, *stacked)


def _composite(operands: Types, _: Attributes, regions: Regions) -> Results:
    _require_parameters("composite", regions[0], operands)
    return regions[0].result_types


PRIMITIVES = (
    Primitive("cond", "The results of the first region if the predicate is true, else of the second; only that one "
              "runs. Regions get all operands after the predicate.",
              _cond, arity=None, data_operand=None, regions=2, several_results=True),
    Primitive("while", "Runs the second region on the carried values as long as the first, on the same values, gives "
              "true; results are the final values.",
              _while, arity=None, data_operand=None, regions=2, several_results=True),
    Primitive("scan", "Runs the region on the carries and on slice i of every sequence, for i in order. Results: final "
              "carries, then the region's further results stacked along a new leading dim.",
              _scan, arity=None, data_operand=None, regions=1, several_results=True, attributes={"carry_count": "int"}),
    Primitive("composite", "What the region computes. The name and further attributes tell backends with a kernel of "
              "their own what it is.",
              _composite, arity=None, data_operand=None, regions=1, several_results=True,
              attributes={"name": "str"}, open_attributes=True),
)  # fmt: skip
