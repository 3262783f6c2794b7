"""Random programs for hypothesis: every primitive, regions included, connected through values of equal type."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from raxis import dtypes
from raxis.ptir import PRIMITIVES, Builder, Program, TensorType, Value
from tests.ptir.cases import ELEMENTWISE_ORACLES, STRUCTURED, Case

SHAPES = [(), (3,), (2, 3), (0, 2)]
NUMBERS = st.one_of(
    st.floats(allow_nan=True, width=32),
    st.sampled_from([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45]),
)
ATTRIBUTES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        NUMBERS,
        st.text(max_size=5),
        st.complex_numbers(),
        st.sampled_from(dtypes.ALL),
    ),
    lambda items: st.lists(items, max_size=3).map(tuple),
    max_leaves=4,
)
ATTRIBUTE_NAMES = st.one_of(
    st.sampled_from(["alpha", "nan", "inf", "region", "true", "a b", "ä"]), st.text(max_size=4)
).filter(lambda name: name != "name")


def elementwise_cases() -> list[Case]:
    """One case per elementwise primitive and shape."""
    names = [*ELEMENTWISE_ORACLES, "cast", "select", "make_complex"]
    return [_elementwise(name, shape) for name in names for shape in SHAPES]


def _elementwise(name: str, shape: tuple[int, ...]) -> Case:
    attributes = {"dtype": dtypes.int16} if name == "cast" else {}
    fixed = {0: dtypes.bool_} if name == "select" else {}
    return Case(name, [shape] * (PRIMITIVES[name].arity or 0), attributes, fixed=fixed)


ALL_CASES = [*elementwise_cases(), *STRUCTURED]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A valid program."""
    builder = Builder(draw(st.text(max_size=6)))
    pool: list[Value] = [
        builder.parameter(TensorType(dtypes.float32, (2, 3)), name=draw(st.none() | st.text(max_size=4)))
    ]
    for _ in range(draw(st.integers(0, 8))):
        case = draw(st.sampled_from(ALL_CASES))
        admitted = [dtype for dtype in dtypes.ALL if dtype in PRIMITIVES[case.primitive].admitted]
        if case.attributes.get("reduce") in {"max", "min"}:
            admitted = [dtype for dtype in admitted if not dtype.is_complex]
        dtype = draw(st.sampled_from(admitted))
        operands = [_operand(draw, builder, pool, type) for type in case.types(dtype)]
        attributes = dict(case.attributes)
        if case.primitive == "composite":
            attributes |= draw(st.dictionaries(ATTRIBUTE_NAMES, ATTRIBUTES, max_size=3))
        if case.primitive == "constant":
            attributes |= {"value": tuple(draw(st.lists(NUMBERS, min_size=4, max_size=4)))}
        pool += builder.emit_all(case.primitive, operands, attributes, case.regions(dtype))
    results = draw(st.lists(st.sampled_from(pool), max_size=4))
    return builder.build(results, draw(st.dictionaries(st.text(max_size=4), ATTRIBUTES, max_size=2)))


def _operand(draw: st.DrawFn, builder: Builder, pool: list[Value], type: TensorType) -> Value:
    known = [value for value in pool if value.type == type]
    if known and draw(st.booleans()):
        return draw(st.sampled_from(known))
    if draw(st.booleans()):
        kind = {0: False, 1: 1, 2: np.float64(0.5), 3: 1j}[int(type.dtype.category)]
        return builder.constant(kind, type.dtype, type.shape)
    pool.append(builder.parameter(type, by_value=type.rank == 0 and draw(st.booleans())))
    return pool[-1]
