"""The number of threads that compute on device ``cpu``."""

from __future__ import annotations

from raxis.backends import get


def set_num_threads(count: int) -> None:
    """Let `count` threads work on one op of device ``cpu``.

    The default is OMP_NUM_THREADS where that is set, else the number of processors this process may use.

    Args:
        count: 1 or more.

    Raises:
        TypeError: if `count` is not an integer.
        RuntimeError: if it is not positive, or more than the backend can use.

    Example:
        >>> import raxis
        >>> raxis.set_num_threads(raxis.get_num_threads())
    """
    if type(count) is not int:
        raise TypeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, but got {count}")
    get("cpu").set_num_threads(count)


def get_num_threads() -> int:
    """How many threads work on one op of device ``cpu``.

    Example:
        >>> import raxis
        >>> raxis.get_num_threads() >= 1
        True
    """
    return get("cpu").get_num_threads()
