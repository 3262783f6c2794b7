"""Random programs: every primitive, and regions with random contents inside each other.

A program is made of a seed and a size, so that one line makes it again; the same seed with a smaller size gives its
first instructions, which is how hypothesis shrinks it. A test draws from `programs` and, to run them, `SEEDS`::

    @given(programs(), SEEDS)
    def test(program: Program, seed: int) -> None:
        announce(program, seed)
        results = execute(program, arguments(program, seed))
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir import PRIMITIVES, Builder, Program, Region, TensorType, Value
from raxis.ptir.packing import PACKED_FROM
from tests.ptir.cases import ELEMENTWISE_ORACLES, STRUCTURED, Case
from tests.ptir.harness import Placed, contiguous, samples

SHAPES = [(), (3,), (2, 3), (0, 2), (4, 3)]
SEEDS = st.integers(0, 2**32 - 1)
NUMBERS = st.one_of(
    st.floats(allow_nan=True, width=32),
    st.sampled_from([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45]),
)
_LONG = st.sampled_from(
    [(1.5,), (0.1,), (True, False), (7,), (2**40, -1), (1j,), (2**70,), (float("nan"), -0.0)]
).map(lambda items: items * PACKED_FROM)
ATTRIBUTES = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(),
        NUMBERS,
        st.text(max_size=5),
        st.complex_numbers(),
        st.sampled_from(dtypes.ALL),
        _LONG,
    ),
    lambda items: st.lists(items, max_size=3).map(tuple),
    max_leaves=4,
)
ATTRIBUTE_NAMES = st.one_of(
    st.sampled_from(["alpha", "nan", "inf", "region", "true", "a b", "ä"]), st.text(max_size=4)
).filter(lambda name: name != "name")
COUNTER = TensorType(dtypes.int64, ())
FLAG = TensorType(dtypes.bool_, ())
DEEPEST = 2
_SPECIAL = (0.0, -0.0, 1.0, -0.5, 3.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"))


_UNDETERMINED = frozenset(
    {"cholesky", "eig", "eigh", "eigvalsh", "lu", "qr", "qr_triangle", "svd", "svdvals"}
)
"""Nothing uses their results: signs and bases are anybody's choice, errors small beside the greatest value, and one
rounding decides which of two equal pivots is taken and where a singular matrix fails.
"""


def elementwise_cases() -> list[Case]:
    """One case per elementwise primitive and shape."""
    names = [*ELEMENTWISE_ORACLES, "cast", "select", "make_complex"]
    return [_elementwise(name, shape) for name in names for shape in SHAPES]


def _elementwise(name: str, shape: tuple[int, ...]) -> Case:
    attributes = {"dtype": dtypes.int16} if name == "cast" else {}
    fixed = {0: dtypes.bool_} if name == "select" else {}
    return Case(name, [shape] * (PRIMITIVES[name].arity or 0), attributes, fixed=fixed)


ALL_CASES = [*elementwise_cases(), *STRUCTURED]
_BY_PRIMITIVE: dict[str, list[Case]] = defaultdict(list)
for _case in ALL_CASES:
    _BY_PRIMITIVE[_case.primitive].append(_case)


def _indefinite(case: Case, dtype: DType) -> bool:
    """Whether operands decide what no definition does.

    Which pivots an LU decomposition takes hangs on the last bit; which part of a product with a complex infinity is
    NaN, on whether a library multiplies by its factor of one.
    """
    return case.primitive == "lu" or (dtype.is_complex and case.primitive in {"dot_general", "convolution"})


def admitted(case: Case) -> list[DType]:
    """The dtypes a case can have."""
    real_only = case.attributes.get("reduce") in {"max", "min"}
    known = PRIMITIVES[case.primitive].admitted
    return [dtype for dtype in dtypes.ALL if dtype in known and not (real_only and dtype.is_complex)]


def random_program(
    seed: int, size: int, name: str = "random", notes: Mapping[str, object] | None = None
) -> Program:
    """The program of a seed, of about `size` instructions; `notes` are attributes of composites and of the program."""
    random, notes = Random(seed), notes or {}
    builder = Builder(name)
    first = builder.parameter(
        TensorType(dtypes.float32, (2, 3)), name=name, stable_id=random.getrandbits(128)
    )
    growth = _Growth(random, builder, [first], 0, notes)
    growth.grow(size)
    return builder.build(growth.results(), notes)


class _Growth:
    """A function in the making: a builder, the values so far, and how deep in regions it is."""

    def __init__(
        self, random: Random, builder: Builder, pool: list[Value], depth: int, notes: Mapping[str, object]
    ) -> None:
        self.random, self.builder, self.pool, self.depth, self.notes = random, builder, pool, depth, notes
        self.used: set[Value] = set()

    def chance(self, numerator: int, denominator: int) -> bool:
        """True that often."""
        return self.random.randrange(denominator) < numerator

    def grow(self, count: int) -> None:
        """Add that many instructions and what these need."""
        controls = [self.cond, self.loop, self.scan, self.composite] if self.depth < DEEPEST else []
        for _ in range(count):
            if controls and self.chance(1, 5):
                self.random.choice(controls)()
            else:
                self.apply(*self.case())

    def results(self) -> list[Value]:
        """Mostly what no instruction uses, so that all of them count; else any values, none at times."""
        if self.chance(3, 4):
            return [value for value in self.pool if value not in self.used]
        return self.random.choices(self.pool, k=self.random.randrange(4))

    def value(self, type: TensorType) -> Value:
        """A value of that type: a known one, a constant or a new parameter."""
        known = [value for value in self.pool if value.type == type]
        if known and self.chance(4, 5):
            return self.random.choice(known[-3:])
        if self.depth or self.chance(1, 3):
            return self.constant(type)
        by_value, identified = type.rank == 0 and self.chance(1, 2), self.chance(1, 4)
        stable_id = self.random.getrandbits(128) if identified else None
        self.pool.append(self.builder.parameter(type, by_value, stable_id=stable_id))
        return self.pool[-1]

    def given(self, type: TensorType) -> Value:
        """Finite numbers without roundings."""
        if self.depth:
            numbers = [self.random.randint(-3, 3) for _ in range(type.size)]
            return self.builder.constant(numbers, type.dtype, type.shape)
        return self.builder.parameter(type)

    def constant(self, type: TensorType) -> Value:
        """Small numbers, one for all elements or one for each."""
        count = type.size if self.chance(1, 3) else 1
        numbers: list[object] = [self.random.randint(0, 3) for _ in range(count)]
        if type.dtype.category >= Category.FLOAT and self.chance(1, 3):
            numbers = [self.random.choice(_SPECIAL) for _ in range(count)]
        return self.builder.constant(numbers if count != 1 else numbers[0], type.dtype, type.shape)

    def case(self) -> tuple[Case, DType]:
        """A case of any primitive, mostly one that goes on with a known value."""
        last = self.random.choice(self.pool[-4:]).type
        cases = _BY_PRIMITIVE[self.random.choice(list(_BY_PRIMITIVE))]
        fitting = [case for case in cases if last in case.types(last.dtype) and last.dtype in admitted(case)]
        if fitting and self.chance(4, 5):
            return self.random.choice(fitting), last.dtype
        case = self.random.choice(cases)
        return case, self.random.choice(admitted(case))

    def apply(self, case: Case, dtype: DType) -> None:
        """Add the instruction of a case."""
        attributes = dict(case.attributes)
        if case.primitive == "composite":
            attributes |= self.notes
        if case.primitive == "constant":
            attributes |= {"value": tuple(self.random.choice(_SPECIAL) for _ in attributes["value"])}
        if case.primitive == "cast":
            attributes |= {"dtype": self.random.choice(dtypes.ALL)}
        choose = self.given if _indefinite(case, dtype) else self.value
        operands = [choose(type) for type in case.types(dtype)]
        if case.primitive == "searchsorted":  # undefined in what is not sorted
            ascending = {"dim": 1, "descending": False, "stable": True}
            operands[0] = self.builder.emit_all("sort", operands[:1], ascending)[0]
        if case.primitive in _UNDETERMINED:
            self.builder.emit_all(case.primitive, operands, attributes)
        else:
            self.emit(case.primitive, operands, case.regions(dtype), attributes)

    def emit(
        self,
        primitive: str,
        operands: Sequence[Value],
        regions: Sequence[Region],
        attributes: Mapping[str, object] | None = None,
    ) -> None:
        """Add any instruction."""
        self.used.update(operands)
        self.pool += self.builder.emit_all(primitive, operands, attributes or {}, regions)

    def region(
        self,
        parameters: Sequence[TensorType],
        results: Sequence[TensorType],
        leading: str | None = None,
        more: bool = False,
        by_value: bool = False,
    ) -> Region:
        """A region with random contents.

        `leading` is what it does with its first parameter, a counter; with `more`, there are results of any type
        after those of types `results`; with `by_value`, parameters without dims may stand for numbers.
        """
        builder = Builder()
        known: list[Value] = [
            builder.parameter(type, by_value and not type.rank and self.chance(1, 2)) for type in parameters
        ]
        inner = _Growth(self.random, builder, known, self.depth + 1, self.notes)
        first = [inner.counted(leading)] if leading else []
        inner.pool = inner.pool or [inner.constant(self.type())]
        inner.grow(self.random.randint(0, 3))
        free = inner.results()[-3:] if more else []
        return builder.region([*first, *map(inner.value, results[len(first) :]), *free])

    def counted(self, leading: str) -> Value:
        """The counter one further, or whether it has not yet got there."""
        limit = 1 if leading == "add" else self.random.randint(0, 3)
        return self.builder.emit_all(leading, [self.pool[0], self.builder.constant(limit, dtypes.int64)], {})[
            0
        ]

    def type(self) -> TensorType:
        """A known type or any."""
        if self.chance(2, 3) and self.pool:
            return self.random.choice(self.pool).type
        return TensorType(self.random.choice(dtypes.ALL), self.random.choice(SHAPES))

    def types(self, most: int = 2) -> list[TensorType]:
        """A few types."""
        return [self.type() for _ in range(self.random.randint(0, most))]

    def cond(self) -> None:
        """Add a branch."""
        parameters = self.types()
        operands = [self.value(FLAG), *map(self.value, parameters)]
        first = self.region(parameters, [], more=True)
        self.emit("cond", operands, [first, self.region(parameters, first.result_types)])

    def loop(self) -> None:
        """Add a loop that ends, because it counts."""
        carries = [COUNTER, *self.types()]
        regions = [self.region(carries, [FLAG], "lt"), self.region(carries, carries, "add")]
        self.emit("while", [self.value(type) for type in carries], regions)

    def scan(self) -> None:
        """Add a scan over up to three elements."""
        carries, elements = self.types(), self.types(1) or [FLAG]
        length = self.random.randint(0, 3)
        sequences = [TensorType(type.dtype, (length, *type.shape)) for type in elements]
        region = self.region([*carries, *elements], carries, more=True)
        operands = [self.value(type) for type in [*carries, *sequences]]
        self.emit("scan", operands, [region], {"carry_count": len(carries)})

    def composite(self) -> None:
        """Add a composite that no backend knows."""
        parameters = self.types()
        operands = [self.value(type) for type in parameters]
        regions = [self.region(parameters, [], more=True, by_value=True)]
        self.emit("composite", operands, regions, {**self.notes, "name": "unheard_of"})


def programs(largest: int = 8) -> st.SearchStrategy[Program]:
    """Valid programs of up to about `largest` instructions."""
    notes = st.dictionaries(ATTRIBUTE_NAMES, ATTRIBUTES, max_size=3)
    return st.builds(random_program, SEEDS, st.integers(1, largest), st.text(max_size=6), notes)


def arrays(program: Program, seed: int) -> list[np.ndarray]:
    """Small random numbers for every parameter."""
    rng = np.random.default_rng(seed)
    return [samples(parameter.type.dtype, parameter.type.shape, rng) for parameter in program.parameters]


def arguments(program: Program, seed: int, spread: int = 1) -> list[Placed | object]:
    """The same numbers as `arrays` gives, laid out `spread` elements apart, from the first to the third element on.

    Python numbers for scalars.
    """
    return [
        array.item()
        if parameter.by_value
        else Placed(array, [spread * step for step in contiguous(array.shape)], seed % 3)
        for parameter, array in zip(program.parameters, arrays(program, seed), strict=True)
    ]


def announce(program: Program, seed: int) -> None:
    """Let hypothesis print the program and the seed of its arguments if the test fails."""
    note(f"seed of the arguments {seed}\n{program}")
