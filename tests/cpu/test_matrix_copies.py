"""Copies of matrices between layouts."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from raxis_cpu.library.matrix_copies_ir import COPY, copy_function
from raxis_cpu.llvm.compile import Code, compile, host

LAYOUTS: dict[str, Callable[[int, int, Any], np.ndarray]] = {
    "by rows": lambda rows, columns, dtype: np.empty((rows, columns), dtype),
    "by columns": lambda rows, columns, dtype: np.empty((columns, rows), dtype).T,
    "apart": lambda rows, columns, dtype: np.empty((2 * rows + 1, 3 * columns + 1), dtype)[1::2, 1::3],
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_every_layout(dtype: Any, rng: np.random.Generator) -> None:
    size = np.dtype(dtype).itemsize
    text = copy_function(size).replace("internal void", "void")
    code = Code(compile(f'target triple = "{host().triple}"\n{text}', host()))
    words = [ctypes.c_int64] * 2
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *words, ctypes.c_void_p, *words, *words)
    copy = prototype(code.address(COPY))
    for rows, columns in ((0, 3), (1, 1), (2, 8), (7, 16), (16, 16), (17, 31), (40, 33), (33, 1)):
        for make_source in LAYOUTS.values():
            for make_target in LAYOUTS.values():
                source, target = make_source(rows, columns, dtype), make_target(rows, columns, dtype)
                source[...] = rng.standard_normal((rows, columns))
                strides = [[step // size for step in array.strides] for array in (source, target)]
                copy(source.ctypes.data, *strides[0], target.ctypes.data, *strides[1], rows, columns)
                np.testing.assert_array_equal(target, source)
