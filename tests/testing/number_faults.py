"""Faults of arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from raxis import dtypes
from tests.testing.planting import (
    renamed,
    rewriting,
    with_attribute,
    wrong_numbers,
)

wrong_numbers("SlightlyWrongExp", "exp", "primitives/exp*", lambda y, _: y * y.dtype.type(1.01))
wrong_numbers("NaNLost", "maximum", "primitives/special/maximum*", lambda y, xs: np.fmax(*xs))
wrong_numbers(
    "InfinityLost", "exp", "primitives/special/exp*", lambda y, _: np.nan_to_num(y, posinf=3e38, nan=np.nan)
)
wrong_numbers("NegativeZeroLost", "neg", "primitives/special/neg*", lambda y, _: y + 0)
wrong_numbers("LowPrecision", "add", "primitives/add?float64?", lambda y, _: np.float32(y) * 1.0000001)
wrong_numbers("NarrowIntegers", "add", "programs/scalars", lambda y, _: np.int64(np.int32(y & 0x7FFFFFFF)))
wrong_numbers("EmptySum", "reduce_sum", "primitives/reduce_sum*", lambda y, xs: y if xs[0].size else y + 1)
wrong_numbers("LastOfEquals", "argmax", "primitives/argmax*",
              lambda y, xs: y if not y.size or xs[0].ndim > 1 else xs[0].size - 1 - np.argmax(xs[0][::-1]))  # fmt: skip
wrong_numbers(
    "LargeResultLost", "reduce_sum", "programs/large", lambda y, xs: y if xs[0].size < 2**16 else y * 0
)
wrong_numbers(
    "ScalarTimesTwo",
    "broadcast",
    "programs/scalars",
    lambda y, xs: y * 2 if any(x is None for x in xs) else y,
)
wrong_numbers("RankZeroForgotten", "mul", "primitives/mul*", lambda y, _: y if y.ndim else 0)
wrong_numbers("TransposedProduct", "dot_general", "primitives/dot_general*",
              lambda y, _: y.reshape(-1)[::-1].reshape(y.shape))  # fmt: skip
wrong_numbers("RoundingCast", "cast", "primitives/cast?float32?",
              lambda y, xs: np.round(xs[0]).astype(y.dtype) if y.dtype.kind == "i" else y)  # fmt: skip

rewriting("OtherPrimitive", "primitives/sub*", renamed("sub", "add"))
rewriting("ConjugateIgnored", "primitives/conj*", renamed("conj", "neg"))
rewriting("ShiftIsOther", "primitives/shift_*", renamed("shift_right", "shift_left"))
rewriting("GreaterOrEqual", "primitives/g*", renamed("gt", "ge"))
rewriting("OddDtype", "primitives/add?int16?", lambda item: replace(item, primitive="mul")
          if item.primitive == "add" and item.results[0].type.dtype is dtypes.int16 else item)  # fmt: skip
rewriting("AscendingAlways", "primitives/sort*", with_attribute("sort", "descending", lambda _: False))
rewriting("ScatterWithoutAdding", "primitives/scatter*", with_attribute("scatter", "reduce", lambda _: "set"))
rewriting("DilationIgnored", "primitives/convolution*",
          with_attribute("convolution", "dilation", lambda dilation: (1,) * len(dilation)))  # fmt: skip
