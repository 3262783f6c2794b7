"""Applications of every primitive, with oracles from torch: one table for value, round-trip and random tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir import Builder, Region, TensorType
from tests.ptir.harness import samples

Oracle = Callable[..., Any]


def _div(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (
        torch.div(x, y) if x.is_floating_point() or x.is_complex() else torch.div(x, y, rounding_mode="trunc")
    )


def _nextafter(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.dtype is torch.float16:
        return torch.from_numpy(np.nextafter(x.numpy(), y.numpy()))
    return torch.nextafter(x, y)


ELEMENTWISE_ORACLES: Mapping[str, Oracle] = {
    **{
        name: getattr(torch, name)
        for name in (
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erfc", "sqrt", "rsqrt", "sin", "cos", "tan",
            "asin", "acos", "atan", "sinh", "cosh", "tanh", "sigmoid", "asinh", "acosh", "atanh", "erf", "erfinv",
            "lgamma", "digamma", "floor", "ceil", "round", "trunc", "neg", "abs", "real", "imag", "conj", "add", "sub",
            "mul", "floor_divide", "remainder", "fmod", "pow", "atan2", "maximum", "minimum", "eq", "ne", "lt", "le",
            "gt", "ge",
        )
    },
    "sign": torch.sgn,
    "not": torch.bitwise_not,
    "div": _div,
    "nextafter": _nextafter,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "shift_left": torch.bitwise_left_shift,
    "shift_right": torch.bitwise_right_shift,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One application of a primitive.

    Attributes:
        shapes: of the operands.
        oracle: torch's result on operands widened to int64, float64 or complex128; None without one.
        fixed: dtype of operands that do not have the case's dtype, by position.
        limits: exclusive upper bounds of index operands, by position.
        regions: makes the regions for a dtype.
    """

    primitive: str
    shapes: Sequence[tuple[int, ...]]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    oracle: Oracle | None = None
    fixed: Mapping[int, DType] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)
    regions: Callable[[DType], tuple[Region, ...]] = lambda dtype: ()

    def types(self, dtype: DType) -> list[TensorType]:
        return [
            TensorType(
                dtypes.int64 if position in self.limits else self.fixed.get(position, dtype), tuple(shape)
            )
            for position, shape in enumerate(self.shapes)
        ]

    def operands(self, dtype: DType, rng: np.random.Generator) -> list[np.ndarray]:
        return [
            rng.integers(0, self.limits[position], type.shape)
            if position in self.limits
            else samples(type.dtype, type.shape, rng)
            for position, type in enumerate(self.types(dtype))
        ]

    def __str__(self) -> str:
        return f"{self.primitive}-{self.shapes}-{dict(self.attributes)}".replace(" ", "")


def _reduce(function: Oracle) -> Callable[[tuple[int, ...]], Oracle]:
    def over(dims: tuple[int, ...]) -> Oracle:
        def oracle(x: torch.Tensor) -> torch.Tensor:
            for dim in reversed(dims):
                x = function(x, dim)
            return x

        return oracle

    return over


def _bitwise(function: Oracle) -> Oracle:
    def fold(x: torch.Tensor, dim: int) -> torch.Tensor:
        slices = list(x.unbind(dim))
        result = slices[0]
        for element in slices[1:]:
            result = function(result, element)
        return result

    return fold


_REDUCTIONS: Mapping[str, Oracle] = {
    "reduce_sum": lambda x, dim: x.sum(dim),
    "reduce_prod": lambda x, dim: x.prod(dim),
    "reduce_max": lambda x, dim: x.amax(dim),
    "reduce_min": lambda x, dim: x.amin(dim),
    "reduce_and": _bitwise(torch.bitwise_and),
    "reduce_or": _bitwise(torch.bitwise_or),
}
_POSITIONS: Mapping[str, Oracle] = {
    "argmax": lambda x, dim: torch.argmax(x.to(torch.uint8) if x.dtype is torch.bool else x, dim),
    "argmin": lambda x, dim: torch.argmin(x.to(torch.uint8) if x.dtype is torch.bool else x, dim),
}
_SCANS: Mapping[str, Oracle] = {
    "cumsum": torch.cumsum,
    "cumprod": torch.cumprod,
    "cummax": lambda x, dim: torch.cummax(x, dim).values,
    "cummin": lambda x, dim: torch.cummin(x, dim).values,
}


def _convolve(**options: Any) -> Oracle:
    def oracle(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        functions = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
        if x.is_floating_point() or x.is_complex():
            return functions[x.dim() - 2](x, weight, **options)
        return functions[x.dim() - 2](x.double(), weight.double(), **options).round().long()

    return oracle


def _pad(low: Sequence[int], high: Sequence[int]) -> Oracle:
    pairs = [amount for pair in reversed(list(zip(low, high, strict=True))) for amount in pair]

    def oracle(x: torch.Tensor, fill: torch.Tensor) -> torch.Tensor:
        inside = F.pad(torch.ones(x.shape), pairs) > 0
        return torch.where(inside, F.pad(x, pairs), fill)

    return oracle


def _scatter(dim: int, reduce: str) -> Oracle:
    names = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
    if reduce == "set":
        return lambda x, index, updates: x.scatter(dim, index, updates)
    return lambda x, index, updates: x.scatter_reduce(dim, index, updates, names[reduce])


def _put_index(x: torch.Tensor, dim: int, index: torch.Tensor, updates: torch.Tensor) -> torch.Tensor:
    shape = [1] * x.dim()
    shape[dim] = -1
    return index.reshape(shape).expand(updates.shape)


def _put(dim: int, reduce: str) -> Oracle:
    scatter = _scatter(dim, reduce)
    return lambda x, index, updates: scatter(x, _put_index(x, dim, index, updates), updates)


def _triangular_solution(upper: bool, unit: bool) -> Oracle:
    return lambda a, b: torch.linalg.solve_triangular(a, b, upper=upper, unitriangular=unit)


def _triangular_case(upper: bool, unit: bool) -> Case:
    return Case("triangular_solve", [(2, 4, 4), (2, 4, 3)], {"upper": upper, "unit": unit},
                _triangular_solution(upper, unit))  # fmt: skip


def _dot_case(subscripts: str, lhs: tuple[int, ...], rhs: tuple[int, ...], **dims: tuple[int, ...]) -> Case:
    names = ("lhs_batch", "rhs_batch", "lhs_contract", "rhs_contract")
    attributes = {name: dims.get(name, ()) for name in names}
    return Case("dot_general", (lhs, rhs), attributes, lambda x, y: torch.einsum(subscripts, x, y))


def _convolution_case(
    image: tuple[int, ...], weight: tuple[int, ...], stride: Any, padding: Any, dilation: Any, groups: int
) -> Case:
    pairs = tuple((amount, amount) for amount in padding)
    attributes = {"stride": stride, "padding": pairs, "dilation": dilation, "groups": groups}
    oracle = _convolve(stride=stride, padding=padding, dilation=dilation, groups=groups)
    return Case("convolution", (image, weight), attributes, oracle)


def _doubling(dtype: DType) -> Region:
    builder = Builder()
    x = builder.parameter(TensorType(dtype, (3,)))
    return builder.region([builder.emit("or" if dtype.category == Category.BOOL else "add", x, x)])


def _identity(dtype: DType) -> Region:
    builder = Builder()
    return builder.region([builder.parameter(TensorType(dtype, (3,)))])


def _counting_loop(dtype: DType) -> tuple[Region, Region]:
    condition = Builder()
    step, _ = (condition.parameter(type) for type in (TensorType(dtypes.int64, ()), TensorType(dtype, (3,))))
    going_on = condition.region([condition.emit("lt", step, condition.constant(3, dtypes.int64))])
    body = Builder()
    step, x = (body.parameter(type) for type in (TensorType(dtypes.int64, ()), TensorType(dtype, (3,))))
    results = [body.emit("add", step, body.constant(1, dtypes.int64)), body.emit("add", x, x)]
    return going_on, body.region(results)


def _loop_oracle(step: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(3), x if x.dtype is torch.bool else x * 2 ** (3 - int(step))


def _running_sum(dtype: DType) -> tuple[Region]:
    builder = Builder()
    carry, x = (builder.parameter(TensorType(dtype, (3,))) for _ in range(2))
    total = builder.emit("add", carry, x)
    return (builder.region([total, builder.emit("mul", total, x)]),)


def _running_sum_oracle(carry: torch.Tensor, xs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    products = []
    for x in xs:
        carry = carry | x if x.dtype is torch.bool else carry + x
        products.append(carry * x)
    return carry, torch.stack(products)


def _twice(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype is torch.bool else x + x


STRUCTURED: tuple[Case, ...] = (
    Case("broadcast", [(2, 1)], {"shape": (4, 2, 3), "dims": (1, 2)}, lambda x: x.expand(4, 2, 3)),
    Case("broadcast", [()], {"shape": (2, 3), "dims": ()}, lambda x: x.expand(2, 3)),
    Case("broadcast", [(1,)], {"shape": (0, 3), "dims": (1,)}, lambda x: x.expand(0, 3)),
    Case("reshape", [(2, 6)], {"shape": (3, 4)}, lambda x: x.reshape(3, 4)),
    Case("reshape", [(1,)], {"shape": ()}, lambda x: x.reshape(())),
    Case("reshape", [(0, 2)], {"shape": (3, 0)}, lambda x: x.reshape(3, 0)),
    Case("transpose", [(2, 3, 4)], {"permutation": (2, 0, 1)}, lambda x: x.permute(2, 0, 1)),
    Case("transpose", [()], {"permutation": ()}, lambda x: x),
    Case("slice", [(5, 4)], {"start": (1, 0), "stop": (5, 3), "step": (2, 1)}, lambda x: x[1:5:2, 0:3]),
    Case("slice", [(5,)], {"start": (5,), "stop": (5,), "step": (1,)}, lambda x: x[5:]),
    Case("reverse", [(3, 4)], {"dims": (0, 1)}, lambda x: x.flip(0, 1)),
    Case("reverse", [(3, 0)], {"dims": (0,)}, lambda x: x.flip(0)),
    Case("concatenate", [(2, 3), (2, 0), (2, 1)], {"dim": 1}, lambda *xs: torch.cat(xs, 1)),
    Case("pad", [(2, 3), ()], {"low": (1, -1), "high": (0, 2), "interior": (0, 0)}, _pad((1, -1), (0, 2))),
    Case("pad", [(0,), ()], {"low": (1,), "high": (1,), "interior": (3,)}, lambda x, fill: fill.expand(2)),
    Case("pad", [(3,), ()], {"low": (-1,), "high": (1,), "interior": (1,)},
         lambda x, fill: torch.stack([fill, x[1], fill, x[2], fill])),
    Case("pad", [(3,), ()], {"low": (-9,), "high": (8,), "interior": (1,)}, lambda x, fill: fill.expand(4)),
    Case("pad", [(), ()], {"low": (), "high": (), "interior": ()}, lambda x, fill: x),
    Case("unfold", [(7, 2)], {"dim": 0, "size": 3, "step": 2, "dilation": 1}, lambda x: x.unfold(0, 3, 2)),
    Case("unfold", [(2, 7)], {"dim": 1, "size": 3, "step": 1, "dilation": 2}, lambda x: x.unfold(1, 5, 1)[..., ::2]),
    *(
        Case(name, [shape], {"dims": dims}, _reduce(fold)(dims))
        for name, fold in _REDUCTIONS.items()
        for shape, dims in (((2, 3, 4), (0, 2)), ((5,), (0,)), ((2, 3), ()), ((2, 0), (0,)))
    ),
    *(
        Case(name, [shape], {"dim": dim}, lambda x, f=function, d=dim: f(x, d))
        for name, function in _POSITIONS.items()
        for shape, dim in (((3, 5), 1), ((4,), 0), ((3, 0), 0))
    ),
    *(
        Case(name, [shape], {"dim": dim}, lambda x, f=function, d=dim: f(x, d))
        for name, function in _SCANS.items()
        for shape, dim in (((3, 5), 1), ((4, 2), 0), ((0, 2), 0))
    ),
    *(
        Case("sort", [shape], {"dim": dim, "descending": descending, "stable": True},
             lambda x, d=dim, down=descending: tuple(torch.sort(x, dim=d, descending=down, stable=True)))
        for shape, dim in (((4, 30), 1), ((7, 2), 0), ((0,), 0)) for descending in (False, True)
    ),
    _dot_case("ij,jk->ik", (2, 3), (3, 4), lhs_contract=(1,), rhs_contract=(0,)),
    _dot_case("ij,kj->ik", (2, 3), (4, 3), lhs_contract=(1,), rhs_contract=(1,)),
    _dot_case("bij,bjk->bik", (5, 2, 3), (5, 3, 4), lhs_batch=(0,), rhs_batch=(0,),
              lhs_contract=(2,), rhs_contract=(1,)),
    _dot_case("abij,abkj->abik", (2, 3, 4, 5), (2, 3, 6, 5), lhs_batch=(0, 1), rhs_batch=(0, 1),
              lhs_contract=(3,), rhs_contract=(3,)),
    _dot_case("iajb,bkca->ijkc", (2, 3, 4, 5), (5, 2, 6, 3), lhs_contract=(1, 3), rhs_contract=(3, 0)),
    _dot_case("ibj,jb->bi", (2, 3, 4), (4, 3), lhs_batch=(1,), rhs_batch=(1,), lhs_contract=(2,), rhs_contract=(0,)),
    _dot_case("i,i->", (4,), (4,), lhs_contract=(0,), rhs_contract=(0,)),
    _dot_case("i,j->ij", (4,), (3,)),
    _dot_case("ij,jk->ik", (2, 0), (0, 3), lhs_contract=(1,), rhs_contract=(0,)),
    _dot_case("ij,jk->ik", (0, 2), (2, 3), lhs_contract=(1,), rhs_contract=(0,)),
    _convolution_case((2, 3, 7), (4, 3, 3), (1,), (1,), (1,), 1),
    _convolution_case((2, 4, 8, 7), (6, 2, 3, 2), (2, 1), (1, 2), (1, 2), 2),
    _convolution_case((1, 3, 5, 5), (3, 1, 3, 3), (1, 1), (1, 1), (1, 1), 3),
    _convolution_case((2, 2, 4, 4, 4), (3, 2, 2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1), 1),
    _convolution_case((0, 2, 4, 4), (3, 2, 2, 2), (1, 1), (0, 0), (1, 1), 1),
    Case("gather", [(4, 3), (2, 3)], {"dim": 0}, lambda x, i: torch.gather(x, 0, i), limits={1: 4}),
    Case("gather", [(4, 5), (3, 7)], {"dim": 1}, lambda x, i: torch.gather(x, 1, i), limits={1: 5}),
    Case("take", [(4, 3), (2, 2)], {"dim": 0}, lambda x, i: x[i], limits={1: 4}),
    Case("take", [(4, 3), ()], {"dim": 1}, lambda x, i: x[:, i], limits={1: 3}),
    Case("take", [(4, 3), (0,)], {"dim": 1}, lambda x, i: x[:, i], limits={1: 3}),
    *(
        Case("scatter", [(4, 3), (3, 2), (3, 2)], {"dim": dim, "reduce": reduce}, _scatter(dim, reduce), limits={1: 3})
        for dim in (0, 1) for reduce in ("set", "add", "mul", "max", "min")
    ),
    *(
        Case("put", [(4, 3, 2), (5,), shape], {"dim": dim, "reduce": reduce}, _put(dim, reduce), limits={1: limit})
        for dim, limit, shape in ((0, 4, (5, 3, 2)), (1, 3, (4, 5, 2)))
        for reduce in ("set", "add", "mul", "max", "min")
    ),
    *(
        Case("searchsorted", [(2, 6), (2, 5)], {"right": right},
             lambda s, v, right=right: torch.searchsorted(s.contiguous(), v.contiguous(), right=right))
        for right in (False, True)
    ),
    Case("cholesky", [(4, 4)]),
    Case("lu", [(2, 3)]),
    Case("pivots_to_permutation", [(2, 3)], {"size": 4}),
    *(_triangular_case(upper, unit) for upper in (False, True) for unit in (False, True)),
    *(Case(name, [shape], {"full": full})
      for name in ("qr", "svd") for shape in ((2, 3), (2, 4, 3)) for full in (False, True)),
    Case("qr_triangle", [(2, 4, 3)]),
    Case("svdvals", [(2, 4, 3)], {}, torch.linalg.svdvals),
    Case("eigh", [(3, 3)]),
    Case("eigvalsh", [(3, 3)], {}, torch.linalg.eigvalsh),
    Case("eig", [(3, 3)]),
    *(Case("fft", [(4, 3)], {"dim": dim, "inverse": inverse},
           lambda x, dim=dim, inverse=inverse: torch.fft.ifft(x, dim=dim, norm="forward")
           if inverse else torch.fft.fft(x, dim=dim))
      for dim in (0, 1) for inverse in (False, True)),
    *(Case("rfft", [(4, 3)], {"dim": dim}, lambda x, dim=dim: torch.fft.rfft(x, dim=dim)) for dim in (0, 1)),
    *(Case("irfft", [(4, 3)], {"dim": dim, "size": size},
           lambda x, dim=dim, size=size: torch.fft.irfft(x, size, dim, norm="forward"))
      for dim, size in ((0, 6), (0, 7), (1, 4))),
    Case("random_bits", [(), ()], {"shape": (3, 5), "dtype": dtypes.int32}, None, limits={0: 9, 1: 9}),
    Case("cond", [(), (3,)], {}, lambda p, x: _twice(x) if p else x, fixed={0: dtypes.bool_},
         regions=lambda dtype: (_doubling(dtype), _identity(dtype))),
    Case("while", [(), (3,)], {}, _loop_oracle, limits={0: 3}, regions=_counting_loop),
    Case("scan", [(3,), (4, 3)], {"carry_count": 1}, _running_sum_oracle, regions=_running_sum),
    Case("composite", [(3,)], {"name": "double", "scale": 2.0, "mode": "exact"}, _twice,
         regions=lambda dtype: (_doubling(dtype),)),
    Case("constant", [], {"value": (1, 0, 1, 1), "dtype": dtypes.float32, "shape": (2, 2)},
         lambda: torch.tensor([[1.0, 0.0], [1.0, 1.0]]).double()),
    Case("iota", [], {"shape": (2, 3), "dtype": dtypes.int64, "dim": 1}, lambda: torch.arange(3).expand(2, 3)),
)  # fmt: skip
