"""Applications of every primitive: operands, attributes and regions from which the kit's programs are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir import PRIMITIVES, Builder, Program, Region, TensorType
from raxis.ptir.primitives import FAMILIES

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Application:
    """One application of a primitive in any dtype.

    Attributes:
        primitive: its name.
        shapes: of the operands.
        attributes: its attributes.
        fixed: dtypes of operands that do not have the application's, by position.
        limits: exclusive upper bounds of integer operands, by position; these are i64.
        regions: makes the regions for a dtype.
        prepare: makes operands that satisfy the primitive's conditions out of random ones.
    """

    primitive: str
    shapes: Sequence[Shape]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[int, DType] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)
    regions: Callable[[DType], tuple[Region, ...]] = lambda _: ()
    prepare: Callable[[list[np.ndarray]], list[np.ndarray]] = list

    def types(self, dtype: DType) -> list[TensorType]:
        """The operands' types."""
        return [
            TensorType(dtypes.int64 if place in self.limits else self.fixed.get(place, dtype), shape)
            for place, shape in enumerate(self.shapes)
        ]

    def operands(self, dtype: DType, rng: np.random.Generator) -> list[np.ndarray]:
        """Small numbers that every dtype of the category represents exactly."""
        arrays = [
            np.asarray(rng.integers(0, self.limits[place], type.shape))
            if place in self.limits
            else samples(type.dtype, type.shape, rng)
            for place, type in enumerate(self.types(dtype))
        ]
        return self.prepare(arrays)

    def program(self, dtype: DType) -> Program:
        """The program of this one instruction; all of its results are returned."""
        builder = Builder(self.primitive)
        operands = [builder.parameter(type) for type in self.types(dtype)]
        made = builder.emit_all(self.primitive, operands, self.attributes, self.regions(dtype))
        return builder.build(made)

    def admits(self, dtype: DType) -> bool:
        """Whether the primitive exists for a dtype, with these attributes."""
        if PRIMITIVES[self.primitive].data_operand is None and not self.shapes:
            return dtype is self.attributes["dtype"]
        real_only = self.attributes.get("reduce") in {"max", "min"}
        return dtype in PRIMITIVES[self.primitive].admitted and not (real_only and dtype.is_complex)

    def __str__(self) -> str:
        return f"{self.primitive}{list(self.shapes)} {dict(self.attributes)}"


def samples(dtype: DType, shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Random numbers without rounding: multiples of 1/8 up to 2, small integers, booleans."""
    if dtype.category is Category.BOOL:
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if dtype.category is Category.INTEGER:
        return np.asarray(rng.integers(-4 if dtype.is_signed else 0, 5, shape)).astype(dtype.numpy)
    numbers = np.asarray(rng.integers(-16, 17, shape) / 8)
    if dtype.is_complex:
        numbers = numbers + 1j * rng.integers(-16, 17, shape) / 8
    return np.asarray(numbers).astype(dtype.numpy)


def of_primitive(name: str) -> list[Application]:
    """The applications of a primitive."""
    return _elementwise(name) if FAMILIES[name] == "elementwise" else list(_BY_PRIMITIVE[name])


def _without_zeros(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Divisors of integers must not be 0."""
    divisor = arrays[1]
    if divisor.dtype.kind in "iu":
        divisor[divisor == 0] = 3
    return arrays


_DIVISIONS = ("div", "floor_divide", "remainder", "fmod")
_ELEMENTWISE_SHAPES: tuple[Shape, ...] = ((3, 5), (), (0, 2))


def _elementwise(name: str) -> list[Application]:
    arity = PRIMITIVES[name].arity or 1
    prepare = _without_zeros if name in _DIVISIONS else list
    fixed = {0: dtypes.bool_} if name == "select" else {}
    targets: list[dict[str, Any]] = [{"dtype": dtype} for dtype in dtypes.ALL] if name == "cast" else [{}]
    shapes = _ELEMENTWISE_SHAPES[:1] if name == "cast" else _ELEMENTWISE_SHAPES
    return [
        Application(name, [shape] * arity, attributes, fixed=fixed, prepare=prepare)
        for attributes in targets
        for shape in shapes
    ]


def _vector(dtype: DType) -> TensorType:
    return TensorType(dtype, (3,))


def _doubling(dtype: DType) -> Region:
    builder = Builder()
    x = builder.parameter(_vector(dtype))
    return builder.region(builder.emit_all("add", [x, x], {}))


def _identity(dtype: DType) -> Region:
    builder = Builder()
    return builder.region([builder.parameter(_vector(dtype))])


def _branches(dtype: DType) -> tuple[Region, ...]:
    return _doubling(dtype), _identity(dtype)


def _loop(dtype: DType) -> tuple[Region, ...]:
    counter, going_on, body = TensorType(dtypes.int64, ()), Builder(), Builder()
    step, _ = going_on.parameter(counter), going_on.parameter(_vector(dtype))
    below = going_on.emit_all("lt", [step, going_on.constant(3, dtypes.int64)], {})
    step, x = body.parameter(counter), body.parameter(_vector(dtype))
    onward = body.emit_all("add", [step, body.constant(1, dtypes.int64)], {})
    return going_on.region(below), body.region([*onward, *body.emit_all("add", [x, x], {})])


def _running_sum(dtype: DType) -> tuple[Region, ...]:
    builder = Builder()
    carry, x = (builder.parameter(_vector(dtype)) for _ in range(2))
    (total,) = builder.emit_all("add", [carry, x], {})
    return (builder.region([total, *builder.emit_all("mul", [total, x], {})]),)


def _dot(lhs: Shape, rhs: Shape, **dims: Shape) -> Application:
    names = ("lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract")
    return Application("dot_general", (lhs, rhs), {name: dims.get(name, ()) for name in names})


def _convolution(
    image: Shape, weight: Shape, stride: Shape, padding: Any, dilation: Shape, groups: int
) -> Application:
    attributes = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return Application("convolution", (image, weight), attributes)


def _regular(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Square matrices far from singular."""
    size = arrays[0].shape[-1]
    arrays[0] = (arrays[0] + 6 * np.eye(size)).astype(arrays[0].dtype)
    return arrays


def _positive(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Hermitian positive definite matrices."""
    x = arrays[0]
    product = x @ np.conj(np.swapaxes(x, -1, -2)) + 4 * np.eye(x.shape[-1])
    return [product.astype(x.dtype)]


def _hermitian(arrays: list[np.ndarray]) -> list[np.ndarray]:
    x = arrays[0]
    return [(x + np.conj(np.swapaxes(x, -1, -2))).astype(x.dtype)]


def _ascending(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [np.sort(arrays[0], -1), arrays[1]]


_REDUCTIONS = ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or")
_REDUCED: tuple[tuple[Shape, Shape], ...] = (
    ((2, 3, 4), (0, 2)), ((70, 3), (0,)), ((3, 70), (1,)), ((2, 3), ()), ((2, 0), (0,)), ((0, 2), (0,)), ((), ()),
)  # fmt: skip
_COMBINATIONS = ("set", "add", "mul", "max", "min")

STRUCTURED: tuple[Application, ...] = (
    Application("constant", [], {"value": (1.5, 0.0, -0.0, -2.0), "dtype": dtypes.float32, "shape": (2, 2)}),
    Application("constant", [], {"value": 3, "dtype": dtypes.int64, "shape": (2, 3)}),
    Application("iota", [], {"shape": (2, 3), "dtype": dtypes.int64, "dim": 1}),
    Application("iota", [], {"shape": (4, 3), "dtype": dtypes.float32, "dim": 0}),
    Application("broadcast", [(2, 1)], {"shape": (4, 2, 3), "dims": (1, 2)}),
    Application("broadcast", [()], {"shape": (2, 3), "dims": ()}),
    Application("broadcast", [(1,)], {"shape": (0, 3), "dims": (1,)}),
    Application("reshape", [(2, 6)], {"shape": (3, 4)}),
    Application("reshape", [(1,)], {"shape": ()}),
    Application("reshape", [(0, 2)], {"shape": (3, 0)}),
    Application("transpose", [(2, 3, 4)], {"permutation": (2, 0, 1)}),
    Application("slice", [(5, 4)], {"start": (1, 0), "stop": (5, 3), "step": (2, 1)}),
    Application("slice", [(5,)], {"start": (5,), "stop": (5,), "step": (1,)}),
    Application("reverse", [(3, 4)], {"dims": (0, 1)}),
    Application("concatenate", [(2, 3), (2, 0), (2, 1)], {"dim": 1}),
    Application("pad", [(2, 3), ()], {"low": (1, -1), "high": (0, 2), "interior": (0, 0)}),
    Application("pad", [(3,), ()], {"low": (-1,), "high": (1,), "interior": (1,)}),
    Application("pad", [(0,), ()], {"low": (1,), "high": (1,), "interior": (3,)}),
    Application("unfold", [(7, 2)], {"dim": 0, "size": 3, "step": 2, "dilation": 1}),
    Application("unfold", [(2, 7)], {"dim": 1, "size": 3, "step": 1, "dilation": 2}),
    *(Application(name, [shape], {"dims": dims}) for name in _REDUCTIONS for shape, dims in _REDUCED),
    *(Application(name, [shape], {"dim": dim}) for name in ("argmax", "argmin")
      for shape, dim in (((3, 5), 1), ((40,), 0), ((3, 0), 0))),
    *(Application(name, [shape], {"dim": dim}) for name in ("cumsum", "cumprod", "cummax", "cummin")
      for shape, dim in (((3, 5), 1), ((7, 2), 0), ((0, 2), 0))),
    *(Application("sort", [shape], {"dim": dim, "descending": descending, "stable": True})
      for shape, dim in (((4, 30), 1), ((7, 2), 0), ((0,), 0)) for descending in (False, True)),
    _dot((2, 3), (3, 4), lhs_contract=(1,), rhs_contract=(0,)),
    _dot((5, 2, 3), (5, 3, 4), lhs_batch=(0,), rhs_batch=(0,), lhs_contract=(2,), rhs_contract=(1,)),
    _dot((2, 3, 4, 5), (5, 2, 6, 3), lhs_contract=(1, 3), rhs_contract=(3, 0)),
    _dot((4,), (4,), lhs_contract=(0,), rhs_contract=(0,)),
    _dot((2, 0), (0, 3), lhs_contract=(1,), rhs_contract=(0,)),
    _dot((17, 33), (33, 19), lhs_contract=(1,), rhs_contract=(0,)),
    _convolution((2, 3, 7), (4, 3, 3), (1,), ((1, 1),), (1,), 1),
    _convolution((2, 4, 8, 7), (6, 2, 3, 2), (2, 1), ((1, 1), (2, 0)), (1, 2), 2),
    _convolution((1, 2, 4, 4, 4), (3, 2, 2, 2, 2), (2, 2, 2), ((0, 0),) * 3, (1, 1, 1), 1),
    Application("gather", [(4, 3), (2, 3)], {"dim": 0}, limits={1: 4}),
    Application("gather", [(4, 5), (3, 7)], {"dim": 1}, limits={1: 5}),
    Application("take", [(4, 3), (2, 2)], {"dim": 0}, limits={1: 4}),
    Application("take", [(4, 3), ()], {"dim": 1}, limits={1: 3}),
    *(Application("scatter", [(4, 3), (3, 2), (3, 2)], {"dim": dim, "reduce": reduce}, limits={1: 3})
      for dim in (0, 1) for reduce in _COMBINATIONS),
    *(Application("put", [(4, 3, 2), (5,), shape], {"dim": dim, "reduce": reduce}, limits={1: limit})
      for dim, limit, shape in ((0, 4, (5, 3, 2)), (1, 3, (4, 5, 2))) for reduce in _COMBINATIONS),
    *(Application("searchsorted", [(2, 6), (2, 5)], {"right": right}, prepare=_ascending) for right in (False, True)),
    Application("random_bits", [(), ()], {"shape": (3, 5), "dtype": dtypes.int32}, limits={0: 9, 1: 9}),
    Application("random_bits", [(), ()], {"shape": (7,), "dtype": dtypes.int64}, limits={0: 9, 1: 9}),
    Application("cond", [(), (3,)], fixed={0: dtypes.bool_}, regions=_branches),
    Application("while", [(), (3,)], limits={0: 3}, regions=_loop),
    Application("scan", [(3,), (4, 3)], {"carry_count": 1}, regions=_running_sum),
    Application("composite", [(3,)], {"name": "double", "scale": 2.0}, regions=lambda dtype: (_doubling(dtype),)),
    Application("cholesky", [(2, 3, 3)], prepare=_positive),
    Application("lu", [(2, 4, 3)]),
    Application("pivots_to_permutation", [(2, 3)], {"size": 4}, prepare=lambda arrays: [arrays[0] % 4 + 1]),
    *(Application("triangular_solve", [(2, 3, 3), (2, 3, 2)], {"upper": upper, "unit": unit}, prepare=_regular)
      for upper in (False, True) for unit in (False, True)),
    *(Application("qr", [(2, 4, 3)], {"full": full}, prepare=list) for full in (False, True)),
    *(Application("svd", [(2, 4, 3)], {"full": full}, prepare=list) for full in (False, True)),
    Application("qr_triangle", [(2, 4, 3)]),
    Application("svdvals", [(2, 4, 3)]),
    Application("eigh", [(2, 3, 3)], prepare=_hermitian),
    Application("eigvalsh", [(2, 3, 3)], prepare=_hermitian),
    Application("eig", [(2, 3, 3)], prepare=_hermitian),
    *(Application("fft", [(2, 6)], {"dim": 1, "inverse": inverse}) for inverse in (False, True)),
    Application("rfft", [(2, 7)], {"dim": 1}),
    *(Application("irfft", [(2, 4)], {"dim": 1, "size": size}) for size in (6, 7)),
)  # fmt: skip

_BY_PRIMITIVE = {name: [item for item in STRUCTURED if item.primitive == name] for name in PRIMITIVES}
