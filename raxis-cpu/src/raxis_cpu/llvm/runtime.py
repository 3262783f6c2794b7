"""The runtime table: what generated code calls outside itself, as an array of addresses.

Code finds the table's own address in its parameters, so object code has no symbols to resolve, and one copy on disk
serves every process.
"""

from __future__ import annotations

import ctypes

from raxis.errors import IndexOutOfRangeError
from raxis_cpu.llvm.ir import PTR, Function, Value

_FUNCTIONS = (
    "PyLong_AsLongLong",
    "PyLong_AsUnsignedLongLongMask",
    "PyFloat_AsDouble",
    "PyObject_IsTrue",
    "PyComplex_RealAsDouble",
    "PyComplex_ImagAsDouble",
    "PyErr_Occurred",
    "PyErr_SetString",
    "PyErr_Format",
    "PyErr_NoMemory",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "Py_IncRef",
    "PyMem_RawMalloc",
    "PyMem_RawFree",
)
(
    AS_INTEGER,
    AS_BITS,
    AS_DOUBLE,
    IS_TRUE,
    REAL_PART,
    IMAGINARY_PART,
    ERROR_OCCURRED,
    SET_ERROR,
    FORMAT_ERROR,
    NO_MEMORY,
    RELEASE_GIL,
    ACQUIRE_GIL,
    INCREMENT,
    MALLOC,
    FREE,
    NONE,
    INDEX_ERROR,
    RUNTIME_ERROR,
    TYPE_ERROR,
    PARALLEL_FOR,
    THREADS,
    DIRECTION,
) = range(22)

_EXCEPTIONS = (IndexOutOfRangeError, RuntimeError, TypeError)


def _entries() -> list[int]:
    functions = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in _FUNCTIONS
    ]
    return [*functions, id(None), *map(id, _EXCEPTIONS), 0, 1, 0]


_table = (ctypes.c_uint64 * 22)(*_entries())

ADDRESS: int = ctypes.addressof(_table)
"""Where the table is."""


def set_parallel_for(address: int, threads: int) -> None:
    """Let kernels run large work in parallel.

    Args:
        address: of a C function ``void parallel_for(void (*task)(void *, int64_t), void *argument, int64_t count)``
            that calls ``task(argument, index)`` for every index in [0, count), from any threads that do not hold
            the GIL, and returns when all calls have. 0 makes kernels serial.
        threads: how many threads it uses; work is split into a few parts for each.
    """
    _table[PARALLEL_FOR] = address
    _table[THREADS] = threads if address else 1


def function_pointer(function: Function, parameters: Value, entry: int) -> str:
    """The name of a value that holds an entry of the table."""
    table = function.load(PTR, parameters)
    return function.load(PTR, function.advance(table, entry, 8)).name
