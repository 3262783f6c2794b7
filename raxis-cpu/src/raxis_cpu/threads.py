"""The one pool of native threads that generated kernels share.

Threads of the pool never run Python code and never touch the GIL. They are started by the first job that can use them.
One job runs at a time: another one that comes meanwhile, from another Python thread or from inside a job, runs in its
caller's thread alone, which neither blocks nor takes more processors than there are.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import threading
from typing import Any

from raxis_cpu.blas import numpy_blas
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.runtime import set_parallel_for
from raxis_cpu.threads_ir import MAX_THREADS, pool_ir

Body = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
"""The C type of a job's body: (argument, begin, end)."""

_ParallelFor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def default_num_threads() -> int:
    """OMP_NUM_THREADS (its first number) if set to a positive integer, else the processors this process may use.

    Example:
        >>> default_num_threads() >= 1
        True
    """
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdecimal() and int(first) > 0:
        return min(int(first), MAX_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MAX_THREADS)
    return min(os.cpu_count() or 1, MAX_THREADS)


def keep_for_ever(code: Code) -> None:
    """Never unload the code: daemon threads of the program may run it until the very end of the process."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))


class ThreadPool:
    """Native threads that share ranges of work; `thread_pool` returns the one of this process.

    Thread-safe. A forked child starts threads of its own when it needs them; at exit all threads end. Without POSIX
    threads all work is done in the callers' threads.

    Args:
        count: how many threads work on one range, the caller's included.
    """

    def __init__(self, count: int) -> None:
        self._code = Code(compile(pool_ir(host().triple, getattr(signal, "SIG_SETMASK", None)), host()))
        keep_for_ever(self._code)
        self.parallel_for = self._code.address("parallel_for")
        """Address of the C function ``void(void (*body)(void *, int64, int64), void *, int64 count, int64 grain)``.

        It calls ``body(argument, begin, end)`` for pieces that cover [0, count) and returns when all are done. Every
        `begin` is a multiple of `grain`, at least 1; ranges of up to `grain` are not split.
        """
        self.for_each = self._code.address("for_each")
        """Address of the C function ``void(void (*task)(void *, int64), void *, int64 count)``.

        It calls ``task(argument, index)`` for every index in [0, count) and returns when all are done.
        """
        self._reset, self._stop = (self._function(name) for name in ("reset", "stop"))
        self._set_limit = self._function("set_limit", ctypes.c_int64)
        self._reset()
        self.set_num_threads(count)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)
        atexit.register(self._stop)

    def _function(self, name: str, *types: Any) -> Any:
        return ctypes.CFUNCTYPE(None, *types)(self._code.address(name))

    @property
    def num_threads(self) -> int:
        """How many threads work on one range."""
        return self._count

    def set_num_threads(self, count: int) -> None:
        """Let `count` threads, the caller's included, work on one range."""
        self._count = count
        self._set_limit(count)
        set_parallel_for(self.for_each, count)

    def run(self, body: Any, argument: int, count: int, grain: int) -> None:
        """Call `parallel_for` from Python with the GIL released; `body` is a C function or its address."""
        target = ctypes.cast(body, ctypes.c_void_p)
        _ParallelFor(self.parallel_for)(target, argument, count, grain)


_pool: ThreadPool | None = None
"""The pool of this process, made at first use."""
_lock = threading.Lock()


def thread_pool() -> ThreadPool:
    """The pool of this process."""
    global _pool  # noqa: PLW0603  the one place that makes it
    # Without the lock once there is a pool: a forked child would find it held for ever.
    if _pool is None:
        with _lock:
            if _pool is None:
                _pool = ThreadPool(default_num_threads())
                _limit_blas(_pool.num_threads)
    return _pool


def _limit_blas(count: int) -> None:
    """NumPy's BLAS may have counted its threads before the process was confined to fewer processors."""
    blas = numpy_blas()
    if blas is not None and blas.get_num_threads() > count:
        blas.set_num_threads(count)


def set_num_threads(count: int) -> None:
    """Let `count` threads work on one kernel, and on one call of NumPy's BLAS where that is OpenBLAS.

    Raises:
        RuntimeError: if `count` is not between 1 and `MAX_THREADS`.
    """
    if not 1 <= count <= MAX_THREADS:
        raise RuntimeError(f"set_num_threads expected 1 to {MAX_THREADS} threads, but got {count}.")
    thread_pool().set_num_threads(count)
    blas = numpy_blas()
    if blas is not None:
        blas.set_num_threads(count)


def get_num_threads() -> int:
    """How many threads work on one kernel."""
    return thread_pool().num_threads
