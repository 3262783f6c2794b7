"""How branches, loops and composites do for many examples what they do for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from raxis.func.batching import Batcher, Lane, Rule
from raxis.ptir.builder import Builder
from raxis.ptir.program import Instruction, Region, Value


def _composite(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """As what it stands for: kernels for the whole know nothing of examples."""
    return batcher.run(instruction.regions[0], lanes)


def _cond(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """Predicates that differ between examples choose between the results of both branches."""
    predicate, *operands = lanes
    if predicate.batched:
        results = [batcher.run(region, operands) for region in instruction.regions]
        return [
            Lane(_chosen(batcher, predicate.value, batcher.repeated(yes), batcher.repeated(no)), True)
            for yes, no in zip(*results, strict=True)
        ]
    flags = [lane.batched for lane in operands]
    wanted = [True] * len(instruction.results)
    regions = [batcher.region(region, flags, wanted)[0] for region in instruction.regions]
    made = batcher.builder.emit_all("cond", [lane.value for lane in lanes], {}, regions)
    return [Lane(value, True) for value in made]


def _chosen(batcher: Batcher, predicate: Value, yes: Value, no: Value) -> Value:
    shape = yes.type.shape
    return batcher.emit("select", batcher.emit("broadcast", predicate, shape=shape, dims=(0,)), yes, no)


def _while(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """As long as the condition of one example is true; the carries of the others stay."""
    test, body = instruction.regions
    flags = _settled(batcher, body, [lane.batched for lane in lanes], len(lanes))
    (several,) = batcher.region(test, flags)[1]
    if several:
        flags = [True] * len(lanes)
        regions = [_any_example(batcher, test), _frozen_step(batcher, test, body)]
    else:
        regions = [batcher.region(test, flags)[0], batcher.region(body, flags, flags)[0]]
    operands = batcher.finished(lanes, flags)
    made = batcher.builder.emit_all("while", [lane.value for lane in operands], {}, regions)
    return [Lane(value, flag) for value, flag in zip(made, flags, strict=True)]


def _settled(batcher: Batcher, body: Region, flags: Sequence[bool], count: int) -> list[bool]:
    """Which of the first `count` parameters, the carries, differ between examples in some turn."""
    known = list(flags)
    while True:
        made = batcher.region(body, known)[1][:count]
        following = [old or new for old, new in zip(known[:count], made, strict=True)]
        if following == known[:count]:
            return known
        known[:count] = following


def _inner_region(
    batcher: Batcher, body: Region, make: Callable[[Batcher, list[Lane]], list[Value]]
) -> Region:
    """A region whose parameters all differ between examples."""
    inner = Batcher(Builder(), batcher.size, batcher.draws)
    lanes = [inner.parameter(known, True) for known in body.parameters]
    return inner.builder.region(make(inner, lanes))


def _any_example(batcher: Batcher, test: Region) -> Region:
    def make(inner: Batcher, lanes: list[Lane]) -> list[Value]:
        (going,) = inner.run(test, lanes)
        return [inner.emit("reduce_or", inner.repeated(going), dims=(0,))]

    return _inner_region(batcher, test, make)


def _frozen_step(batcher: Batcher, test: Region, body: Region) -> Region:
    def make(inner: Batcher, lanes: list[Lane]) -> list[Value]:
        (going,) = inner.run(test, lanes)
        made = inner.run(body, lanes)
        return [
            _chosen(inner, inner.repeated(going), inner.repeated(new), old.value)
            for new, old in zip(made, lanes, strict=True)
        ]

    return _inner_region(batcher, body, make)


def _scan(batcher: Batcher, instruction: Instruction, lanes: Sequence[Lane]) -> Sequence[Lane]:
    """Slices of sequences keep the examples as their first dimension, so that it comes second in sequences."""
    count = instruction.attributes["carry_count"]
    (body,) = instruction.regions
    flags = _settled(batcher, body, [lane.batched for lane in lanes], count)
    wanted = [*flags[:count], *[False] * (len(instruction.results) - count)]
    region, differs = batcher.region(body, flags, wanted)
    carries = batcher.finished(lanes[:count], flags[:count])
    operands = [lane.value for lane in carries]
    operands += [batcher.moved(lane.value, 1) if lane.batched else lane.value for lane in lanes[count:]]
    made = batcher.builder.emit_all("scan", operands, instruction.attributes, [region])
    stacked = [
        batcher.moved(value, 1) if flag else value
        for value, flag in zip(made[count:], differs[count:], strict=True)
    ]
    return [Lane(value, flag) for value, flag in zip((*made[:count], *stacked), differs, strict=True)]


RULES: Mapping[str, Rule] = {"composite": _composite, "cond": _cond, "while": _while, "scan": _scan}
