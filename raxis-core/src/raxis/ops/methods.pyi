"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

class _dropout_result(NamedTuple):
    mask: Tensor
    output: Tensor

class _aminmax_result(NamedTuple):
    min: Tensor
    max: Tensor

class _cummax_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _cummin_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _frexp_result(NamedTuple):
    mantissa: Tensor
    exponent: Tensor

class _geqrf_result(NamedTuple):
    a: Tensor
    tau: Tensor

class _histogram_result(NamedTuple):
    hist: Tensor
    bin_edges: Tensor

class _kthvalue_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _mode_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _qr_result(NamedTuple):
    Q: Tensor
    R: Tensor

class _slogdet_result(NamedTuple):
    sign: Tensor
    logabsdet: Tensor

class _sort_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _svd_result(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor

class _topk_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _triangular_solve_result(NamedTuple):
    solution: Tensor
    cloned_coefficient: Tensor

class TensorMethods:
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""

    @property
    def T(self) -> Tensor:
        """The tensor with its dimensions in reverse order; meant for matrices."""

    def __getitem__(self, index: Any) -> Tensor:
        """``input[index]``: a view for ints, slices, None and Ellipsis, else a copy."""

    def __setitem__(self, index: Any, value: Tensor | builtins.complex) -> Tensor:
        """``input[index] = value`` with `value` broadcast to what ``input[index]`` is."""

    def _assign(self, src: Tensor) -> Tensor:
        """`src` cast and broadcast to `input`; in place: written over it."""

    def _assign_(self, src: Tensor) -> Tensor:
        """`src` cast and broadcast to `input`; in place: written over it."""

    def _bernoulli(self, p: Tensor | builtins.complex, generator: Generator | None = ...) -> Tensor:
        """1 with probability `p`, else 0."""

    def _bernoulli_(self, p: Tensor | builtins.complex, generator: Generator | None = ...) -> Tensor:
        """1 with probability `p`, else 0."""

    def _binomial(self, prob: Tensor, generator: Generator | None = ...) -> Tensor:
        """Counts of successes; NaN where there is no such distribution."""

    def _cauchy(self, median: builtins.complex, sigma: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """``median + sigma * tan(pi * (u - 1/2))``."""

    def _cauchy_(self, median: builtins.complex, sigma: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """``median + sigma * tan(pi * (u - 1/2))``."""

    def _clone(self) -> Tensor:
        """A copy that keeps the order of dimensions in memory."""

    def _compact(self) -> Tensor:
        """A row-major copy."""

    def _dropout(self, p: builtins.float, generator: Generator | None = ...) -> _dropout_result:
        """The mask of kept elements, True with probability ``1 - p``, and the scaled input under it."""

    def _elu(self, alpha: builtins.float, scale: builtins.float, input_scale: builtins.float) -> Tensor:
        """``scale * input`` where positive, else ``scale * alpha * expm1(input_scale * input)``."""

    def _elu_(self, alpha: builtins.float, scale: builtins.float, input_scale: builtins.float) -> Tensor:
        """``scale * input`` where positive, else ``scale * alpha * expm1(input_scale * input)``."""

    def _exponential(self, rate: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """``-log(1 - u) / rate``."""

    def _exponential_(self, rate: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """``-log(1 - u) / rate``."""

    def _fill(self, value: Tensor | builtins.complex) -> Tensor:
        """`value` everywhere."""

    def _fill_(self, value: Tensor | builtins.complex) -> Tensor:
        """`value` everywhere."""

    def _gelu(self, approximate: builtins.str) -> Tensor:
        """`input` times the normal distribution function of it (Hendrycks & Gimpel, 2016)."""

    def _gelu_(self, approximate: builtins.str) -> Tensor:
        """`input` times the normal distribution function of it (Hendrycks & Gimpel, 2016)."""

    def _geometric(self, p: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """``ceil(log(1 - u) / log(1 - p))``: the number of trials until the first success."""

    def _geometric_(self, p: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """``ceil(log(1 - u) / log(1 - p))``: the number of trials until the first success."""

    def _hardshrink(self, lambd: builtins.float) -> Tensor:
        """`input` where ``|input| > lambd``, else 0."""

    def _hardshrink_(self, lambd: builtins.float) -> Tensor:
        """`input` where ``|input| > lambd``, else 0."""

    def _hardsigmoid(self) -> Tensor:
        """``clamp(input + 3, 0, 6) / 6``."""

    def _hardsigmoid_(self) -> Tensor:
        """``clamp(input + 3, 0, 6) / 6``."""

    def _hardswish(self) -> Tensor:
        """``input * hardsigmoid(input)``."""

    def _hardswish_(self) -> Tensor:
        """``input * hardsigmoid(input)``."""

    def _hardtanh(self, min_val: Any, max_val: Any) -> Tensor:
        """`input` clamped to ``[min_val, max_val]``."""

    def _hardtanh_(self, min_val: Any, max_val: Any) -> Tensor:
        """`input` clamped to ``[min_val, max_val]``."""

    def _index_fill(self, dim: builtins.int, index: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`index_fill` of a number of the input's own category, or a 0-d tensor."""

    def _index_fill_(self, dim: builtins.int, index: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`index_fill` of a number of the input's own category, or a 0-d tensor."""

    def _interval_of(self, points: Tensor) -> Tensor:
        """For each point, the first index whose running sum is above it."""

    def _is_view(self) -> builtins.bool:
        """Whether the tensor was made by a view op."""

    def _leaky_relu(self, negative_slope: builtins.float) -> Tensor:
        """`input` where positive, else ``negative_slope * input``."""

    def _leaky_relu_(self, negative_slope: builtins.float) -> Tensor:
        """`input` where positive, else ``negative_slope * input``."""

    def _log_gamma_slope(self, logarithm: Tensor) -> Tensor:
        """The derivative of a variable's logarithm with respect to its concentration, its quantile held."""

    def _log_standard_gamma(self, generator: Generator | None = ...) -> Tensor:
        """Logarithms of gamma variables of rate 1, which do not underflow where those would."""

    def _logsigmoid(self) -> Tensor:
        """``log(sigmoid(input))`` without overflow."""

    def _logsigmoid_(self) -> Tensor:
        """``log(sigmoid(input))`` without overflow."""

    def _masked_fill(self, mask: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`masked_fill` of a number of the input's own category, or a 0-d tensor."""

    def _masked_fill_(self, mask: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`masked_fill` of a number of the input's own category, or a 0-d tensor."""

    def _masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """`masked_scatter` with as many source elements as needed."""

    def _masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """`masked_scatter` with as many source elements as needed."""

    def _mish(self) -> Tensor:
        """``input * tanh(softplus(input))`` (Misra, 2019)."""

    def _mish_(self) -> Tensor:
        """``input * tanh(softplus(input))`` (Misra, 2019)."""

    def _normal(self, mean: builtins.complex, std: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """Normal numbers."""

    def _normal_(self, mean: builtins.complex, std: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """Normal numbers."""

    def _poisson(self, generator: Generator | None = ...) -> Tensor:
        """Counts of events; NaN where the rate is no finite number."""

    def _random(self, low: builtins.complex, count: builtins.complex, bits: builtins.int, generator: Generator | None = ...) -> Tensor:
        """Integers uniform on ``[low, low + count)``; the numbers are those of `range_of_integers`."""

    def _random_(self, low: builtins.complex, count: builtins.complex, bits: builtins.int, generator: Generator | None = ...) -> Tensor:
        """Integers uniform on ``[low, low + count)``; the numbers are those of `range_of_integers`."""

    def _scatter(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """`scatter` of a tensor."""

    def _scatter_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """`scatter` of a tensor."""

    def _silu(self) -> Tensor:
        """``input * sigmoid(input)``."""

    def _silu_(self) -> Tensor:
        """``input * sigmoid(input)``."""

    def _softplus(self, beta: builtins.float, threshold: builtins.float) -> Tensor:
        """``log1p(exp(beta * input)) / beta``, and `input` itself where ``beta * input > threshold``."""

    def _softplus_(self, beta: builtins.float, threshold: builtins.float) -> Tensor:
        """``log1p(exp(beta * input)) / beta``, and `input` itself where ``beta * input > threshold``."""

    def _softshrink(self, lambd: builtins.float) -> Tensor:
        """`input` moved towards 0 by `lambd`."""

    def _softshrink_(self, lambd: builtins.float) -> Tensor:
        """`input` moved towards 0 by `lambd`."""

    def _standard_gamma(self, generator: Generator | None = ...) -> Tensor:
        """Gamma variables of rate 1, none below the least normal number."""

    def _standard_von_mises(self, generator: Generator | None = ...) -> Tensor:
        """Angles around 0 with `input`'s concentrations."""

    def _threshold(self, threshold: Any, value: Any) -> Tensor:
        """`input` where above `threshold`, else `value`."""

    def _threshold_(self, threshold: Any, value: Any) -> Tensor:
        """`input` where above `threshold`, else `value`."""

    def _to_copy(self, dtype: DType) -> Tensor:
        """`input` in another dtype, in new memory."""

    def _uniform(self, low: builtins.complex, width: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """Uniform numbers of ``[low, low + width)``; both components of complex ones."""

    def _uniform_(self, low: builtins.complex, width: builtins.complex, generator: Generator | None = ...) -> Tensor:
        """Uniform numbers of ``[low, low + width)``; both components of complex ones."""

    def _write_indexed(self, indices: Sequence[Tensor], values: Tensor | builtins.complex, dims: builtins.int | Sequence[builtins.int], accumulate: builtins.bool) -> Tensor:
        """`input` with `values` written, or added, at `indices` of the dimensions `dims`."""

    def _write_indexed_(self, indices: Sequence[Tensor], values: Tensor | builtins.complex, dims: builtins.int | Sequence[builtins.int], accumulate: builtins.bool) -> Tensor:
        """`input` with `values` written, or added, at `indices` of the dimensions `dims`."""

    def abs(self, *, out: Any = ...) -> Tensor:
        """The magnitude of each element; real for complex ones."""

    def abs_(self) -> Tensor:
        """The magnitude of each element; real for complex ones."""

    def absolute(self, *, out: Any = ...) -> Tensor:
        """The magnitude of each element; real for complex ones."""

    def absolute_(self) -> Tensor:
        """The magnitude of each element; real for complex ones."""

    def __abs__(self) -> Tensor: ...

    def acos(self, *, out: Any = ...) -> Tensor:
        """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

    def acos_(self) -> Tensor:
        """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

    def arccos(self, *, out: Any = ...) -> Tensor:
        """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

    def arccos_(self) -> Tensor:
        """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

    def acosh(self, *, out: Any = ...) -> Tensor:
        """The inverse hyperbolic cosine; NaN below 1."""

    def acosh_(self) -> Tensor:
        """The inverse hyperbolic cosine; NaN below 1."""

    def arccosh(self, *, out: Any = ...) -> Tensor:
        """The inverse hyperbolic cosine; NaN below 1."""

    def arccosh_(self) -> Tensor:
        """The inverse hyperbolic cosine; NaN below 1."""

    def add(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``input + alpha * other``, element by element."""

    def add_(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = ...) -> Tensor:
        """``input + alpha * other``, element by element."""

    def __add__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __radd__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __iadd__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2).sum(0)``; with `beta` 0, NaN in `input` has no effect."""

    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2).sum(0)``; with `beta` 0, NaN in `input` has no effect."""

    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``input + value * tensor1 / tensor2``."""

    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ...) -> Tensor:
        """``input + value * tensor1 / tensor2``."""

    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``input + value * tensor1 * tensor2``."""

    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ...) -> Tensor:
        """``input + value * tensor1 * tensor2``."""

    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``; with `beta` 0, NaN in `input` has no effect."""

    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``; with `beta` 0, NaN in `input` has no effect."""

    def addmv(self, mat: Tensor, vec: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``; with `beta` 0, NaN in `input` has no effect."""

    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``; with `beta` 0, NaN in `input` has no effect."""

    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``; with `beta` 0, NaN in `input` has no effect."""

    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``; with `beta` 0, NaN in `input` has no effect."""

    def adjoint(self) -> Tensor:
        """The last two dimensions exchanged, conjugated."""

    def all(self, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """Whether all elements, over `dim` or at all, are nonzero; bool (uint8 for uint8)."""

    def allclose(self, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ...) -> builtins.bool:
        """Whether all elements are close; see `isclose`."""

    def amax(self, dim: builtins.int | Sequence[builtins.int] = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """The greatest element over `dim`, or of all; NaN if any is NaN."""

    def amin(self, dim: builtins.int | Sequence[builtins.int] = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """The smallest element over `dim`, or of all; NaN if any is NaN."""

    def aminmax(self, *, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., out: Any = ...) -> _aminmax_result:
        """The smallest and the greatest element along `dim`, or of all: `amin` and `amax` as a named tuple."""

    def angle(self, *, out: Any = ...) -> Tensor:
        """The angle of complex numbers in radians; pi for negative reals."""

    def any(self, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """Whether any element, over `dim` or at all, is nonzero; bool (uint8 for uint8)."""

    def argmax(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """The int64 index of the first greatest element along `dim`, or in row-major order; of the first NaN if any."""

    def argmin(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """The int64 index of the first smallest element along `dim`, or in row-major order; of the first NaN if any."""

    def argsort(self, dim: builtins.int = ..., descending: builtins.bool = ..., *, stable: builtins.bool = ..., out: Any = ...) -> Tensor:
        """The int64 indices that order the elements along `dim`, as `sort` gives them."""

    def argwhere(self) -> Tensor:
        """``nonzero(input)``."""

    def as_strided(self, size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], storage_offset: builtins.int | None = ...) -> Tensor:
        """A view with the given sizes and strides, at `storage_offset` elements from the start of the storage."""

    def as_strided_(self, size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], storage_offset: builtins.int | None = ...) -> Tensor:
        """`as_strided` in place."""

    def as_strided_scatter(self, src: Tensor, size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], storage_offset: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
        """A copy of `input` with the view of these sizes and strides replaced by `src`."""

    def asin(self, *, out: Any = ...) -> Tensor:
        """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

    def asin_(self) -> Tensor:
        """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

    def arcsin(self, *, out: Any = ...) -> Tensor:
        """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

    def arcsin_(self) -> Tensor:
        """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

    def asinh(self, *, out: Any = ...) -> Tensor:
        """The inverse hyperbolic sine."""

    def asinh_(self) -> Tensor:
        """The inverse hyperbolic sine."""

    def arcsinh(self, *, out: Any = ...) -> Tensor:
        """The inverse hyperbolic sine."""

    def arcsinh_(self) -> Tensor:
        """The inverse hyperbolic sine."""

    def atan(self, *, out: Any = ...) -> Tensor:
        """The inverse tangent, in radians."""

    def atan_(self) -> Tensor:
        """The inverse tangent, in radians."""

    def arctan(self, *, out: Any = ...) -> Tensor:
        """The inverse tangent, in radians."""

    def arctan_(self) -> Tensor:
        """The inverse tangent, in radians."""

    def atan2(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The angle of the point (x, y) = (`other`, `input`), in radians."""

    def atan2_(self, other: Tensor) -> Tensor:
        """The angle of the point (x, y) = (`other`, `input`), in radians."""

    def arctan2(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The angle of the point (x, y) = (`other`, `input`), in radians."""

    def arctan2_(self, other: Tensor) -> Tensor:
        """The angle of the point (x, y) = (`other`, `input`), in radians."""

    def atanh(self, *, out: Any = ...) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

    def atanh_(self) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

    def arctanh(self, *, out: Any = ...) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

    def arctanh_(self) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2)``; with `beta` 0, NaN in `input` has no effect."""

    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
        """``beta * input + alpha * bmm(batch1, batch2)``; with `beta` 0, NaN in `input` has no effect."""

    def bernoulli(self, p: builtins.float | None = ..., *, generator: Generator | None = ..., out: Tensor | None = ...) -> Tensor:
        """1 or 0 for each element, 1 with the probability that the element (or the number `p`) says."""

    def bernoulli_(self, p: Tensor | builtins.complex = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with 1 with probability `p`, else 0."""

    def bfloat16(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in bfloat16; itself if it has that dtype."""

    def bincount(self, weights: Tensor | None = ..., minlength: builtins.int = ...) -> Tensor:
        """How often each of 0, 1, 2, ... occurs in `input`, or the sum of the weights where it does."""

    def bitwise_and(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Bitwise and; logical for bools."""

    def bitwise_and_(self, other: Tensor | builtins.complex) -> Tensor:
        """Bitwise and; logical for bools."""

    def __and__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rand__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __iand__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def bitwise_left_shift(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """``input << other``; 0 for shifts outside the number of bits."""

    def bitwise_left_shift_(self, other: Tensor | builtins.complex) -> Tensor:
        """``input << other``; 0 for shifts outside the number of bits."""

    def __lshift__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rlshift__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __ilshift__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def bitwise_not(self, *, out: Any = ...) -> Tensor:
        """The complement of all bits; logical for bools."""

    def bitwise_not_(self) -> Tensor:
        """The complement of all bits; logical for bools."""

    def __invert__(self) -> Tensor: ...

    def bitwise_or(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Bitwise or; logical for bools."""

    def bitwise_or_(self, other: Tensor | builtins.complex) -> Tensor:
        """Bitwise or; logical for bools."""

    def __or__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __ror__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __ior__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def bitwise_right_shift(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """``input >> other``, keeping the sign."""

    def bitwise_right_shift_(self, other: Tensor | builtins.complex) -> Tensor:
        """``input >> other``, keeping the sign."""

    def __rshift__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rrshift__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __irshift__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def bitwise_xor(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Bitwise exclusive or; logical for bools."""

    def bitwise_xor_(self, other: Tensor | builtins.complex) -> Tensor:
        """Bitwise exclusive or; logical for bools."""

    def __xor__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rxor__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __ixor__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def bmm(self, mat2: Tensor, *, out: Any = ...) -> Tensor:
        """The matrix products of two batches of matrices."""

    def bool(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in bool; itself if it has that dtype."""

    def broadcast_to(self, size: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`input` expanded to `size`."""

    def byte(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in uint8; itself if it has that dtype."""

    def cauchy_(self, median: builtins.float = ..., sigma: builtins.float = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with numbers of the Cauchy distribution."""

    def cdouble(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in complex128; itself if it has that dtype."""

    def ceil(self, *, out: Any = ...) -> Tensor:
        """The smallest integer not below each element."""

    def ceil_(self) -> Tensor:
        """The smallest integer not below each element."""

    def cfloat(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in complex64; itself if it has that dtype."""

    def char(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in int8; itself if it has that dtype."""

    def cholesky(self, upper: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """As `raxis.linalg.cholesky`, its successor."""

    def cholesky_inverse(self, upper: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """The inverse of the matrix whose Cholesky factor is `L`."""

    def cholesky_solve(self, L: Tensor, upper: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """The solution of ``A X = input`` for the matrix A whose Cholesky factor is `L`."""

    def chunk(self, chunks: builtins.int, dim: builtins.int = ...) -> Tensor:
        """At most `chunks` views of consecutive parts of equal size (the last may be smaller) of one dimension."""

    def clamp(self, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ..., *, out: Any = ...) -> Tensor:
        """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

    def clamp_(self, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ...) -> Tensor:
        """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

    def clip(self, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ..., *, out: Any = ...) -> Tensor:
        """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

    def clip_(self, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ...) -> Tensor:
        """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

    def clamp_max(self, max: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Each element, but at most `max`; see `clamp`."""

    def clamp_max_(self, max: Tensor | builtins.complex) -> Tensor:
        """Each element, but at most `max`; see `clamp`."""

    def clamp_min(self, min: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Each element, but at least `min`; see `clamp`."""

    def clamp_min_(self, min: Tensor | builtins.complex) -> Tensor:
        """Each element, but at least `min`; see `clamp`."""

    def clone(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """A copy of `input` in new memory; gradients flow through it."""

    def combinations(self, r: builtins.int = ..., with_replacement: builtins.bool = ...) -> Tensor:
        """All combinations of `r` elements of a 1-D tensor, one a row, in the order of `itertools`."""

    def conj(self) -> Tensor:
        """The complex conjugate; real tensors themselves."""

    def conj_physical(self, *, out: Any = ...) -> Tensor:
        """The complex conjugate; same as `conj`, which never is lazy here."""

    def conj_physical_(self) -> Tensor:
        """The complex conjugate; same as `conj`, which never is lazy here."""

    def constant_pad_nd(self, pad: builtins.int | Sequence[builtins.int], value: builtins.complex = ...) -> Tensor:
        """`input` with `value` before and after its last dimensions; negative amounts crop."""

    def contiguous(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` itself if its elements lie in row-major order, else such a copy."""

    def copy_(self, src: Tensor, non_blocking: builtins.bool = ...) -> Tensor:
        """Write the elements of `src`, broadcast, cast and moved to this device, over `input`."""

    def copysign(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """The magnitude of `input` with the sign of `other` (also of zeros)."""

    def copysign_(self, other: Tensor | builtins.complex) -> Tensor:
        """The magnitude of `input` with the sign of `other` (also of zeros)."""

    def corrcoef(self) -> Tensor:
        """Pearson's correlation coefficients of the variables in the rows of `input`."""

    def cos(self, *, out: Any = ...) -> Tensor:
        """The cosine of radians."""

    def cos_(self) -> Tensor:
        """The cosine of radians."""

    def cosh(self, *, out: Any = ...) -> Tensor:
        """The hyperbolic cosine."""

    def cosh_(self) -> Tensor:
        """The hyperbolic cosine."""

    def count_nonzero(self, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
        """How many elements are not zero, over `dim` or all; int64."""

    def cov(self, *, correction: builtins.int = ..., fweights: Tensor | None = ..., aweights: Tensor | None = ...) -> Tensor:
        """The covariance matrix of the variables in the rows of `input`, observations in columns."""

    def cpu(self) -> Tensor:
        """`input` in host memory; itself if it is there."""

    def cross(self, other: Tensor, dim: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
        """The cross product of vectors of size 3 along `dim`, by default the first dimension of that size."""

    def cuda(self, device: Any = ..., non_blocking: builtins.bool = ...) -> Tensor:
        """`input` on a CUDA device; itself if it is there."""

    def cummax(self, dim: builtins.int, *, out: Any = ...) -> _cummax_result:
        """The greatest element up to and with each, along `dim`, and the last index of it; NaN from the first NaN on."""

    def cummin(self, dim: builtins.int, *, out: Any = ...) -> _cummin_result:
        """The smallest element up to and with each, along `dim`, and the last index of it; NaN from the first NaN on."""

    def cumprod(self, dim: builtins.int, *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """Products of the elements up to and with each, along `dim`."""

    def cumprod_(self, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
        """Products of the elements up to and with each, along `dim`."""

    def cumsum(self, dim: builtins.int, *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """Sums of the elements up to and with each, along `dim`."""

    def cumsum_(self, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
        """Sums of the elements up to and with each, along `dim`."""

    def data_ptr(self) -> builtins.int:
        """The address of the first element; 0 where there is no memory."""

    def deg2rad(self, *, out: Any = ...) -> Tensor:
        """Degrees to radians."""

    def deg2rad_(self) -> Tensor:
        """Degrees to radians."""

    def det(self) -> Tensor:
        """As `raxis.linalg.det`."""

    def detach(self) -> Tensor:
        """A tensor that shares memory and version counter with `input` and is not part of the tape."""

    def detach_(self) -> Tensor:
        """Take `input` off the tape, making it a leaf."""

    def diag(self, diagonal: builtins.int = ..., *, out: Any = ...) -> Tensor:
        """The matrix with a 1-D tensor on its diagonal, or a copy of the diagonal of a matrix."""

    def diag_embed(self, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
        """Matrices with the last dimension of `input` on a diagonal, zero elsewhere."""

    def diagflat(self, offset: builtins.int = ...) -> Tensor:
        """The matrix with all elements of `input` on a diagonal."""

    def diagonal(self, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
        """The diagonal of dimensions `dim1` and `dim2` as the last dimension."""

    def diagonal_scatter(self, src: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., *, out: Any = ...) -> Tensor:
        """`input` with the given diagonal replaced by `src`."""

    def diff(self, n: builtins.int = ..., dim: builtins.int = ..., prepend: Tensor | None = ..., append: Tensor | None = ..., *, out: Any = ...) -> Tensor:
        """The `n`-th differences of neighbours along `dim` (for bool: whether they differ)."""

    def digamma(self, *, out: Any = ...) -> Tensor:
        """The derivative of lgamma."""

    def digamma_(self) -> Tensor:
        """The derivative of lgamma."""

    def dim(self) -> builtins.int:
        """The number of dimensions."""

    def ndimension(self) -> builtins.int:
        """The number of dimensions."""

    def dist(self, other: Tensor, p: Any = ..., *, out: Any = ...) -> Tensor:
        """The `p`-norm of ``input - other``, over all elements."""

    def div(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ..., out: Any = ...) -> Tensor:
        """``input / other``, element by element."""

    def div_(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ...) -> Tensor:
        """``input / other``, element by element."""

    def divide(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ..., out: Any = ...) -> Tensor:
        """``input / other``, element by element."""

    def divide_(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ...) -> Tensor:
        """``input / other``, element by element."""

    def true_divide(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ..., out: Any = ...) -> Tensor:
        """``input / other``, element by element."""

    def true_divide_(self, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ...) -> Tensor:
        """``input / other``, element by element."""

    def __truediv__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rtruediv__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __itruediv__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def dot(self, tensor: Tensor, *, out: Any = ...) -> Tensor:
        """The sum of the products of two vectors."""

    def double(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in float64; itself if it has that dtype."""

    def dsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`tensor_split` of the third dimension of at least three; a number must divide its size."""

    def element_size(self) -> builtins.int:
        """Bytes of one element."""

    def eq(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input == other``, as bools."""

    def eq_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input == other``, as bools."""

    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]

    def equal(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape and equal elements (NaN equals nothing)."""

    def erf(self, *, out: Any = ...) -> Tensor:
        """The error function."""

    def erf_(self) -> Tensor:
        """The error function."""

    def erfc(self, *, out: Any = ...) -> Tensor:
        """``1 - erf(input)``, accurate for large elements."""

    def erfc_(self) -> Tensor:
        """``1 - erf(input)``, accurate for large elements."""

    def erfinv(self, *, out: Any = ...) -> Tensor:
        """The inverse of erf; NaN outside ``[-1, 1]``."""

    def erfinv_(self) -> Tensor:
        """The inverse of erf; NaN outside ``[-1, 1]``."""

    def exp(self, *, out: Any = ...) -> Tensor:
        """e to the power of each element."""

    def exp_(self) -> Tensor:
        """e to the power of each element."""

    def exp2(self, *, out: Any = ...) -> Tensor:
        """2 to the power of each element."""

    def exp2_(self) -> Tensor:
        """2 to the power of each element."""

    def expand(self, *size: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`input` with dimensions of size 1 repeated to the given sizes, and new leading dimensions; no copy."""

    def expand_as(self, other: Tensor) -> Tensor:
        """``input.expand(other.shape)``."""

    def expm1(self, *, out: Any = ...) -> Tensor:
        """``exp(input) - 1``, accurate near 0."""

    def expm1_(self) -> Tensor:
        """``exp(input) - 1``, accurate near 0."""

    def exponential_(self, lambd: builtins.float = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with numbers of the exponential distribution of rate `lambd`."""

    def fill_(self, value: Tensor | builtins.complex) -> Tensor:
        """Write `value` over every element."""

    def fill_diagonal_(self, fill_value: builtins.complex, wrap: builtins.bool = ...) -> Tensor:
        """Write a number along the main diagonal, in place."""

    def flatten(self, start_dim: builtins.int = ..., end_dim: builtins.int = ...) -> Tensor:
        """Dimensions `start_dim` to `end_dim` merged into one; a view if possible."""

    def flip(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """The order of elements reversed along `dims`."""

    def fliplr(self) -> Tensor:
        """The second dimension reversed; `input` has at least two."""

    def flipud(self) -> Tensor:
        """The first dimension reversed; `input` has at least one."""

    def float(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in float32; itself if it has that dtype."""

    def float_power(self, exponent: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """`input` to the power of `exponent`, computed in float64 (complex128 if either is complex)."""

    def float_power_(self, exponent: Tensor | builtins.complex) -> Tensor:
        """`float_power` in place."""

    def floor(self, *, out: Any = ...) -> Tensor:
        """The largest integer not above each element."""

    def floor_(self) -> Tensor:
        """The largest integer not above each element."""

    def floor_divide(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """``input / other`` rounded towards minus infinity, as Python's ``//``."""

    def floor_divide_(self, other: Tensor | builtins.complex) -> Tensor:
        """``input / other`` rounded towards minus infinity, as Python's ``//``."""

    def __floordiv__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rfloordiv__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __ifloordiv__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def fmax(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The larger of two elements; NaN only if both are NaN."""

    def fmin(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The smaller of two elements; NaN only if both are NaN."""

    def fmod(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """The remainder of ``input / other`` with the sign of `input`, as C's ``fmod``."""

    def fmod_(self, other: Tensor | builtins.complex) -> Tensor:
        """The remainder of ``input / other`` with the sign of `input`, as C's ``fmod``."""

    def frac(self, *, out: Any = ...) -> Tensor:
        """The part of each element after the decimal point."""

    def frac_(self) -> Tensor:
        """The part of each element after the decimal point."""

    def frexp(self, *, out: Any = ...) -> _frexp_result:
        """Mantissa in [0.5, 1) and exponent with ``input = mantissa * 2 ** exponent``; zeros and non-finite stay."""

    def gather(self, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool = ..., out: Any = ...) -> Tensor:
        """``result[i, j] = input[index[i, j], j]`` for ``dim=0``, and so on."""

    def gcd(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The greatest common divisor, by Euclid's algorithm."""

    def gcd_(self, other: Tensor) -> Tensor:
        """The greatest common divisor, by Euclid's algorithm."""

    def ge(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input >= other``, as bools."""

    def ge_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input >= other``, as bools."""

    def greater_equal(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input >= other``, as bools."""

    def greater_equal_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input >= other``, as bools."""

    def __ge__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def geometric_(self, p: builtins.float, *, generator: Generator | None = ...) -> Tensor:
        """Fill with the number of trials until the first success of probability `p`."""

    def geqrf(self, *, out: Any = ...) -> _geqrf_result:
        """The QR factorization, Q as reflections: `a` has R in its upper triangle and the vectors below, see `orgqr`."""

    def get_device(self) -> builtins.int:
        """The index of the device; -1 for the CPU."""

    def gt(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input > other``, as bools."""

    def gt_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input > other``, as bools."""

    def greater(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input > other``, as bools."""

    def greater_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input > other``, as bools."""

    def __gt__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def half(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in float16; itself if it has that dtype."""

    def hardshrink(self, lambd: builtins.float = ..., *, out: Any = ...) -> Tensor:
        """`input` where ``abs(input) > lambd``, else 0."""

    def heaviside(self, values: Tensor, *, out: Any = ...) -> Tensor:
        """The step function: 0 below zero, 1 above, `values` at zero; NaN counts as below."""

    def heaviside_(self, values: Tensor) -> Tensor:
        """The step function: 0 below zero, 1 above, `values` at zero; NaN counts as below."""

    def histc(self, bins: builtins.int = ..., min: Any = ..., max: Any = ..., *, out: Any = ...) -> Tensor:
        """How many elements fall in each of `bins` equal intervals; elements outside and NaN are not counted."""

    def histogram(self, bins: Any, *, range: builtins.float | Sequence[builtins.float] | None = ..., weight: Tensor | None = ..., density: builtins.bool = ..., out: Any = ...) -> _histogram_result:
        """How many elements fall in each bin, and the edges of the bins; the last bin has both its edges."""

    def hsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`tensor_split` of the second dimension (the only one of 1-D tensors); a number must divide its size."""

    def hypot(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """``sqrt(input**2 + other**2)`` without overflow."""

    def hypot_(self, other: Tensor) -> Tensor:
        """``sqrt(input**2 + other**2)`` without overflow."""

    def i0(self, *, out: Any = ...) -> Tensor:
        """The modified Bessel function of the first kind, order 0."""

    def i0_(self) -> Tensor:
        """The modified Bessel function of the first kind, order 0."""

    def igamma(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The regularised lower incomplete gamma function P(input, other); it has no derivative in `input`."""

    def igamma_(self, other: Tensor) -> Tensor:
        """The regularised lower incomplete gamma function P(input, other); it has no derivative in `input`."""

    def igammac(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The regularised upper incomplete gamma function Q(input, other); it has no derivative in `input`."""

    def igammac_(self, other: Tensor) -> Tensor:
        """The regularised upper incomplete gamma function Q(input, other); it has no derivative in `input`."""

    @property
    def imag(self) -> Tensor:
        """The imaginary part of a complex tensor, as a view."""

    def index_add(self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """`input` with ``alpha * source[i]`` added to its slice ``index[i]`` along `dim`."""

    def index_add_(self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.complex = ...) -> Tensor:
        """`input` with ``alpha * source[i]`` added to its slice ``index[i]`` along `dim`."""

    def index_copy(self, dim: builtins.int, index: Tensor, source: Tensor, *, out: Any = ...) -> Tensor:
        """`input` with its slice ``index[i]`` along `dim` replaced by ``source[i]``."""

    def index_copy_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        """`input` with its slice ``index[i]`` along `dim` replaced by ``source[i]``."""

    def index_fill(self, dim: builtins.int, index: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`input` with its slices at `index` along `dim` filled with `value`."""

    def index_fill_(self, dim: builtins.int, index: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`index_fill` in place."""

    def index_put(self, indices: Sequence[Tensor] | None, values: Tensor, accumulate: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """`input` with `values` written at the positions that ``input[indices]`` reads."""

    def index_put_(self, indices: Sequence[Tensor] | None, values: Tensor, accumulate: builtins.bool = ...) -> Tensor:
        """`index_put` in place."""

    def index_reduce(self, dim: builtins.int, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = ..., out: Any = ...) -> Tensor:
        """`input` with ``source[i]`` combined into its slice ``index[i]`` along `dim`."""

    def index_reduce_(self, dim: builtins.int, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = ...) -> Tensor:
        """`index_reduce` in place."""

    def index_select(self, dim: builtins.int, index: Tensor, *, out: Any = ...) -> Tensor:
        """The slices of dimension `dim` at `index`."""

    def inner(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """Products summed over the last dimensions; of a 0-d operand, the products."""

    def int(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in int32; itself if it has that dtype."""

    def inverse(self, *, out: Any = ...) -> Tensor:
        """As `raxis.linalg.inv`."""

    def is_complex(self) -> builtins.bool:
        """Whether the dtype is complex."""

    def is_conj(self) -> builtins.bool:
        """False: conjugation is never left for later."""

    def is_contiguous(self, *, memory_format: MemoryFormat | None = ...) -> builtins.bool:
        """Whether the elements lie in row-major order, or in that of `memory_format`."""

    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype is a real floating point one."""

    def is_neg(self) -> builtins.bool:
        """False: negation is never left for later."""

    def is_nonzero(self) -> builtins.bool:
        """Whether the only element differs from zero."""

    def is_pinned(self) -> builtins.bool:
        """False: host memory is never pinned."""

    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Whether both have the same shape."""

    def is_set_to(self, tensor: Tensor) -> builtins.bool:
        """Whether both are the same view of the same storage."""

    def is_shared(self) -> builtins.bool:
        """False: no memory is shared between processes."""

    def is_signed(self) -> builtins.bool:
        """Whether the dtype has negative numbers."""

    def isclose(self, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ...) -> Tensor:
        """Whether ``|input - other| <= atol + rtol * |other|``, element by element."""

    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor NaN."""

    def isinf(self) -> Tensor:
        """Whether each element is infinite."""

    def isnan(self) -> Tensor:
        """Whether each element is NaN."""

    def isneginf(self, *, out: Any = ...) -> Tensor:
        """Whether each element is -inf."""

    def isposinf(self, *, out: Any = ...) -> Tensor:
        """Whether each element is +inf."""

    def isreal(self) -> Tensor:
        """Whether each element has no imaginary part."""

    def istft(self, n_fft: builtins.int, hop_length: builtins.int | None = ..., win_length: builtins.int | None = ..., window: Tensor | None = ..., center: builtins.bool = ..., normalized: builtins.bool = ..., onesided: builtins.bool | None = ..., length: builtins.int | None = ..., return_complex: builtins.bool = ...) -> Tensor:
        """The signal whose `stft` is `input`, as least squares see it: overlapping frames are added and normalised."""

    def item(self) -> Any:
        """The only element as a Python number."""

    def kron(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The Kronecker product: every element of `input` times all of `other`, as blocks."""

    def kthvalue(self, k: builtins.int, dim: builtins.int = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> _kthvalue_result:
        """The `k`-th smallest element along `dim`, counted from 1, and its index. NaN counts as the greatest."""

    def lcm(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The least common multiple; 0 if either is 0."""

    def lcm_(self, other: Tensor) -> Tensor:
        """The least common multiple; 0 if either is 0."""

    def ldexp(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """``input * 2 ** other``."""

    def ldexp_(self, other: Tensor) -> Tensor:
        """``input * 2 ** other``."""

    def le(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input <= other``, as bools."""

    def le_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input <= other``, as bools."""

    def less_equal(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input <= other``, as bools."""

    def less_equal_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input <= other``, as bools."""

    def __le__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def lerp(self, end: Tensor, weight: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """``input + weight * (end - input)``, exact at both ends."""

    def lerp_(self, end: Tensor, weight: Tensor | builtins.complex) -> Tensor:
        """``input + weight * (end - input)``, exact at both ends."""

    def lgamma(self, *, out: Any = ...) -> Tensor:
        """The logarithm of the magnitude of the gamma function."""

    def lgamma_(self) -> Tensor:
        """The logarithm of the magnitude of the gamma function."""

    def log(self, *, out: Any = ...) -> Tensor:
        """The natural logarithm; NaN below 0."""

    def log_(self) -> Tensor:
        """The natural logarithm; NaN below 0."""

    def log10(self, *, out: Any = ...) -> Tensor:
        """The logarithm to base 10."""

    def log10_(self) -> Tensor:
        """The logarithm to base 10."""

    def log1p(self, *, out: Any = ...) -> Tensor:
        """``log(1 + input)``, accurate near 0."""

    def log1p_(self) -> Tensor:
        """``log(1 + input)``, accurate near 0."""

    def log2(self, *, out: Any = ...) -> Tensor:
        """The logarithm to base 2."""

    def log2_(self) -> Tensor:
        """The logarithm to base 2."""

    def log_normal_(self, mean: builtins.float = ..., std: builtins.float = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with numbers whose logarithms are normal."""

    def log_softmax(self, dim: builtins.int, dtype: DType | None = ..., *, out: Any = ...) -> Tensor:
        """``log(softmax(input))`` along a dimension, accurate also where the softmax underflows."""

    def logaddexp(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """``log(exp(input) + exp(other))`` without overflow."""

    def logaddexp2(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """``log2(2**input + 2**other)`` without overflow."""

    def logcumsumexp(self, dim: builtins.int, *, out: Any = ...) -> Tensor:
        """``log(cumsum(exp(input)))`` along `dim`, without overflow."""

    def logdet(self) -> Tensor:
        """The logarithms of the determinants: NaN for negative ones, -inf for 0."""

    def logical_and(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """Whether both elements are not zero."""

    def logical_and_(self, other: Tensor) -> Tensor:
        """Whether both elements are not zero."""

    def logical_not(self, *, out: Any = ...) -> Tensor:
        """Whether each element is zero."""

    def logical_not_(self) -> Tensor:
        """Whether each element is zero."""

    def logical_or(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """Whether either element is not zero."""

    def logical_or_(self, other: Tensor) -> Tensor:
        """Whether either element is not zero."""

    def logical_xor(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """Whether exactly one element is not zero."""

    def logical_xor_(self, other: Tensor) -> Tensor:
        """Whether exactly one element is not zero."""

    def logit(self, eps: builtins.float | None = ..., *, out: Any = ...) -> Tensor:
        """The inverse of sigmoid, ``log(input / (1 - input))``."""

    def logit_(self, eps: builtins.float | None = ...) -> Tensor:
        """The inverse of sigmoid, ``log(input / (1 - input))``."""

    def logsumexp(self, dim: builtins.int | Sequence[builtins.int], keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """``log(sum(exp(input)))`` over `dim`, without overflow."""

    def long(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in int64; itself if it has that dtype."""

    def lt(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input < other``, as bools."""

    def lt_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input < other``, as bools."""

    def less(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input < other``, as bools."""

    def less_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input < other``, as bools."""

    def __lt__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def lu(self, pivot: builtins.bool = ..., get_infos: builtins.bool = ..., *, out: Any = ...) -> tuple[Tensor, ...]:
        """LU and pivots as `raxis.linalg.lu_factor`, its successor, and also info (as a third result) if asked."""

    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = ...) -> Tensor:
        """The solution of ``A X = input``, given A's factors; `raxis.linalg.lu_solve` is its successor."""

    @property
    def mH(self) -> Tensor:
        """The last two dimensions exchanged, conjugated."""

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""

    def masked_fill(self, mask: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`input` with `value` where `mask` is True."""

    def masked_fill_(self, mask: Tensor, value: Tensor | builtins.complex) -> Tensor:
        """`masked_fill` in place."""

    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """`input` with consecutive elements of `source` where `mask` is True."""

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """`masked_scatter` in place."""

    def masked_select(self, mask: Tensor, *, out: Any = ...) -> Tensor:
        """The elements where `mask` is True, in one dimension."""

    def matmul(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The matrix product of vectors, matrices and batches of matrices."""

    def __matmul__(self, other: Tensor) -> Tensor: ...

    def __rmatmul__(self, other: Tensor) -> Tensor: ...

    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices, by Taylor's polynomial with scaling and squaring."""

    def matrix_power(self, n: builtins.int, *, out: Any = ...) -> Tensor:
        """The `n`-th power of square matrices, by repeated squaring."""

    def max(self, dim: Any = ..., keepdim: builtins.bool = ..., *, other: Tensor | None = ...) -> Tensor:
        """The greatest element: of all, along `dim` with its index, or of two tensors element by element."""

    def maximum(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The larger of two elements; NaN if either is NaN."""

    def mean(self, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """The mean over `dim`, or over all elements; NaN over no elements."""

    def median(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Tensor:
        """The median of all elements, or along `dim` with its index; of an even number, the lower of the two."""

    def min(self, dim: Any = ..., keepdim: builtins.bool = ..., *, other: Tensor | None = ...) -> Tensor:
        """The smallest element: of all, along `dim` with its index, or of two tensors element by element."""

    def minimum(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The smaller of two elements; NaN if either is NaN."""

    def mm(self, mat2: Tensor, *, out: Any = ...) -> Tensor:
        """The matrix product of two matrices."""

    def mode(self, dim: builtins.int = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> _mode_result:
        """The most frequent element along `dim` and an index of it; of several, the smallest."""

    def movedim(self, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`input` with the dimensions `source` moved to the positions `destination`; the others keep their order."""

    def moveaxis(self, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`input` with the dimensions `source` moved to the positions `destination`; the others keep their order."""

    def msort(self, *, out: Any = ...) -> Tensor:
        """The elements ordered along the first dimension."""

    def mul(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """``input * other``, element by element."""

    def mul_(self, other: Tensor | builtins.complex) -> Tensor:
        """``input * other``, element by element."""

    def multiply(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """``input * other``, element by element."""

    def multiply_(self, other: Tensor | builtins.complex) -> Tensor:
        """``input * other``, element by element."""

    def __mul__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rmul__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __imul__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = ..., *, generator: Generator | None = ..., out: Tensor | None = ...) -> Tensor:
        """Indices drawn with the probabilities (not necessarily normalised) of each row."""

    def mv(self, vec: Tensor, *, out: Any = ...) -> Tensor:
        """The product of a matrix and a vector."""

    def mvlgamma(self, p: builtins.int, *, out: Any = ...) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension `p`."""

    def mvlgamma_(self, p: builtins.int) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension `p`."""

    def nan_to_num(self, nan: builtins.float | None = ..., posinf: builtins.float | None = ..., neginf: builtins.float | None = ..., *, out: Any = ...) -> Tensor:
        """NaN and infinities replaced by numbers."""

    def nan_to_num_(self, nan: builtins.float | None = ..., posinf: builtins.float | None = ..., neginf: builtins.float | None = ...) -> Tensor:
        """NaN and infinities replaced by numbers."""

    def nanmean(self, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """The mean over `dim`, or over all elements, of those that are not NaN."""

    def nanmedian(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Tensor:
        """The median, as `median`, of the elements that are not NaN; NaN if all are."""

    def nanquantile(self, q: Tensor | builtins.complex, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, interpolation: builtins.str = ..., out: Any = ...) -> Tensor:
        """The `q`-th quantiles, as `quantile`, of the elements that are not NaN."""

    def nansum(self, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """The sum over `dim`, or over all elements, with NaN counted as zero."""

    def narrow(self, dim: builtins.int, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
        """The elements `start` to ``start + length`` (exclusive) of one dimension."""

    def narrow_copy(self, dim: builtins.int, start: builtins.int, length: builtins.int, *, out: Any = ...) -> Tensor:
        """`narrow`, in new memory."""

    def ne(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input != other``, as bools."""

    def ne_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input != other``, as bools."""

    def not_equal(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """Whether ``input != other``, as bools."""

    def not_equal_(self, other: Tensor | builtins.complex) -> Tensor:
        """Whether ``input != other``, as bools."""

    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]

    def neg(self, *, out: Any = ...) -> Tensor:
        """``-input``."""

    def neg_(self) -> Tensor:
        """``-input``."""

    def negative(self, *, out: Any = ...) -> Tensor:
        """``-input``."""

    def negative_(self) -> Tensor:
        """``-input``."""

    def __neg__(self) -> Tensor: ...

    def nelement(self) -> builtins.int:
        """The number of elements, as `numel`."""

    def new_empty(self, *size: builtins.int | Sequence[builtins.int], dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
        """Undefined values of any size with `input`'s dtype and device; options as `zeros`."""

    def new_empty_strided(self, size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
        """Undefined values with these strides and `input`'s dtype and device."""

    def new_full(self, size: builtins.int | Sequence[builtins.int], fill_value: builtins.complex, *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
        """`fill_value` in any size with `input`'s dtype and device; options as `zeros`."""

    def new_ones(self, *size: builtins.int | Sequence[builtins.int], dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
        """Ones of any size with `input`'s dtype and device; options as `zeros`."""

    def new_tensor(self, data: Any, *, dtype: DType | None = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
        """A tensor with a copy of `data`, of `input`'s dtype and device unless given."""

    def new_zeros(self, *size: builtins.int | Sequence[builtins.int], dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
        """Zeros of any size with `input`'s dtype and device; options as `zeros`."""

    def nextafter(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The next representable number after `input` towards `other`."""

    def nextafter_(self, other: Tensor) -> Tensor:
        """The next representable number after `input` towards `other`."""

    def nonzero(self, *, as_tuple: builtins.bool = ..., out: Any = ...) -> Tensor:
        """Indices of the elements that are not zero, in row-major order."""

    def nonzero_static(self, *, size: builtins.int, fill_value: builtins.int = ..., out: Any = ...) -> Tensor:
        """The first `size` rows of `nonzero`; missing rows are filled with `fill_value`."""

    def norm(self, p: Any = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """The `p`-norm of the elements over `dim`, or of all; `raxis.linalg.norm` is its successor."""

    def normal_(self, mean: builtins.float = ..., std: builtins.float = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with normal numbers."""

    def numel(self) -> builtins.int:
        """The number of elements."""

    def numpy(self, *, force: builtins.bool = ...) -> Any:
        """The elements as a NumPy array that shares this tensor's memory."""

    def orgqr(self, tau: Tensor, *, out: Any = ...) -> Tensor:
        """As `raxis.linalg.householder_product`."""

    def ormqr(self, tau: Tensor, other: Tensor, left: builtins.bool = ..., transpose: builtins.bool = ..., *, out: Any = ...) -> Tensor:
        """The product of `other` and the square Q of `geqrf`'s reflections."""

    def outer(self, vec2: Tensor, *, out: Any = ...) -> Tensor:
        """All products of an element of `input` and one of `vec2`."""

    def ger(self, vec2: Tensor, *, out: Any = ...) -> Tensor:
        """All products of an element of `input` and one of `vec2`."""

    def permute(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`input` with its dimensions in the order `dims`."""

    def pinverse(self, rcond: Any = ...) -> Tensor:
        """The pseudo-inverse, singular values of at most `rcond` times the greatest taken as 0; see `raxis.linalg.pinv`."""

    def polygamma(self, n: builtins.int) -> Tensor:
        """The derivative of order `n` of digamma; see `raxis.polygamma`."""

    def polygamma_(self, n: builtins.int) -> Tensor:
        """The derivative of order `n` of digamma; see `raxis.polygamma`."""

    def positive(self) -> Tensor:
        """`input` itself."""

    def __pos__(self) -> Tensor: ...

    def pow(self, exponent: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """`input` to the power of `exponent`, element by element."""

    def pow_(self, exponent: Tensor | builtins.complex) -> Tensor:
        """`input` to the power of `exponent`, element by element."""

    def __pow__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rpow__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __ipow__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def prelu(self, weight: Tensor) -> Tensor:
        """`input` where positive, else ``weight * input`` (He et al., 2015)."""

    def prod(self, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """The product over `dim`, or over all elements."""

    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = ...) -> Tensor:
        """`input` with the elements of `source` written, or added, at flat positions."""

    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = ...) -> Tensor:
        """`input` with the elements of `source` written, or added, at flat positions."""

    def qr(self, some: builtins.bool = ..., *, out: Any = ...) -> _qr_result:
        """As `raxis.linalg.qr`, its successor, with mode ``'reduced'`` or (not `some`) ``'complete'``."""

    def quantile(self, q: Tensor | builtins.complex, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, interpolation: builtins.str = ..., out: Any = ...) -> Tensor:
        """The `q`-th quantiles along `dim`, or of all elements; NaN where any element is NaN."""

    def rad2deg(self, *, out: Any = ...) -> Tensor:
        """Radians to degrees."""

    def rad2deg_(self) -> Tensor:
        """Radians to degrees."""

    def random_(self, from_: builtins.int = ..., to: builtins.int | None = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with integers uniform on ``[from, to)``: ``random_()``, ``random_(to)`` or ``random_(from, to)``."""

    def ravel(self) -> Tensor:
        """All elements in one dimension, in row-major order; a view if possible."""

    @property
    def real(self) -> Tensor:
        """The real part, as a view; real tensors themselves."""

    def reciprocal(self, *, out: Any = ...) -> Tensor:
        """``1 / input``."""

    def reciprocal_(self) -> Tensor:
        """``1 / input``."""

    def relu(self) -> Tensor:
        """``max(input, 0)``; NaN stays."""

    def relu_(self) -> Tensor:
        """``max(input, 0)``; NaN stays."""

    def remainder(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """The remainder of ``input / other`` with the sign of `other`, as Python's ``%``."""

    def remainder_(self, other: Tensor | builtins.complex) -> Tensor:
        """The remainder of ``input / other`` with the sign of `other`, as Python's ``%``."""

    def __mod__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rmod__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __imod__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def renorm(self, p: Any, dim: builtins.int, maxnorm: Any, *, out: Any = ...) -> Tensor:
        """The slices of `input` along `dim`, those whose `p`-norm exceeds `maxnorm` scaled down to it."""

    def renorm_(self, p: Any, dim: builtins.int, maxnorm: Any) -> Tensor:
        """The slices of `input` along `dim`, those whose `p`-norm exceeds `maxnorm` scaled down to it."""

    def repeat(self, *repeats: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`input` repeated along each dimension; more counts than dimensions add leading ones."""

    def repeat_interleave(self, repeats: builtins.int, dim: builtins.int | None = ..., *, output_size: builtins.int | None = ...) -> Tensor:
        """Each element, or each slice of `dim`, repeated in place."""

    def reshape(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """The same elements in another shape: a view where strides allow it, else a copy."""

    def reshape_as(self, other: Tensor) -> Tensor:
        """``input.reshape(other.shape)``."""

    def resize_(self, *size: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Change the shape in place, with more memory if needed; elements keep their place in memory."""

    def resize_as_(self, the_template: Tensor) -> Tensor:
        """Change the shape in place to `the_template`'s."""

    def resolve_conj(self) -> Tensor:
        """`input` itself: conjugates are never lazy here."""

    def resolve_neg(self) -> Tensor:
        """`input` itself: negation is never lazy here."""

    def roll(self, shifts: builtins.int | Sequence[builtins.int], dims: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
        """Elements moved by `shifts` places along `dims`, those pushed out coming in at the other end."""

    def rot90(self, k: builtins.int = ..., dims: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
        """`input` rotated by `k` quarter turns in the plane of two dimensions, from the first towards the second."""

    def round(self, *, decimals: builtins.int = ..., out: Any = ...) -> Tensor:
        """Each element rounded to the nearest integer, ties to even, or to a number of decimals."""

    def round_(self, *, decimals: builtins.int = ...) -> Tensor:
        """Each element rounded to the nearest integer, ties to even, or to a number of decimals."""

    def rsqrt(self, *, out: Any = ...) -> Tensor:
        """``1 / sqrt(input)``."""

    def rsqrt_(self) -> Tensor:
        """``1 / sqrt(input)``."""

    def scatter(self, dim: builtins.int, index: Tensor, src: Tensor | builtins.complex, *, reduce: builtins.str | None = ..., out: Any = ...) -> Tensor:
        """`input` with ``result[index[i, j], j] = src[i, j]`` for ``dim=0``, and so on."""

    def scatter_(self, dim: builtins.int, index: Tensor, src: Tensor | builtins.complex, *, reduce: builtins.str | None = ...) -> Tensor:
        """`scatter` in place."""

    def scatter_add(self, dim: builtins.int, index: Tensor, src: Tensor, *, out: Any = ...) -> Tensor:
        """`input` with ``result[index[i, j], j] += src[i, j]`` for ``dim=0``, and so on."""

    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """`input` with ``result[index[i, j], j] += src[i, j]`` for ``dim=0``, and so on."""

    def scatter_reduce(self, dim: builtins.int, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = ..., out: Any = ...) -> Tensor:
        """`input` with ``src[i, j]`` combined into element ``[index[i, j], j]`` for ``dim=0``, and so on."""

    def scatter_reduce_(self, dim: builtins.int, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = ...) -> Tensor:
        """`input` with ``src[i, j]`` combined into element ``[index[i, j], j]`` for ``dim=0``, and so on."""

    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """The slice at `index` of dimension `dim`, without that dimension."""

    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int, *, out: Any = ...) -> Tensor:
        """`input` with its slice at `index` of dimension `dim` replaced by `src`."""

    def set_(self, source: Tensor) -> Tensor:
        """Make `input` the same view of the same storage as `source`."""

    def sgn(self, *, out: Any = ...) -> Tensor:
        """The sign -1, 0 or 1; complex: ``input / abs(input)``."""

    def sgn_(self) -> Tensor:
        """The sign -1, 0 or 1; complex: ``input / abs(input)``."""

    def short(self, *, memory_format: MemoryFormat | None = ...) -> Tensor:
        """`input` in int16; itself if it has that dtype."""

    def sigmoid(self, *, out: Any = ...) -> Tensor:
        """The logistic function ``1 / (1 + exp(-input))``."""

    def sigmoid_(self) -> Tensor:
        """The logistic function ``1 / (1 + exp(-input))``."""

    def sign(self, *, out: Any = ...) -> Tensor:
        """The sign of each element: -1, 0 or 1."""

    def sign_(self) -> Tensor:
        """The sign of each element: -1, 0 or 1."""

    def signbit(self, *, out: Any = ...) -> Tensor:
        """Whether the sign bit is set, also that of -0."""

    def sin(self, *, out: Any = ...) -> Tensor:
        """The sine of radians."""

    def sin_(self) -> Tensor:
        """The sine of radians."""

    def sinc(self, *, out: Any = ...) -> Tensor:
        """``sin(pi * input) / (pi * input)``, 1 at 0."""

    def sinc_(self) -> Tensor:
        """``sin(pi * input) / (pi * input)``, 1 at 0."""

    def sinh(self, *, out: Any = ...) -> Tensor:
        """The hyperbolic sine."""

    def sinh_(self) -> Tensor:
        """The hyperbolic sine."""

    def size(self, dim: builtins.int | None = ...) -> Any:
        """All sizes, or the size of one dimension."""

    def slice_scatter(self, src: Tensor, dim: builtins.int = ..., start: builtins.int | None = ..., end: builtins.int | None = ..., step: builtins.int = ..., *, out: Any = ...) -> Tensor:
        """`input` with the elements start, start + step, ... below `end` of dimension `dim` replaced by `src`."""

    def slogdet(self, *, out: Any = ...) -> _slogdet_result:
        """As `raxis.linalg.slogdet`."""

    def softmax(self, dim: builtins.int, dtype: DType | None = ..., *, out: Any = ...) -> Tensor:
        """``exp(input) / sum(exp(input))`` along a dimension, without overflow."""

    def sort(self, dim: builtins.int = ..., descending: builtins.bool = ..., *, stable: builtins.bool | None = ..., out: Any = ...) -> _sort_result:
        """The elements ordered along `dim`, and the int64 indices they came from. NaN counts as the greatest."""

    def split(self, split_size_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
        """Views of consecutive parts of one dimension."""

    def split_with_sizes(self, split_sizes: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
        """Views of consecutive parts of one dimension, of the given sizes."""

    def sqrt(self, *, out: Any = ...) -> Tensor:
        """The square root; NaN below 0."""

    def sqrt_(self) -> Tensor:
        """The square root; NaN below 0."""

    def square(self, *, out: Any = ...) -> Tensor:
        """``input * input``."""

    def square_(self) -> Tensor:
        """``input * input``."""

    def squeeze(self, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
        """`input` without its dimensions of size 1, or without those among `dim`."""

    def squeeze_(self, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
        """`squeeze` in place."""

    def std(self, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: Any = ...) -> Tensor:
        """The standard deviation over `dim`, or of all elements: the root of `var`."""

    def stft(self, n_fft: builtins.int, hop_length: builtins.int | None = ..., win_length: builtins.int | None = ..., window: Tensor | None = ..., center: builtins.bool = ..., pad_mode: builtins.str = ..., normalized: builtins.bool = ..., onesided: builtins.bool | None = ..., return_complex: builtins.bool | None = ..., align_to_window: builtins.bool | None = ...) -> Tensor:
        """The Fourier transforms of frames of `n_fft` elements, `hop_length` apart, multiplied by a window."""

    def storage_offset(self) -> builtins.int:
        """Where the first element lies in the storage, in elements."""

    def stride(self, dim: builtins.int | None = ...) -> Any:
        """The distance between neighbours, in elements, of every dimension or of one."""

    def sub(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``input - alpha * other``, element by element."""

    def sub_(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = ...) -> Tensor:
        """``input - alpha * other``, element by element."""

    def subtract(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
        """``input - alpha * other``, element by element."""

    def subtract_(self, other: Tensor | builtins.complex, *, alpha: builtins.complex = ...) -> Tensor:
        """``input - alpha * other``, element by element."""

    def __sub__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __rsub__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def __isub__(self, other: Tensor | builtins.complex) -> Tensor: ...

    def sum(self, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
        """The sum over `dim`, or over all elements."""

    def sum_to_size(self, *size: builtins.int | Sequence[builtins.int]) -> Tensor:
        """The sum over the dimensions along which `size` would have to be broadcast to `input`'s shape."""

    def svd(self, some: builtins.bool = ..., compute_uv: builtins.bool = ..., *, out: Any = ...) -> _svd_result:
        """As `raxis.linalg.svd`, its successor, but V instead of its conjugate transpose."""

    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Alias of `transpose`."""

    def swapaxes_(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """`swapaxes` in place."""

    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Alias of `transpose`."""

    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """`swapdims` in place."""

    def t(self) -> Tensor:
        """The transpose of a matrix; tensors of fewer dimensions themselves."""

    def t_(self) -> Tensor:
        """`t` in place."""

    def take(self, index: Tensor, *, out: Any = ...) -> Tensor:
        """The elements at flat positions, in the shape of `index`."""

    def take_along_dim(self, indices: Tensor, dim: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
        """`gather` after broadcasting the dimensions other than `dim`; without `dim`, of the flat tensors."""

    def tan(self, *, out: Any = ...) -> Tensor:
        """The tangent of radians."""

    def tan_(self) -> Tensor:
        """The tangent of radians."""

    def tanh(self, *, out: Any = ...) -> Tensor:
        """The hyperbolic tangent."""

    def tanh_(self) -> Tensor:
        """The hyperbolic tangent."""

    def tensor_split(self, indices_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
        """Views of consecutive parts of one dimension: a number of nearly equal parts, or cut at given indices."""

    def tile(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`input` repeated along each dimension; missing leading counts are 1."""

    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """`input` with another dtype or device; itself if it has both already and `copy` is false."""

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; of a 0-d tensor, the number."""

    def topk(self, k: builtins.int, dim: builtins.int = ..., largest: builtins.bool = ..., sorted: builtins.bool = ..., *, out: Any = ...) -> _topk_result:
        """The `k` greatest (or smallest) elements along `dim` in order, and their indices. NaN counts as the greatest."""

    def trace(self) -> Tensor:
        """The sum of the diagonal of a matrix; int64 for integers."""

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """`input` with two dimensions exchanged."""

    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """`transpose` in place."""

    def triangular_solve(self, A: Tensor, upper: builtins.bool = ..., transpose: builtins.bool = ..., unitriangular: builtins.bool = ..., *, out: Any = ...) -> _triangular_solve_result:
        """The solution of ``A X = input`` with triangular A, and a copy of A; see `raxis.linalg.solve_triangular`."""

    def tril(self, diagonal: builtins.int = ..., *, out: Any = ...) -> Tensor:
        """The lower triangle of matrices, zero elsewhere."""

    def tril_(self, diagonal: builtins.int = ...) -> Tensor:
        """The lower triangle of matrices, zero elsewhere."""

    def triu(self, diagonal: builtins.int = ..., *, out: Any = ...) -> Tensor:
        """The upper triangle of matrices, zero elsewhere."""

    def triu_(self, diagonal: builtins.int = ...) -> Tensor:
        """The upper triangle of matrices, zero elsewhere."""

    def trunc(self, *, out: Any = ...) -> Tensor:
        """Each element rounded towards zero."""

    def trunc_(self) -> Tensor:
        """Each element rounded towards zero."""

    def fix(self, *, out: Any = ...) -> Tensor:
        """Each element rounded towards zero."""

    def fix_(self) -> Tensor:
        """Each element rounded towards zero."""

    def type(self, dtype: Any = ..., non_blocking: builtins.bool = ...) -> Any:
        """The type's name, such as ``'raxis.FloatTensor'``; with `dtype` (a dtype or such a name), `input` cast to it."""

    def type_as(self, other: Tensor) -> Tensor:
        """`input` with `other`'s dtype and device."""

    def unbind(self, dim: builtins.int = ...) -> Tensor:
        """The slices of one dimension, without it."""

    def unflatten(self, dim: builtins.int, sizes: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Dimension `dim` split into dimensions of the given sizes; one may be -1."""

    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """All windows of `size` elements, `step` apart, of one dimension; a window's elements are the last dimension."""

    def uniform_(self, from_: builtins.float = ..., to: builtins.float = ..., *, generator: Generator | None = ...) -> Tensor:
        """Fill with numbers uniform on ``[from, to)``."""

    def unique(self, sorted: builtins.bool = ..., return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ...) -> Tensor:
        """The distinct elements in ascending order, or the distinct slices along `dim`. Every NaN is distinct."""

    def unique_consecutive(self, return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ...) -> Tensor:
        """The first element of every run of equal elements, or the first of equal slices along `dim`."""

    def unsafe_chunk(self, chunks: builtins.int, dim: builtins.int = ...) -> Tensor:
        """`chunk` whose results may be written in place under the tape."""

    def unsafe_split(self, split_size: builtins.int, dim: builtins.int = ...) -> Tensor:
        """`split` whose results may be written in place under the tape."""

    def unsafe_split_with_sizes(self, split_sizes: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
        """`split_with_sizes` whose results may be written in place under the tape."""

    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """`input` with a new dimension of size 1 at `dim`."""

    def unsqueeze_(self, dim: builtins.int) -> Tensor:
        """`unsqueeze` in place."""

    def untyped_storage(self) -> Any:
        """The memory, shared by all views; see `raxis.untyped_storage.UntypedStorage`."""

    def var(self, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: Any = ...) -> Tensor:
        """The variance over `dim`, or of all elements: ``sum(abs(x - mean) ** 2) / max(0, n - correction)``."""

    def vdot(self, other: Tensor, *, out: Any = ...) -> Tensor:
        """The sum of the products of two vectors, the first conjugated."""

    def view(self, *size: builtins.int | Sequence[builtins.int]) -> Tensor:
        """The same elements in another shape, or (given a dtype) the same bytes as another dtype; shares memory."""

    def view_as(self, other: Tensor) -> Tensor:
        """``input.view(other.shape)``."""

    def vsplit(self, indices_or_sections: builtins.int | Sequence[builtins.int]) -> Tensor:
        """`tensor_split` of the first dimension of at least two; a number must divide its size."""

    def where(self, condition: Tensor, other: Tensor | builtins.complex) -> Tensor:
        """The elements of this tensor where `condition` is true, else of `other`; see `raxis.where`."""

    def xlogy(self, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
        """``input * log(other)``, and 0 where `input` is 0 (unless `other` is NaN)."""

    def xlogy_(self, other: Tensor | builtins.complex) -> Tensor:
        """``input * log(other)``, and 0 where `input` is 0 (unless `other` is NaN)."""

    def zero_(self) -> Tensor:
        """Write 0 over every element."""
