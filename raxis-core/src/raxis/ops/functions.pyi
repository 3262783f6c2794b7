"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

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

class _histogramdd_result(NamedTuple):
    hist: Tensor
    bin_edges: Tensor

class _kthvalue_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _lu_unpack_result(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor

class _mode_result(NamedTuple):
    values: Tensor
    indices: Tensor

class _native_dropout_result(NamedTuple):
    output: Tensor
    mask: Tensor

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

def abs(input: Tensor, *, out: Any = ...) -> Tensor:
    """The magnitude of each element; real for complex ones."""

def abs_(input: Tensor) -> Tensor:
    """The magnitude of each element; real for complex ones."""

def absolute(input: Tensor, *, out: Any = ...) -> Tensor:
    """The magnitude of each element; real for complex ones."""

def absolute_(input: Tensor) -> Tensor:
    """The magnitude of each element; real for complex ones."""

def acos(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

def acos_(input: Tensor) -> Tensor:
    """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

def arccos(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

def arccos_(input: Tensor) -> Tensor:
    """The inverse cosine, in radians; NaN outside ``[-1, 1]``."""

def acosh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse hyperbolic cosine; NaN below 1."""

def acosh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine; NaN below 1."""

def arccosh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse hyperbolic cosine; NaN below 1."""

def arccosh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine; NaN below 1."""

def adaptive_avg_pool1d(input: Tensor, output_size: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Means of as many windows of the last 1 dimension(s) as `output_size` says."""

def add(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``input + alpha * other``, element by element."""

def add_(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, alpha: builtins.complex = ...) -> Tensor:
    """``input + alpha * other``, element by element."""

def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2).sum(0)``; with `beta` 0, NaN in `input` has no effect."""

def addbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2).sum(0)``; with `beta` 0, NaN in `input` has no effect."""

def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``input + value * tensor1 / tensor2``."""

def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ...) -> Tensor:
    """``input + value * tensor1 / tensor2``."""

def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``input + value * tensor1 * tensor2``."""

def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: builtins.complex = ...) -> Tensor:
    """``input + value * tensor1 * tensor2``."""

def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; with `beta` 0, NaN in `input` has no effect."""

def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; with `beta` 0, NaN in `input` has no effect."""

def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``; with `beta` 0, NaN in `input` has no effect."""

def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``; with `beta` 0, NaN in `input` has no effect."""

def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``; with `beta` 0, NaN in `input` has no effect."""

def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``; with `beta` 0, NaN in `input` has no effect."""

def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, conjugated."""

def alias_copy(input: Tensor, *, out: Any = ...) -> Tensor:
    """`alias`, in new memory."""

def all(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """Whether all elements, over `dim` or at all, are nonzero; bool (uint8 for uint8)."""

def allclose(input: Tensor, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ...) -> builtins.bool:
    """Whether all elements are close; see `isclose`."""

def amax(input: Tensor, dim: builtins.int | Sequence[builtins.int] = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """The greatest element over `dim`, or of all; NaN if any is NaN."""

def amin(input: Tensor, dim: builtins.int | Sequence[builtins.int] = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """The smallest element over `dim`, or of all; NaN if any is NaN."""

def aminmax(input: Tensor, *, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., out: Any = ...) -> _aminmax_result:
    """The smallest and the greatest element along `dim`, or of all: `amin` and `amax` as a named tuple."""

def angle(input: Tensor, *, out: Any = ...) -> Tensor:
    """The angle of complex numbers in radians; pi for negative reals."""

def any(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """Whether any element, over `dim` or at all, is nonzero; bool (uint8 for uint8)."""

def arange(start: builtins.complex, end: builtins.complex | None = ..., step: builtins.complex = ..., *, out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Numbers from `start` to before `end` in steps of `step`: ``arange(end)`` or ``arange(start, end[, step])``."""

def argmax(input: Tensor, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """The int64 index of the first greatest element along `dim`, or in row-major order; of the first NaN if any."""

def argmin(input: Tensor, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """The int64 index of the first smallest element along `dim`, or in row-major order; of the first NaN if any."""

def argsort(input: Tensor, dim: builtins.int = ..., descending: builtins.bool = ..., *, stable: builtins.bool = ..., out: Any = ...) -> Tensor:
    """The int64 indices that order the elements along `dim`, as `sort` gives them."""

def argwhere(input: Tensor) -> Tensor:
    """``nonzero(input)``."""

def as_strided(input: Tensor, size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], storage_offset: builtins.int | None = ...) -> Tensor:
    """A view with the given sizes and strides, at `storage_offset` elements from the start of the storage."""

def as_strided_copy(input: Tensor, size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], storage_offset: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
    """`as_strided`, in new memory."""

def as_strided_scatter(input: Tensor, src: Tensor, size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], storage_offset: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
    """A copy of `input` with the view of these sizes and strides replaced by `src`."""

def as_tensor(data: Any, dtype: DType | None = ..., device: DeviceLike | None = ...) -> Tensor:
    """`data` as a tensor, sharing memory when it is a tensor or an array that needs no conversion."""

def asarray(obj: Any, *, dtype: DType | None = ..., device: DeviceLike | None = ..., copy: builtins.bool | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """`obj` as a tensor: shares memory where possible unless `copy`; ``copy=False`` forbids copying."""

def asin(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

def asin_(input: Tensor) -> Tensor:
    """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

def arcsin(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

def arcsin_(input: Tensor) -> Tensor:
    """The inverse sine, in radians; NaN outside ``[-1, 1]``."""

def asinh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse hyperbolic sine."""

def asinh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""

def arcsinh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse hyperbolic sine."""

def arcsinh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""

def atan(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse tangent, in radians."""

def atan_(input: Tensor) -> Tensor:
    """The inverse tangent, in radians."""

def arctan(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse tangent, in radians."""

def arctan_(input: Tensor) -> Tensor:
    """The inverse tangent, in radians."""

def atan2(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The angle of the point (x, y) = (`other`, `input`), in radians."""

def atan2_(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (x, y) = (`other`, `input`), in radians."""

def arctan2(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The angle of the point (x, y) = (`other`, `input`), in radians."""

def arctan2_(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (x, y) = (`other`, `input`), in radians."""

def atanh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

def atanh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

def arctanh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

def arctanh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside ``[-1, 1]``."""

def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """0-d tensors as tensors of one element, others as they are; a tuple for several."""

def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Tensors of fewer than two dimensions as ``(1, n)``, others as they are; a tuple for several."""

def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Tensors of fewer than three dimensions as ``(1, n, 1)`` or ``(m, n, 1)``, others as they are."""

def avg_pool1d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., count_include_pad: builtins.bool = ...) -> Tensor:
    """The mean of every window of the last dimension."""

def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``; with `beta` 0, NaN in `input` has no effect."""

def baddbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: builtins.complex = ..., alpha: builtins.complex = ...) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``; with `beta` 0, NaN in `input` has no effect."""

def bartlett_window(window_length: builtins.int, periodic: builtins.bool = ..., *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Bartlett's window, a triangle from 0 to 1 and back; arguments as `hann_window`."""

def bernoulli(input: Tensor, p: builtins.float | None = ..., *, generator: Generator | None = ..., out: Tensor | None = ...) -> Tensor:
    """1 or 0 for each element, 1 with the probability that the element (or the number `p`) says."""

def bincount(input: Tensor, weights: Tensor | None = ..., minlength: builtins.int = ...) -> Tensor:
    """How often each of 0, 1, 2, ... occurs in `input`, or the sum of the weights where it does."""

def binomial(count: Tensor, prob: Tensor, generator: Generator | None = ...) -> Tensor:
    """Numbers of successes among `count` trials that succeed with probability `prob` (Hörmann, 1993)."""

def bitwise_and(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Bitwise and; logical for bools."""

def bitwise_and_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """Bitwise and; logical for bools."""

def bitwise_left_shift(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input << other``; 0 for shifts outside the number of bits."""

def bitwise_left_shift_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """``input << other``; 0 for shifts outside the number of bits."""

def bitwise_not(input: Tensor, *, out: Any = ...) -> Tensor:
    """The complement of all bits; logical for bools."""

def bitwise_not_(input: Tensor) -> Tensor:
    """The complement of all bits; logical for bools."""

def bitwise_or(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Bitwise or; logical for bools."""

def bitwise_or_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """Bitwise or; logical for bools."""

def bitwise_right_shift(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input >> other``, keeping the sign."""

def bitwise_right_shift_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """``input >> other``, keeping the sign."""

def bitwise_xor(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Bitwise exclusive or; logical for bools."""

def bitwise_xor_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """Bitwise exclusive or; logical for bools."""

def blackman_window(window_length: builtins.int, periodic: builtins.bool = ..., *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Blackman's window, ``0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N)``; arguments as `hann_window`."""

def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A matrix with the given matrices along its diagonal, zero elsewhere."""

def bmm(input: Tensor, mat2: Tensor, *, out: Any = ...) -> Tensor:
    """The matrix products of two batches of matrices."""

def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes broadcast to."""

def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Every tensor expanded to the common shape of all."""

def broadcast_to(input: Tensor, size: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`input` expanded to `size`."""

def bucketize(input: Tensor | builtins.complex, boundaries: Tensor, *, out_int32: builtins.bool = ..., right: builtins.bool = ..., out: Any = ...) -> Tensor:
    """The index of the bucket each value falls in; `boundaries` separate the buckets."""

def cartesian_prod(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """All combinations of one element of each 1-D tensor, one a row, the last varying fastest."""

def cat(tensors: Sequence[Tensor], dim: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The tensors one after another along `dim`."""

def concat(tensors: Sequence[Tensor], dim: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The tensors one after another along `dim`."""

def concatenate(tensors: Sequence[Tensor], dim: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The tensors one after another along `dim`."""

def cdist(x1: Tensor, x2: Tensor, p: builtins.float = ..., compute_mode: builtins.str = ...) -> Tensor:
    """The p-norm distances between all rows of `x1` and all rows of `x2`."""

def ceil(input: Tensor, *, out: Any = ...) -> Tensor:
    """The smallest integer not below each element."""

def ceil_(input: Tensor) -> Tensor:
    """The smallest integer not below each element."""

def celu(input: Tensor, alpha: builtins.float = ..., inplace: builtins.bool = ...) -> Tensor:
    """`input` where positive, else ``alpha * expm1(input / alpha)`` (Barron, 2017)."""

def chain_matmul(matrices: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """The product of several matrices, multiplied in the cheapest order."""

def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """Channels of `groups` groups dealt out in turn: [N, g * c, ...] as [N, c * g, ...]."""

def cholesky(input: Tensor, upper: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """As `raxis.linalg.cholesky`, its successor."""

def cholesky_inverse(L: Tensor, upper: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """The inverse of the matrix whose Cholesky factor is `L`."""

def cholesky_solve(input: Tensor, L: Tensor, upper: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """The solution of ``A X = input`` for the matrix A whose Cholesky factor is `L`."""

def chunk(input: Tensor, chunks: builtins.int, dim: builtins.int = ...) -> Tensor:
    """At most `chunks` views of consecutive parts of equal size (the last may be smaller) of one dimension."""

def clamp(input: Tensor, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ..., *, out: Any = ...) -> Tensor:
    """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

def clamp_(input: Tensor, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ...) -> Tensor:
    """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

def clip(input: Tensor, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ..., *, out: Any = ...) -> Tensor:
    """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

def clip_(input: Tensor, min: Tensor | builtins.complex | None = ..., max: Tensor | builtins.complex | None = ...) -> Tensor:
    """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN."""

def clamp_max(input: Tensor, max: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Each element, but at most `max`; see `clamp`."""

def clamp_max_(input: Tensor, max: Tensor | builtins.complex) -> Tensor:
    """Each element, but at most `max`; see `clamp`."""

def clamp_min(input: Tensor, min: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Each element, but at least `min`; see `clamp`."""

def clamp_min_(input: Tensor, min: Tensor | builtins.complex) -> Tensor:
    """Each element, but at least `min`; see `clamp`."""

def clone(input: Tensor, *, memory_format: MemoryFormat | None = ...) -> Tensor:
    """A copy of `input` in new memory; gradients flow through it."""

def column_stack(tensors: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """1-D tensors as the columns of a matrix; matrices one beside another."""

def combinations(input: Tensor, r: builtins.int = ..., with_replacement: builtins.bool = ...) -> Tensor:
    """All combinations of `r` elements of a 1-D tensor, one a row, in the order of `itertools`."""

def complex(real: Tensor, imag: Tensor, *, out: Any = ...) -> Tensor:
    """Complex numbers from their parts."""

def conj(input: Tensor) -> Tensor:
    """The complex conjugate; real tensors themselves."""

def conj_physical(input: Tensor, *, out: Any = ...) -> Tensor:
    """The complex conjugate; same as `conj`, which never is lazy here."""

def conj_physical_(input: Tensor) -> Tensor:
    """The complex conjugate; same as `conj`, which never is lazy here."""

def constant_pad_nd(input: Tensor, pad: builtins.int | Sequence[builtins.int], value: builtins.complex = ...) -> Tensor:
    """`input` with `value` before and after its last dimensions; negative amounts crop."""

def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: Any = ..., dilation: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ...) -> Tensor:
    """Cross-correlation with a kernel over the last 1 dimension(s)."""

def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: Any = ..., dilation: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ...) -> Tensor:
    """Cross-correlation with a kernel over the last 2 dimension(s)."""

def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: Any = ..., dilation: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ...) -> Tensor:
    """Cross-correlation with a kernel over the last 3 dimension(s)."""

def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_padding: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ..., dilation: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Transpose of `conv1d`: every input element adds its multiple of the kernel to the result."""

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_padding: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ..., dilation: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Transpose of `conv2d`: every input element adds its multiple of the kernel to the result."""

def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = ..., stride: builtins.int | Sequence[builtins.int] = ..., padding: builtins.int | Sequence[builtins.int] = ..., output_padding: builtins.int | Sequence[builtins.int] = ..., groups: builtins.int = ..., dilation: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Transpose of `conv3d`: every input element adds its multiple of the kernel to the result."""

def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: builtins.int | Sequence[builtins.int], padding: builtins.int | Sequence[builtins.int], dilation: builtins.int | Sequence[builtins.int], transposed: builtins.bool, output_padding: builtins.int | Sequence[builtins.int], groups: builtins.int) -> Tensor:
    """Cross-correlation of a batch of images with a kernel, or its transpose."""

def copysign(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """The magnitude of `input` with the sign of `other` (also of zeros)."""

def copysign_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """The magnitude of `input` with the sign of `other` (also of zeros)."""

def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlation coefficients of the variables in the rows of `input`."""

def cos(input: Tensor, *, out: Any = ...) -> Tensor:
    """The cosine of radians."""

def cos_(input: Tensor) -> Tensor:
    """The cosine of radians."""

def cosh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The hyperbolic cosine."""

def cosh_(input: Tensor) -> Tensor:
    """The hyperbolic cosine."""

def cosine_similarity(x1: Tensor, x2: Tensor, dim: builtins.int = ..., eps: builtins.float = ...) -> Tensor:
    """The cosine of the angle between vectors along `dim`."""

def count_nonzero(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
    """How many elements are not zero, over `dim` or all; int64."""

def cov(input: Tensor, *, correction: builtins.int = ..., fweights: Tensor | None = ..., aweights: Tensor | None = ...) -> Tensor:
    """The covariance matrix of the variables in the rows of `input`, observations in columns."""

def cross(input: Tensor, other: Tensor, dim: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
    """The cross product of vectors of size 3 along `dim`, by default the first dimension of that size."""

def cummax(input: Tensor, dim: builtins.int, *, out: Any = ...) -> _cummax_result:
    """The greatest element up to and with each, along `dim`, and the last index of it; NaN from the first NaN on."""

def cummin(input: Tensor, dim: builtins.int, *, out: Any = ...) -> _cummin_result:
    """The smallest element up to and with each, along `dim`, and the last index of it; NaN from the first NaN on."""

def cumprod(input: Tensor, dim: builtins.int, *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """Products of the elements up to and with each, along `dim`."""

def cumprod_(input: Tensor, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
    """Products of the elements up to and with each, along `dim`."""

def cumsum(input: Tensor, dim: builtins.int, *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """Sums of the elements up to and with each, along `dim`."""

def cumsum_(input: Tensor, dim: builtins.int, *, dtype: DType | None = ...) -> Tensor:
    """Sums of the elements up to and with each, along `dim`."""

def cumulative_trapezoid(y: Tensor, x: Tensor | None = ..., *, dx: builtins.complex | None = ..., dim: builtins.int = ...) -> Tensor:
    """The integrals up to each place but the first; arguments as `trapezoid`."""

def deg2rad(input: Tensor, *, out: Any = ...) -> Tensor:
    """Degrees to radians."""

def deg2rad_(input: Tensor) -> Tensor:
    """Degrees to radians."""

def det(input: Tensor) -> Tensor:
    """As `raxis.linalg.det`."""

def detach(input: Tensor) -> Tensor:
    """A tensor that shares memory and version counter with `input` and is not part of the tape."""

def detach_(input: Tensor) -> Tensor:
    """Take `input` off the tape, making it a leaf."""

def detach_copy(input: Tensor, *, out: Any = ...) -> Tensor:
    """`detach`, in new memory."""

def diag(input: Tensor, diagonal: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The matrix with a 1-D tensor on its diagonal, or a copy of the diagonal of a matrix."""

def diag_embed(input: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
    """Matrices with the last dimension of `input` on a diagonal, zero elsewhere."""

def diagflat(input: Tensor, offset: builtins.int = ...) -> Tensor:
    """The matrix with all elements of `input` on a diagonal."""

def diagonal(input: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
    """The diagonal of dimensions `dim1` and `dim2` as the last dimension."""

def diagonal_copy(input: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """`diagonal`, in new memory."""

def diagonal_scatter(input: Tensor, src: Tensor, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """`input` with the given diagonal replaced by `src`."""

def diff(input: Tensor, n: builtins.int = ..., dim: builtins.int = ..., prepend: Tensor | None = ..., append: Tensor | None = ..., *, out: Any = ...) -> Tensor:
    """The `n`-th differences of neighbours along `dim` (for bool: whether they differ)."""

def digamma(input: Tensor, *, out: Any = ...) -> Tensor:
    """The derivative of lgamma."""

def digamma_(input: Tensor) -> Tensor:
    """The derivative of lgamma."""

def dist(input: Tensor, other: Tensor, p: Any = ..., *, out: Any = ...) -> Tensor:
    """The `p`-norm of ``input - other``, over all elements."""

def div(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ..., out: Any = ...) -> Tensor:
    """``input / other``, element by element."""

def div_(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ...) -> Tensor:
    """``input / other``, element by element."""

def divide(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ..., out: Any = ...) -> Tensor:
    """``input / other``, element by element."""

def divide_(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ...) -> Tensor:
    """``input / other``, element by element."""

def true_divide(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ..., out: Any = ...) -> Tensor:
    """``input / other``, element by element."""

def true_divide_(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, rounding_mode: builtins.str | None = ...) -> Tensor:
    """``input / other``, element by element."""

def dot(input: Tensor, tensor: Tensor, *, out: Any = ...) -> Tensor:
    """The sum of the products of two vectors."""

def dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Zero elements with probability `p` and scale the others; see `raxis.nn.functional.dropout`."""

def dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """Zero elements with probability `p` and scale the others; see `raxis.nn.functional.dropout`."""

def dsplit(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`tensor_split` of the third dimension of at least three; a number must divide its size."""

def dstack(tensors: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """The tensors, at least 3-D, one after another along the third dimension."""

def einsum(equation: builtins.str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """Sums of products of elements, in Einstein's summation convention."""

def empty(*size: builtins.int | Sequence[builtins.int], out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """A tensor of undefined values; arguments as `zeros`."""

def empty_like(input: Tensor, *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """A tensor of undefined values with `input`'s shape and, unless given, its dtype and device."""

def empty_permuted(size: builtins.int | Sequence[builtins.int], physical_layout: builtins.int | Sequence[builtins.int], *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A dense tensor of undefined values, whose dimensions lie in memory in this order, the outermost first."""

def empty_strided(size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int], *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A tensor of undefined values with these strides (in elements)."""

def eq(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input == other``, as bools."""

def eq_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input == other``, as bools."""

def equal(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether two tensors have the same shape and equal elements (NaN equals nothing)."""

def erf(input: Tensor, *, out: Any = ...) -> Tensor:
    """The error function."""

def erf_(input: Tensor) -> Tensor:
    """The error function."""

def erfc(input: Tensor, *, out: Any = ...) -> Tensor:
    """``1 - erf(input)``, accurate for large elements."""

def erfc_(input: Tensor) -> Tensor:
    """``1 - erf(input)``, accurate for large elements."""

def erfinv(input: Tensor, *, out: Any = ...) -> Tensor:
    """The inverse of erf; NaN outside ``[-1, 1]``."""

def erfinv_(input: Tensor) -> Tensor:
    """The inverse of erf; NaN outside ``[-1, 1]``."""

def exp(input: Tensor, *, out: Any = ...) -> Tensor:
    """e to the power of each element."""

def exp_(input: Tensor) -> Tensor:
    """e to the power of each element."""

def exp2(input: Tensor, *, out: Any = ...) -> Tensor:
    """2 to the power of each element."""

def exp2_(input: Tensor) -> Tensor:
    """2 to the power of each element."""

def expand_copy(input: Tensor, size: builtins.int | Sequence[builtins.int], *, out: Any = ...) -> Tensor:
    """`expand`, in new memory."""

def expm1(input: Tensor, *, out: Any = ...) -> Tensor:
    """``exp(input) - 1``, accurate near 0."""

def expm1_(input: Tensor) -> Tensor:
    """``exp(input) - 1``, accurate near 0."""

def eye(n: builtins.int, m: builtins.int | None = ..., *, out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere."""

def fill(input: Tensor, value: Tensor | builtins.complex) -> Tensor:
    """A tensor like `input` with every element `value`; see `fill_`."""

def fill_(input: Tensor, value: Tensor | builtins.complex) -> Tensor:
    """Write `value` over every element."""

def flatten(input: Tensor, start_dim: builtins.int = ..., end_dim: builtins.int = ...) -> Tensor:
    """Dimensions `start_dim` to `end_dim` merged into one; a view if possible."""

def flip(input: Tensor, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
    """The order of elements reversed along `dims`."""

def fliplr(input: Tensor) -> Tensor:
    """The second dimension reversed; `input` has at least two."""

def flipud(input: Tensor) -> Tensor:
    """The first dimension reversed; `input` has at least one."""

def float_power(input: Tensor | builtins.complex, exponent: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """`input` to the power of `exponent`, computed in float64 (complex128 if either is complex)."""

def floor(input: Tensor, *, out: Any = ...) -> Tensor:
    """The largest integer not above each element."""

def floor_(input: Tensor) -> Tensor:
    """The largest integer not above each element."""

def floor_divide(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input / other`` rounded towards minus infinity, as Python's ``//``."""

def floor_divide_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """``input / other`` rounded towards minus infinity, as Python's ``//``."""

def fmax(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The larger of two elements; NaN only if both are NaN."""

def fmin(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The smaller of two elements; NaN only if both are NaN."""

def fmod(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """The remainder of ``input / other`` with the sign of `input`, as C's ``fmod``."""

def fmod_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """The remainder of ``input / other`` with the sign of `input`, as C's ``fmod``."""

def frac(input: Tensor, *, out: Any = ...) -> Tensor:
    """The part of each element after the decimal point."""

def frac_(input: Tensor) -> Tensor:
    """The part of each element after the decimal point."""

def frexp(input: Tensor, *, out: Any = ...) -> _frexp_result:
    """Mantissa in [0.5, 1) and exponent with ``input = mantissa * 2 ** exponent``; zeros and non-finite stay."""

def full(size: builtins.int | Sequence[builtins.int], fill_value: builtins.complex, *, out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A tensor with every element `fill_value`."""

def full_like(input: Tensor, fill_value: builtins.complex, *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """`fill_value` everywhere, with `input`'s shape and, unless given, its dtype and device."""

def gather(input: Tensor, dim: builtins.int, index: Tensor, *, sparse_grad: builtins.bool = ..., out: Any = ...) -> Tensor:
    """``result[i, j] = input[index[i, j], j]`` for ``dim=0``, and so on."""

def gcd(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The greatest common divisor, by Euclid's algorithm."""

def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisor, by Euclid's algorithm."""

def ge(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input >= other``, as bools."""

def ge_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input >= other``, as bools."""

def greater_equal(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input >= other``, as bools."""

def greater_equal_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input >= other``, as bools."""

def geqrf(input: Tensor, *, out: Any = ...) -> _geqrf_result:
    """The QR factorization, Q as reflections: `a` has R in its upper triangle and the vectors below, see `orgqr`."""

def get_device(input: Tensor) -> builtins.int:
    """The index of the device; -1 for the CPU."""

def gradient(input: Tensor, *, spacing: Any = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., edge_order: builtins.int = ...) -> tuple[Tensor, ...]:
    """The derivative along each of `dim`, by central differences inside and one-sided ones at the edges."""

def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """`raxis.nn.functional.grid_sample` of images."""

def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """`raxis.nn.functional.grid_sample` of volumes: [N, C, D, H, W] at [N, D', H', W', 3]; see `grid_sampler_2d`."""

def gt(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input > other``, as bools."""

def gt_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input > other``, as bools."""

def greater(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input > other``, as bools."""

def greater_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input > other``, as bools."""

def hamming_window(window_length: builtins.int, periodic: builtins.bool = ..., alpha: builtins.float = ..., beta: builtins.float = ..., *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Hamming's window, ``alpha - beta * cos(2 pi n / N)``; other arguments as `hann_window`."""

def hann_window(window_length: builtins.int, periodic: builtins.bool = ..., *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Hann's window, ``sin(pi n / N) ** 2``."""

def hardshrink(input: Tensor, lambd: builtins.float = ..., *, out: Any = ...) -> Tensor:
    """`input` where ``abs(input) > lambd``, else 0."""

def heaviside(input: Tensor, values: Tensor, *, out: Any = ...) -> Tensor:
    """The step function: 0 below zero, 1 above, `values` at zero; NaN counts as below."""

def heaviside_(input: Tensor, values: Tensor) -> Tensor:
    """The step function: 0 below zero, 1 above, `values` at zero; NaN counts as below."""

def histc(input: Tensor, bins: builtins.int = ..., min: Any = ..., max: Any = ..., *, out: Any = ...) -> Tensor:
    """How many elements fall in each of `bins` equal intervals; elements outside and NaN are not counted."""

def histogram(input: Tensor, bins: Any, *, range: builtins.float | Sequence[builtins.float] | None = ..., weight: Tensor | None = ..., density: builtins.bool = ..., out: Any = ...) -> _histogram_result:
    """How many elements fall in each bin, and the edges of the bins; the last bin has both its edges."""

def histogramdd(input: Tensor, bins: Any, range: builtins.float | Sequence[builtins.float] | None = ..., weight: Tensor | None = ..., density: builtins.bool = ...) -> _histogramdd_result:
    """How many points fall in each bin of a grid, and a list of the edges along each dimension."""

def hsplit(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`tensor_split` of the second dimension (the only one of 1-D tensors); a number must divide its size."""

def hstack(tensors: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """The tensors one after another along the second dimension (the first of 1-D tensors)."""

def hypot(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """``sqrt(input**2 + other**2)`` without overflow."""

def hypot_(input: Tensor, other: Tensor) -> Tensor:
    """``sqrt(input**2 + other**2)`` without overflow."""

def i0(input: Tensor, *, out: Any = ...) -> Tensor:
    """The modified Bessel function of the first kind, order 0."""

def i0_(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, order 0."""

def igamma(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other); it has no derivative in `input`."""

def igamma_(input: Tensor, other: Tensor) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other); it has no derivative in `input`."""

def igammac(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The regularised upper incomplete gamma function Q(input, other); it has no derivative in `input`."""

def igammac_(input: Tensor, other: Tensor) -> Tensor:
    """The regularised upper incomplete gamma function Q(input, other); it has no derivative in `input`."""

def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view."""

def index_add(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """`input` with ``alpha * source[i]`` added to its slice ``index[i]`` along `dim`."""

def index_add_(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: builtins.complex = ...) -> Tensor:
    """`input` with ``alpha * source[i]`` added to its slice ``index[i]`` along `dim`."""

def index_copy(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, *, out: Any = ...) -> Tensor:
    """`input` with its slice ``index[i]`` along `dim` replaced by ``source[i]``."""

def index_copy_(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
    """`input` with its slice ``index[i]`` along `dim` replaced by ``source[i]``."""

def index_fill(input: Tensor, dim: builtins.int, index: Tensor, value: Tensor | builtins.complex) -> Tensor:
    """`input` with its slices at `index` along `dim` filled with `value`."""

def index_put(input: Tensor, indices: Sequence[Tensor] | None, values: Tensor, accumulate: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """`input` with `values` written at the positions that ``input[indices]`` reads."""

def index_reduce(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = ..., out: Any = ...) -> Tensor:
    """`input` with ``source[i]`` combined into its slice ``index[i]`` along `dim`."""

def index_select(input: Tensor, dim: builtins.int, index: Tensor, *, out: Any = ...) -> Tensor:
    """The slices of dimension `dim` at `index`."""

def inner(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """Products summed over the last dimensions; of a 0-d operand, the products."""

def inverse(input: Tensor, *, out: Any = ...) -> Tensor:
    """As `raxis.linalg.inv`."""

def is_complex(input: Tensor) -> builtins.bool:
    """Whether the dtype is complex."""

def is_conj(input: Tensor) -> builtins.bool:
    """False: conjugation is never left for later."""

def is_floating_point(input: Tensor) -> builtins.bool:
    """Whether the dtype is a real floating point one."""

def is_neg(input: Tensor) -> builtins.bool:
    """False: negation is never left for later."""

def is_nonzero(input: Tensor) -> builtins.bool:
    """Whether the only element differs from zero."""

def is_same_size(input: Tensor, other: Tensor) -> builtins.bool:
    """Whether both have the same shape."""

def is_signed(input: Tensor) -> builtins.bool:
    """Whether the dtype has negative numbers."""

def is_tensor(obj: Any) -> builtins.bool:
    """Whether `obj` is a Tensor."""

def isclose(input: Tensor, other: Tensor, rtol: builtins.float = ..., atol: builtins.float = ..., equal_nan: builtins.bool = ...) -> Tensor:
    """Whether ``|input - other| <= atol + rtol * |other|``, element by element."""

def isfinite(input: Tensor) -> Tensor:
    """Whether each element is neither infinite nor NaN."""

def isin(elements: Tensor | builtins.complex, test_elements: Tensor | builtins.complex, *, assume_unique: builtins.bool = ..., invert: builtins.bool = ..., out: Any = ...) -> Tensor:
    """Whether each of `elements` is among `test_elements`."""

def isinf(input: Tensor) -> Tensor:
    """Whether each element is infinite."""

def isnan(input: Tensor) -> Tensor:
    """Whether each element is NaN."""

def isneginf(input: Tensor, *, out: Any = ...) -> Tensor:
    """Whether each element is -inf."""

def isposinf(input: Tensor, *, out: Any = ...) -> Tensor:
    """Whether each element is +inf."""

def isreal(input: Tensor) -> Tensor:
    """Whether each element has no imaginary part."""

def istft(input: Tensor, n_fft: builtins.int, hop_length: builtins.int | None = ..., win_length: builtins.int | None = ..., window: Tensor | None = ..., center: builtins.bool = ..., normalized: builtins.bool = ..., onesided: builtins.bool | None = ..., length: builtins.int | None = ..., return_complex: builtins.bool = ...) -> Tensor:
    """The signal whose `stft` is `input`, as least squares see it: overlapping frames are added and normalised."""

def kaiser_window(window_length: builtins.int, periodic: builtins.bool = ..., beta: builtins.float = ..., *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Kaiser's window, ``i0(beta * sqrt(1 - (2 n / N - 1) ** 2)) / i0(beta)``; other arguments as `hann_window`."""

def kron(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The Kronecker product: every element of `input` times all of `other`, as blocks."""

def kthvalue(input: Tensor, k: builtins.int, dim: builtins.int = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> _kthvalue_result:
    """The `k`-th smallest element along `dim`, counted from 1, and its index. NaN counts as the greatest."""

def lcm(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The least common multiple; 0 if either is 0."""

def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiple; 0 if either is 0."""

def ldexp(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """``input * 2 ** other``."""

def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """``input * 2 ** other``."""

def le(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input <= other``, as bools."""

def le_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input <= other``, as bools."""

def less_equal(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input <= other``, as bools."""

def less_equal_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input <= other``, as bools."""

def lerp(input: Tensor, end: Tensor, weight: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input + weight * (end - input)``, exact at both ends."""

def lerp_(input: Tensor, end: Tensor, weight: Tensor | builtins.complex) -> Tensor:
    """``input + weight * (end - input)``, exact at both ends."""

def lgamma(input: Tensor, *, out: Any = ...) -> Tensor:
    """The logarithm of the magnitude of the gamma function."""

def lgamma_(input: Tensor) -> Tensor:
    """The logarithm of the magnitude of the gamma function."""

def linspace(start: builtins.complex, end: builtins.complex, steps: builtins.int, *, out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """`steps` equally spaced numbers from `start` to `end`, both included."""

def log(input: Tensor, *, out: Any = ...) -> Tensor:
    """The natural logarithm; NaN below 0."""

def log_(input: Tensor) -> Tensor:
    """The natural logarithm; NaN below 0."""

def log10(input: Tensor, *, out: Any = ...) -> Tensor:
    """The logarithm to base 10."""

def log10_(input: Tensor) -> Tensor:
    """The logarithm to base 10."""

def log1p(input: Tensor, *, out: Any = ...) -> Tensor:
    """``log(1 + input)``, accurate near 0."""

def log1p_(input: Tensor) -> Tensor:
    """``log(1 + input)``, accurate near 0."""

def log2(input: Tensor, *, out: Any = ...) -> Tensor:
    """The logarithm to base 2."""

def log2_(input: Tensor) -> Tensor:
    """The logarithm to base 2."""

def log_softmax(input: Tensor, dim: builtins.int, dtype: DType | None = ..., *, out: Any = ...) -> Tensor:
    """``log(softmax(input))`` along a dimension, accurate also where the softmax underflows."""

def logaddexp(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """``log(exp(input) + exp(other))`` without overflow."""

def logaddexp2(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """``log2(2**input + 2**other)`` without overflow."""

def logcumsumexp(input: Tensor, dim: builtins.int, *, out: Any = ...) -> Tensor:
    """``log(cumsum(exp(input)))`` along `dim`, without overflow."""

def logdet(input: Tensor) -> Tensor:
    """The logarithms of the determinants: NaN for negative ones, -inf for 0."""

def logical_and(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """Whether both elements are not zero."""

def logical_and_(input: Tensor, other: Tensor) -> Tensor:
    """Whether both elements are not zero."""

def logical_not(input: Tensor, *, out: Any = ...) -> Tensor:
    """Whether each element is zero."""

def logical_not_(input: Tensor) -> Tensor:
    """Whether each element is zero."""

def logical_or(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """Whether either element is not zero."""

def logical_or_(input: Tensor, other: Tensor) -> Tensor:
    """Whether either element is not zero."""

def logical_xor(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """Whether exactly one element is not zero."""

def logical_xor_(input: Tensor, other: Tensor) -> Tensor:
    """Whether exactly one element is not zero."""

def logit(input: Tensor, eps: builtins.float | None = ..., *, out: Any = ...) -> Tensor:
    """The inverse of sigmoid, ``log(input / (1 - input))``."""

def logit_(input: Tensor, eps: builtins.float | None = ...) -> Tensor:
    """The inverse of sigmoid, ``log(input / (1 - input))``."""

def logspace(start: builtins.complex, end: builtins.complex, steps: builtins.int, base: builtins.float = ..., *, out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """``base ** linspace(start, end, steps)``."""

def logsumexp(input: Tensor, dim: builtins.int | Sequence[builtins.int], keepdim: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """``log(sum(exp(input)))`` over `dim`, without overflow."""

def lt(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input < other``, as bools."""

def lt_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input < other``, as bools."""

def less(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input < other``, as bools."""

def less_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input < other``, as bools."""

def lu(input: Tensor, pivot: builtins.bool = ..., get_infos: builtins.bool = ..., *, out: Any = ...) -> tuple[Tensor, ...]:
    """LU and pivots as `raxis.linalg.lu_factor`, its successor, and also info (as a third result) if asked."""

def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = ...) -> Tensor:
    """The solution of ``A X = input``, given A's factors; `raxis.linalg.lu_solve` is its successor."""

def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: builtins.bool = ..., unpack_pivots: builtins.bool = ..., *, out: Any = ...) -> _lu_unpack_result:
    """P, L and U from what `raxis.linalg.lu_factor` gives; empty tensors for what is not unpacked."""

def masked_fill(input: Tensor, mask: Tensor, value: Tensor | builtins.complex) -> Tensor:
    """`input` with `value` where `mask` is True."""

def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`input` with consecutive elements of `source` where `mask` is True."""

def masked_select(input: Tensor, mask: Tensor, *, out: Any = ...) -> Tensor:
    """The elements where `mask` is True, in one dimension."""

def matmul(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The matrix product of vectors, matrices and batches of matrices."""

def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices, by Taylor's polynomial with scaling and squaring."""

def matrix_power(input: Tensor, n: builtins.int, *, out: Any = ...) -> Tensor:
    """The `n`-th power of square matrices, by repeated squaring."""

def max(input: Tensor, dim: Any = ..., keepdim: builtins.bool = ..., *, other: Tensor | None = ...) -> Tensor:
    """The greatest element: of all, along `dim` with its index, or of two tensors element by element."""

def max_pool1d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., dilation: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., return_indices: builtins.bool = ...) -> Tensor:
    """The greatest element of every window of the last 1 dimension(s)."""

def max_pool2d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., dilation: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., return_indices: builtins.bool = ...) -> Tensor:
    """The greatest element of every window of the last 2 dimension(s)."""

def max_pool3d(input: Tensor, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = ..., padding: builtins.int | Sequence[builtins.int] = ..., dilation: builtins.int | Sequence[builtins.int] = ..., ceil_mode: builtins.bool = ..., return_indices: builtins.bool = ...) -> Tensor:
    """The greatest element of every window of the last 3 dimension(s)."""

def maximum(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The larger of two elements; NaN if either is NaN."""

def mean(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The mean over `dim`, or over all elements; NaN over no elements."""

def median(input: Tensor, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Tensor:
    """The median of all elements, or along `dim` with its index; of an even number, the lower of the two."""

def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: builtins.str = ...) -> Tensor:
    """Coordinates of a grid: tensor i varies along dimension i and repeats along the others."""

def min(input: Tensor, dim: Any = ..., keepdim: builtins.bool = ..., *, other: Tensor | None = ...) -> Tensor:
    """The smallest element: of all, along `dim` with its index, or of two tensors element by element."""

def minimum(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The smaller of two elements; NaN if either is NaN."""

def mm(input: Tensor, mat2: Tensor, *, out: Any = ...) -> Tensor:
    """The matrix product of two matrices."""

def mode(input: Tensor, dim: builtins.int = ..., keepdim: builtins.bool = ..., *, out: Any = ...) -> _mode_result:
    """The most frequent element along `dim` and an index of it; of several, the smallest."""

def movedim(input: Tensor, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`input` with the dimensions `source` moved to the positions `destination`; the others keep their order."""

def moveaxis(input: Tensor, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`input` with the dimensions `source` moved to the positions `destination`; the others keep their order."""

def msort(input: Tensor, *, out: Any = ...) -> Tensor:
    """The elements ordered along the first dimension."""

def mul(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input * other``, element by element."""

def mul_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """``input * other``, element by element."""

def multiply(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input * other``, element by element."""

def multiply_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """``input * other``, element by element."""

def multinomial(input: Tensor, num_samples: builtins.int, replacement: builtins.bool = ..., *, generator: Generator | None = ..., out: Tensor | None = ...) -> Tensor:
    """Indices drawn with the probabilities (not necessarily normalised) of each row."""

def mv(input: Tensor, vec: Tensor, *, out: Any = ...) -> Tensor:
    """The product of a matrix and a vector."""

def mvlgamma(input: Tensor, p: builtins.int, *, out: Any = ...) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`."""

def mvlgamma_(input: Tensor, p: builtins.int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`."""

def nan_to_num(input: Tensor, nan: builtins.float | None = ..., posinf: builtins.float | None = ..., neginf: builtins.float | None = ..., *, out: Any = ...) -> Tensor:
    """NaN and infinities replaced by numbers."""

def nan_to_num_(input: Tensor, nan: builtins.float | None = ..., posinf: builtins.float | None = ..., neginf: builtins.float | None = ...) -> Tensor:
    """NaN and infinities replaced by numbers."""

def nanmean(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The mean over `dim`, or over all elements, of those that are not NaN."""

def nanmedian(input: Tensor, dim: builtins.int | None = ..., keepdim: builtins.bool = ...) -> Tensor:
    """The median, as `median`, of the elements that are not NaN; NaN if all are."""

def nanquantile(input: Tensor, q: Tensor | builtins.complex, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, interpolation: builtins.str = ..., out: Any = ...) -> Tensor:
    """The `q`-th quantiles, as `quantile`, of the elements that are not NaN."""

def nansum(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The sum over `dim`, or over all elements, with NaN counted as zero."""

def narrow(input: Tensor, dim: builtins.int, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
    """The elements `start` to ``start + length`` (exclusive) of one dimension."""

def narrow_copy(input: Tensor, dim: builtins.int, start: builtins.int, length: builtins.int, *, out: Any = ...) -> Tensor:
    """`narrow`, in new memory."""

def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: builtins.bool, momentum: builtins.float, eps: builtins.float) -> tuple[Tensor, ...]:
    """`raxis.nn.functional.batch_norm`, the means and the inverse standard deviations; those are empty off training."""

def native_dropout(input: Tensor, p: builtins.float, train: builtins.bool | None = ...) -> _native_dropout_result:
    """`input` with elements zeroed with probability `p` and the others scaled by ``1 / (1 - p)``; and the kept mask."""

def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: builtins.float, *, out: Any = ...) -> Tensor:
    """The gradient of `raxis.native_dropout`: ``grad_output * mask * scale``."""

def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: builtins.int, C: builtins.int, HxW: builtins.int, group: builtins.int, eps: builtins.float) -> tuple[Tensor, ...]:
    """`raxis.nn.functional.group_norm`, the means and the inverse standard deviations, [N, group]."""

def native_layer_norm(input: Tensor, normalized_shape: builtins.int | Sequence[builtins.int], weight: Tensor | None, bias: Tensor | None, eps: builtins.float) -> tuple[Tensor, ...]:
    """`raxis.nn.functional.layer_norm`, the means and the inverse standard deviations."""

def ne(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input != other``, as bools."""

def ne_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input != other``, as bools."""

def not_equal(input: Tensor, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """Whether ``input != other``, as bools."""

def not_equal_(input: Tensor, other: Tensor | builtins.complex) -> Tensor:
    """Whether ``input != other``, as bools."""

def neg(input: Tensor, *, out: Any = ...) -> Tensor:
    """``-input``."""

def neg_(input: Tensor) -> Tensor:
    """``-input``."""

def negative(input: Tensor, *, out: Any = ...) -> Tensor:
    """``-input``."""

def negative_(input: Tensor) -> Tensor:
    """``-input``."""

def nextafter(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The next representable number after `input` towards `other`."""

def nextafter_(input: Tensor, other: Tensor) -> Tensor:
    """The next representable number after `input` towards `other`."""

def nonzero(input: Tensor, *, as_tuple: builtins.bool = ..., out: Any = ...) -> Tensor:
    """Indices of the elements that are not zero, in row-major order."""

def nonzero_static(input: Tensor, *, size: builtins.int, fill_value: builtins.int = ..., out: Any = ...) -> Tensor:
    """The first `size` rows of `nonzero`; missing rows are filled with `fill_value`."""

def norm(input: Tensor, p: Any = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The `p`-norm of the elements over `dim`, or of all; `raxis.linalg.norm` is its successor."""

def normal(mean: Tensor | builtins.complex, std: Tensor | builtins.complex = ..., size: builtins.int | Sequence[builtins.int] | None = ..., *, generator: Generator | None = ..., out: Tensor | None = ..., **options: Any) -> Tensor:
    """Normal numbers whose means and standard deviations are numbers or tensors (broadcast)."""

def numel(input: Tensor) -> builtins.int:
    """The number of elements."""

def ones(*size: builtins.int | Sequence[builtins.int], out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A tensor of ones; arguments as `zeros`."""

def ones_like(input: Tensor, *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """Ones with `input`'s shape and, unless given, its dtype and device."""

def orgqr(input: Tensor, tau: Tensor, *, out: Any = ...) -> Tensor:
    """As `raxis.linalg.householder_product`."""

def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: builtins.bool = ..., transpose: builtins.bool = ..., *, out: Any = ...) -> Tensor:
    """The product of `other` and the square Q of `geqrf`'s reflections."""

def outer(input: Tensor, vec2: Tensor, *, out: Any = ...) -> Tensor:
    """All products of an element of `input` and one of `vec2`."""

def ger(input: Tensor, vec2: Tensor, *, out: Any = ...) -> Tensor:
    """All products of an element of `input` and one of `vec2`."""

def pairwise_distance(x1: Tensor, x2: Tensor, p: builtins.float = ..., eps: builtins.float = ..., keepdim: builtins.bool = ...) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""

def pca_lowrank(A: Tensor, q: builtins.int | None = ..., center: builtins.bool = ..., niter: builtins.int = ...) -> tuple[Tensor, ...]:
    """Principal components: `svd_lowrank` of A less the mean of its rows."""

def pdist(input: Tensor, p: builtins.float = ...) -> Tensor:
    """The p-norm distances between all pairs of rows, in the order (0, 1), (0, 2), ..., (1, 2), ..."""

def permute(input: Tensor, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`input` with its dimensions in the order `dims`."""

def permute_copy(input: Tensor, dims: builtins.int | Sequence[builtins.int], *, out: Any = ...) -> Tensor:
    """`permute`, in new memory."""

def pinverse(input: Tensor, rcond: Any = ...) -> Tensor:
    """The pseudo-inverse, singular values of at most `rcond` times the greatest taken as 0; see `raxis.linalg.pinv`."""

def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """[*, C * r * r, H, W] as [*, C, H * r, W * r]."""

def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """[*, C, H * r, W * r] as [*, C * r * r, H, W]: the inverse of `pixel_shuffle`."""

def poisson(input: Tensor, generator: Generator | None = ...) -> Tensor:
    """Counts of the Poisson distribution, whose rates are `input`'s elements (Hörmann, 1993)."""

def polar(abs: Tensor, angle: Tensor, *, out: Any = ...) -> Tensor:
    """Complex numbers from magnitude and angle."""

def polygamma(n: builtins.int, input: Tensor, *, out: Any = ...) -> Tensor:
    """The derivative of order `n` of digamma."""

def positive(input: Tensor) -> Tensor:
    """`input` itself."""

def pow(input: Tensor | builtins.complex, exponent: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """`input` to the power of `exponent`, element by element."""

def pow_(input: Tensor | builtins.complex, exponent: Tensor | builtins.complex) -> Tensor:
    """`input` to the power of `exponent`, element by element."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where positive, else ``weight * input`` (He et al., 2015)."""

def prod(input: Tensor, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The product over `dim`, or over all elements."""

def put(input: Tensor, index: Tensor, source: Tensor, accumulate: builtins.bool = ...) -> Tensor:
    """`input` with the elements of `source` written, or added, at flat positions."""

def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: builtins.bool = ...) -> Tensor:
    """`input` with the elements of `source` written, or added, at flat positions."""

def qr(input: Tensor, some: builtins.bool = ..., *, out: Any = ...) -> _qr_result:
    """As `raxis.linalg.qr`, its successor, with mode ``'reduced'`` or (not `some`) ``'complete'``."""

def quantile(input: Tensor, q: Tensor | builtins.complex, dim: builtins.int | None = ..., keepdim: builtins.bool = ..., *, interpolation: builtins.str = ..., out: Any = ...) -> Tensor:
    """The `q`-th quantiles along `dim`, or of all elements; NaN where any element is NaN."""

def rad2deg(input: Tensor, *, out: Any = ...) -> Tensor:
    """Radians to degrees."""

def rad2deg_(input: Tensor) -> Tensor:
    """Radians to degrees."""

def rand(*size: builtins.int | Sequence[builtins.int], generator: Generator | None = ..., out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Numbers uniform on [0, 1)."""

def rand_like(input: Tensor, *, generator: Generator | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """Numbers uniform on [0, 1) with `input`'s shape and, unless given, its dtype and device."""

def randint(low: builtins.int, high: builtins.int | None = ..., size: builtins.int | Sequence[builtins.int] | None = ..., *, generator: Generator | None = ..., out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Integers uniform on ``[low, high)``: ``randint(high, size)`` or ``randint(low, high, size)``."""

def randint_like(input: Tensor, low: builtins.int, high: builtins.int | None = ..., *, generator: Generator | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """Integers uniform on ``[low, high)`` with `input`'s shape and, unless given, its dtype and device."""

def randn(*size: builtins.int | Sequence[builtins.int], generator: Generator | None = ..., out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """Normal numbers of mean 0 and variance 1 (Box and Muller, 1958); arguments as `rand`."""

def randn_like(input: Tensor, *, generator: Generator | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """Normal numbers with `input`'s shape and, unless given, its dtype and device."""

def randperm(n: builtins.int, *, generator: Generator | None = ..., out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """The integers 0 to ``n - 1`` in random order."""

def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension, in row-major order; a view if possible."""

def real(input: Tensor) -> Tensor:
    """The real part, as a view; real tensors themselves."""

def reciprocal(input: Tensor, *, out: Any = ...) -> Tensor:
    """``1 / input``."""

def reciprocal_(input: Tensor) -> Tensor:
    """``1 / input``."""

def relu(input: Tensor) -> Tensor:
    """``max(input, 0)``; NaN stays."""

def relu_(input: Tensor) -> Tensor:
    """``max(input, 0)``; NaN stays."""

def remainder(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """The remainder of ``input / other`` with the sign of `other`, as Python's ``%``."""

def remainder_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """The remainder of ``input / other`` with the sign of `other`, as Python's ``%``."""

def renorm(input: Tensor, p: Any, dim: builtins.int, maxnorm: Any, *, out: Any = ...) -> Tensor:
    """The slices of `input` along `dim`, those whose `p`-norm exceeds `maxnorm` scaled down to it."""

def renorm_(input: Tensor, p: Any, dim: builtins.int, maxnorm: Any) -> Tensor:
    """The slices of `input` along `dim`, those whose `p`-norm exceeds `maxnorm` scaled down to it."""

def repeat_interleave(input: Tensor, repeats: builtins.int, dim: builtins.int | None = ..., *, output_size: builtins.int | None = ...) -> Tensor:
    """Each element, or each slice of `dim`, repeated in place."""

def reshape(input: Tensor, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
    """The same elements in another shape: a view where strides allow it, else a copy."""

def resize_as_(input: Tensor, the_template: Tensor) -> Tensor:
    """Change the shape in place to `the_template`'s."""

def resolve_conj(input: Tensor) -> Tensor:
    """`input` itself: conjugates are never lazy here."""

def resolve_neg(input: Tensor) -> Tensor:
    """`input` itself: negation is never lazy here."""

def roll(input: Tensor, shifts: builtins.int | Sequence[builtins.int], dims: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """Elements moved by `shifts` places along `dims`, those pushed out coming in at the other end."""

def rot90(input: Tensor, k: builtins.int = ..., dims: builtins.int | Sequence[builtins.int] = ...) -> Tensor:
    """`input` rotated by `k` quarter turns in the plane of two dimensions, from the first towards the second."""

def round(input: Tensor, *, decimals: builtins.int = ..., out: Any = ...) -> Tensor:
    """Each element rounded to the nearest integer, ties to even, or to a number of decimals."""

def round_(input: Tensor, *, decimals: builtins.int = ...) -> Tensor:
    """Each element rounded to the nearest integer, ties to even, or to a number of decimals."""

def rrelu(input: Tensor, lower: builtins.float = ..., upper: builtins.float = ..., training: builtins.bool = ..., inplace: builtins.bool = ...) -> Tensor:
    """leaky_relu with a slope drawn from ``[lower, upper]`` for each element; its mean outside training."""

def rsqrt(input: Tensor, *, out: Any = ...) -> Tensor:
    """``1 / sqrt(input)``."""

def rsqrt_(input: Tensor) -> Tensor:
    """``1 / sqrt(input)``."""

def rsub(input: Tensor, other: Tensor | builtins.complex, *, alpha: builtins.complex = ...) -> Tensor:
    """``other - alpha * input``; see `sub`."""

def scalar_tensor(s: builtins.complex, *, dtype: DType | None = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A 0-d tensor holding one number; without `dtype` of the default float dtype."""

def scatter(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor | builtins.complex, *, reduce: builtins.str | None = ..., out: Any = ...) -> Tensor:
    """`input` with ``result[index[i, j], j] = src[i, j]`` for ``dim=0``, and so on."""

def scatter_add(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, *, out: Any = ...) -> Tensor:
    """`input` with ``result[index[i, j], j] += src[i, j]`` for ``dim=0``, and so on."""

def scatter_add_(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
    """`input` with ``result[index[i, j], j] += src[i, j]`` for ``dim=0``, and so on."""

def scatter_reduce(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = ..., out: Any = ...) -> Tensor:
    """`input` with ``src[i, j]`` combined into element ``[index[i, j], j]`` for ``dim=0``, and so on."""

def scatter_reduce_(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = ...) -> Tensor:
    """`input` with ``src[i, j]`` combined into element ``[index[i, j], j]`` for ``dim=0``, and so on."""

def searchsorted(sorted_sequence: Tensor, input: Tensor | builtins.complex, *, out_int32: builtins.bool = ..., right: builtins.bool = ..., side: builtins.str | None = ..., sorter: Tensor | None = ..., out: Any = ...) -> Tensor:
    """Where each value would be inserted to keep the last dimension of `sorted_sequence` in order."""

def segment_reduce(data: Tensor, reduce: builtins.str, *, lengths: Tensor | None = ..., indices: Tensor | None = ..., offsets: Tensor | None = ..., axis: builtins.int = ..., unsafe: builtins.bool = ..., initial: Any = ...) -> Tensor:
    """Reduce consecutive segments of `data` along `axis`."""

def select(input: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
    """The slice at `index` of dimension `dim`, without that dimension."""

def select_copy(input: Tensor, dim: builtins.int, index: builtins.int, *, out: Any = ...) -> Tensor:
    """`select`, in new memory."""

def select_scatter(input: Tensor, src: Tensor, dim: builtins.int, index: builtins.int, *, out: Any = ...) -> Tensor:
    """`input` with its slice at `index` of dimension `dim` replaced by `src`."""

def selu(input: Tensor, inplace: builtins.bool = ...) -> Tensor:
    """The scaled elu that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""

def sgn(input: Tensor, *, out: Any = ...) -> Tensor:
    """The sign -1, 0 or 1; complex: ``input / abs(input)``."""

def sgn_(input: Tensor) -> Tensor:
    """The sign -1, 0 or 1; complex: ``input / abs(input)``."""

def sigmoid(input: Tensor, *, out: Any = ...) -> Tensor:
    """The logistic function ``1 / (1 + exp(-input))``."""

def sigmoid_(input: Tensor) -> Tensor:
    """The logistic function ``1 / (1 + exp(-input))``."""

def sign(input: Tensor, *, out: Any = ...) -> Tensor:
    """The sign of each element: -1, 0 or 1."""

def sign_(input: Tensor) -> Tensor:
    """The sign of each element: -1, 0 or 1."""

def signbit(input: Tensor, *, out: Any = ...) -> Tensor:
    """Whether the sign bit is set, also that of -0."""

def sin(input: Tensor, *, out: Any = ...) -> Tensor:
    """The sine of radians."""

def sin_(input: Tensor) -> Tensor:
    """The sine of radians."""

def sinc(input: Tensor, *, out: Any = ...) -> Tensor:
    """``sin(pi * input) / (pi * input)``, 1 at 0."""

def sinc_(input: Tensor) -> Tensor:
    """``sin(pi * input) / (pi * input)``, 1 at 0."""

def sinh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The hyperbolic sine."""

def sinh_(input: Tensor) -> Tensor:
    """The hyperbolic sine."""

def slice_scatter(input: Tensor, src: Tensor, dim: builtins.int = ..., start: builtins.int | None = ..., end: builtins.int | None = ..., step: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """`input` with the elements start, start + step, ... below `end` of dimension `dim` replaced by `src`."""

def slogdet(input: Tensor, *, out: Any = ...) -> _slogdet_result:
    """As `raxis.linalg.slogdet`."""

def softmax(input: Tensor, dim: builtins.int, dtype: DType | None = ..., *, out: Any = ...) -> Tensor:
    """``exp(input) / sum(exp(input))`` along a dimension, without overflow."""

def sort(input: Tensor, dim: builtins.int = ..., descending: builtins.bool = ..., *, stable: builtins.bool | None = ..., out: Any = ...) -> _sort_result:
    """The elements ordered along `dim`, and the int64 indices they came from. NaN counts as the greatest."""

def split(tensor: Tensor, split_size_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
    """Views of consecutive parts of one dimension."""

def split_with_sizes(input: Tensor, split_sizes: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
    """Views of consecutive parts of one dimension, of the given sizes."""

def split_with_sizes_copy(input: Tensor, split_sizes: builtins.int | Sequence[builtins.int], dim: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """`split_with_sizes`, in new memory."""

def sqrt(input: Tensor, *, out: Any = ...) -> Tensor:
    """The square root; NaN below 0."""

def sqrt_(input: Tensor) -> Tensor:
    """The square root; NaN below 0."""

def square(input: Tensor, *, out: Any = ...) -> Tensor:
    """``input * input``."""

def square_(input: Tensor) -> Tensor:
    """``input * input``."""

def squeeze(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ...) -> Tensor:
    """`input` without its dimensions of size 1, or without those among `dim`."""

def squeeze_copy(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., *, out: Any = ...) -> Tensor:
    """`squeeze`, in new memory."""

def stack(tensors: Sequence[Tensor], dim: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The tensors along a new dimension `dim`."""

def std(input: Tensor, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: Any = ...) -> Tensor:
    """The standard deviation over `dim`, or of all elements: the root of `var`."""

def std_mean(input: Tensor, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: Any = ...) -> Tensor:
    """The pair of `std` and `mean` over `dim`, or of all elements."""

def stft(input: Tensor, n_fft: builtins.int, hop_length: builtins.int | None = ..., win_length: builtins.int | None = ..., window: Tensor | None = ..., center: builtins.bool = ..., pad_mode: builtins.str = ..., normalized: builtins.bool = ..., onesided: builtins.bool | None = ..., return_complex: builtins.bool | None = ..., align_to_window: builtins.bool | None = ...) -> Tensor:
    """The Fourier transforms of frames of `n_fft` elements, `hop_length` apart, multiplied by a window."""

def sub(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``input - alpha * other``, element by element."""

def sub_(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, alpha: builtins.complex = ...) -> Tensor:
    """``input - alpha * other``, element by element."""

def subtract(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, alpha: builtins.complex = ..., out: Any = ...) -> Tensor:
    """``input - alpha * other``, element by element."""

def subtract_(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, alpha: builtins.complex = ...) -> Tensor:
    """``input - alpha * other``, element by element."""

def sum(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The sum over `dim`, or over all elements."""

def svd(input: Tensor, some: builtins.bool = ..., compute_uv: builtins.bool = ..., *, out: Any = ...) -> _svd_result:
    """As `raxis.linalg.svd`, its successor, but V instead of its conjugate transpose."""

def svd_lowrank(A: Tensor, q: builtins.int | None = ..., niter: builtins.int | None = ..., M: Tensor | None = ...) -> tuple[Tensor, ...]:
    """The greatest singular values of a matrix, and their vectors, by a random projection."""

def swapaxes(input: Tensor, axis0: builtins.int, axis1: builtins.int) -> Tensor:
    """Alias of `transpose`."""

def swapdims(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """Alias of `transpose`."""

def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; tensors of fewer dimensions themselves."""

def t_copy(input: Tensor, *, out: Any = ...) -> Tensor:
    """`t`, in new memory."""

def take(input: Tensor, index: Tensor, *, out: Any = ...) -> Tensor:
    """The elements at flat positions, in the shape of `index`."""

def take_along_dim(input: Tensor, indices: Tensor, dim: builtins.int | None = ..., *, out: Any = ...) -> Tensor:
    """`gather` after broadcasting the dimensions other than `dim`; without `dim`, of the flat tensors."""

def tan(input: Tensor, *, out: Any = ...) -> Tensor:
    """The tangent of radians."""

def tan_(input: Tensor) -> Tensor:
    """The tangent of radians."""

def tanh(input: Tensor, *, out: Any = ...) -> Tensor:
    """The hyperbolic tangent."""

def tanh_(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""

def tensor(data: Any, *, dtype: DType | None = ..., device: DeviceLike | None = ..., requires_grad: builtins.bool = ..., pin_memory: builtins.bool = ...) -> Tensor:
    """A tensor with a copy of Python numbers, nested sequences of them, an array or a tensor."""

def tensor_split(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
    """Views of consecutive parts of one dimension: a number of nearly equal parts, or cut at given indices."""

def tensordot(a: Tensor, b: Tensor, dims: Any = ..., *, out: Any = ...) -> Tensor:
    """Products summed over pairs of dimensions."""

def threshold(input: Tensor, threshold: builtins.float, value: builtins.float, inplace: builtins.bool = ...) -> Tensor:
    """`input` where above `threshold`, else `value`."""

def tile(input: Tensor, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`input` repeated along each dimension; missing leading counts are 1."""

def topk(input: Tensor, k: builtins.int, dim: builtins.int = ..., largest: builtins.bool = ..., sorted: builtins.bool = ..., *, out: Any = ...) -> _topk_result:
    """The `k` greatest (or smallest) elements along `dim` in order, and their indices. NaN counts as the greatest."""

def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix; int64 for integers."""

def transpose(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> Tensor:
    """`input` with two dimensions exchanged."""

def transpose_copy(input: Tensor, dim0: builtins.int, dim1: builtins.int, *, out: Any = ...) -> Tensor:
    """`transpose`, in new memory."""

def trapezoid(y: Tensor, x: Tensor | None = ..., *, dx: builtins.complex | None = ..., dim: builtins.int = ...) -> Tensor:
    """The integral along `dim` by the trapezoidal rule."""

def trapz(y: Tensor, x: Tensor | None = ..., *, dx: builtins.complex | None = ..., dim: builtins.int = ...) -> Tensor:
    """The integral along `dim` by the trapezoidal rule."""

def triangular_solve(input: Tensor, A: Tensor, upper: builtins.bool = ..., transpose: builtins.bool = ..., unitriangular: builtins.bool = ..., *, out: Any = ...) -> _triangular_solve_result:
    """The solution of ``A X = input`` with triangular A, and a copy of A; see `raxis.linalg.solve_triangular`."""

def tril(input: Tensor, diagonal: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The lower triangle of matrices, zero elsewhere."""

def tril_(input: Tensor, diagonal: builtins.int = ...) -> Tensor:
    """The lower triangle of matrices, zero elsewhere."""

def tril_indices(row: builtins.int, col: builtins.int, offset: builtins.int = ..., *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ...) -> Tensor:
    """Coordinates of the elements on and below a diagonal: shape ``(2, count)``, int64 by default."""

def triu(input: Tensor, diagonal: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The upper triangle of matrices, zero elsewhere."""

def triu_(input: Tensor, diagonal: builtins.int = ...) -> Tensor:
    """The upper triangle of matrices, zero elsewhere."""

def triu_indices(row: builtins.int, col: builtins.int, offset: builtins.int = ..., *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ...) -> Tensor:
    """Coordinates of the elements on and above a diagonal: shape ``(2, count)``, int64 by default."""

def trunc(input: Tensor, *, out: Any = ...) -> Tensor:
    """Each element rounded towards zero."""

def trunc_(input: Tensor) -> Tensor:
    """Each element rounded towards zero."""

def fix(input: Tensor, *, out: Any = ...) -> Tensor:
    """Each element rounded towards zero."""

def fix_(input: Tensor) -> Tensor:
    """Each element rounded towards zero."""

def unbind(input: Tensor, dim: builtins.int = ...) -> Tensor:
    """The slices of one dimension, without it."""

def unbind_copy(input: Tensor, dim: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """`unbind`, in new memory."""

def unflatten(input: Tensor, dim: builtins.int, sizes: builtins.int | Sequence[builtins.int]) -> Tensor:
    """Dimension `dim` split into dimensions of the given sizes; one may be -1."""

def unfold_copy(input: Tensor, dimension: builtins.int, size: builtins.int, step: builtins.int, *, out: Any = ...) -> Tensor:
    """`unfold`, in new memory."""

def unique(input: Tensor, sorted: builtins.bool = ..., return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ...) -> Tensor:
    """The distinct elements in ascending order, or the distinct slices along `dim`. Every NaN is distinct."""

def unique_consecutive(input: Tensor, return_inverse: builtins.bool = ..., return_counts: builtins.bool = ..., dim: builtins.int | None = ...) -> Tensor:
    """The first element of every run of equal elements, or the first of equal slices along `dim`."""

def unravel_index(indices: Tensor, shape: builtins.int | Sequence[builtins.int]) -> Tensor:
    """The index along every dimension of flat row-major positions in a tensor of `shape`."""

def unsafe_chunk(input: Tensor, chunks: builtins.int, dim: builtins.int = ...) -> Tensor:
    """`chunk` whose results may be written in place under the tape."""

def unsafe_split(tensor: Tensor, split_size: builtins.int, dim: builtins.int = ...) -> Tensor:
    """`split` whose results may be written in place under the tape."""

def unsafe_split_with_sizes(input: Tensor, split_sizes: builtins.int | Sequence[builtins.int], dim: builtins.int = ...) -> Tensor:
    """`split_with_sizes` whose results may be written in place under the tape."""

def unsqueeze(input: Tensor, dim: builtins.int) -> Tensor:
    """`input` with a new dimension of size 1 at `dim`."""

def unsqueeze_copy(input: Tensor, dim: builtins.int, *, out: Any = ...) -> Tensor:
    """`unsqueeze`, in new memory."""

def var(input: Tensor, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: Any = ...) -> Tensor:
    """The variance over `dim`, or of all elements: ``sum(abs(x - mean) ** 2) / max(0, n - correction)``."""

def var_mean(input: Tensor, dim: Any = ..., unbiased: builtins.bool | None = ..., keepdim: builtins.bool = ..., *, correction: Any = ...) -> Tensor:
    """The pair of `var` and `mean` over `dim`, or of all elements."""

def vdot(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """The sum of the products of two vectors, the first conjugated."""

def view_as_complex(input: Tensor) -> Tensor:
    """A complex view of a real tensor whose last dimension has size 2."""

def view_as_real(input: Tensor) -> Tensor:
    """A real view of a complex tensor, with a last dimension of size 2 for the parts."""

def view_copy(input: Tensor, size: builtins.int | Sequence[builtins.int], *, out: Any = ...) -> Tensor:
    """`view`, in new memory."""

def vsplit(input: Tensor, indices_or_sections: builtins.int | Sequence[builtins.int]) -> Tensor:
    """`tensor_split` of the first dimension of at least two; a number must divide its size."""

def vstack(tensors: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """The tensors, at least 2-D, one after another along the first dimension."""

def row_stack(tensors: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """The tensors, at least 2-D, one after another along the first dimension."""

def where(condition: Tensor, input: Tensor | builtins.complex | None = ..., other: Tensor | builtins.complex | None = ...) -> Tensor:
    """The elements of `input` where `condition` is true, else of `other`."""

def xlogy(input: Tensor | builtins.complex, other: Tensor | builtins.complex, *, out: Any = ...) -> Tensor:
    """``input * log(other)``, and 0 where `input` is 0 (unless `other` is NaN)."""

def xlogy_(input: Tensor | builtins.complex, other: Tensor | builtins.complex) -> Tensor:
    """``input * log(other)``, and 0 where `input` is 0 (unless `other` is NaN)."""

def zero_(input: Tensor) -> Tensor:
    """Write 0 over every element."""

def zeros(*size: builtins.int | Sequence[builtins.int], out: Tensor | None = ..., dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ...) -> Tensor:
    """A tensor of zeros."""

def zeros_like(input: Tensor, *, dtype: DType | None = ..., layout: Any = ..., device: DeviceLike | None = ..., pin_memory: builtins.bool = ..., requires_grad: builtins.bool = ..., memory_format: MemoryFormat | None = ...) -> Tensor:
    """Zeros with `input`'s shape and, unless given, its dtype and device."""
