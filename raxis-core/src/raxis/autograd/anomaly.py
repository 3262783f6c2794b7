"""Anomaly mode: remember the forward line of each node and look for NaN in backward."""

from __future__ import annotations

import threading
from typing import Any

from raxis.autograd.grad_mode import ever
from raxis.frames import user_frame


class _State(threading.local):
    """Whether nodes remember their forward line, and whether backward looks for NaN."""

    enabled: bool = False
    check_nan: bool = True


state = _State()


def checks_nan() -> bool:
    """Whether backward looks for NaN."""
    return state.enabled and state.check_nan


def user_line() -> str:
    """The innermost frame outside Raxis, as ``file:line in function: source``."""
    import linecache

    frame, _ = user_frame()
    name, number = frame.f_code.co_filename, frame.f_lineno
    source = linecache.getline(name, number).strip()
    return f"{name}:{number} in {frame.f_code.co_name}: {source}"


class set_detect_anomaly:
    """Switch anomaly mode at once, and back at the end of a ``with`` block.

    Args:
        mode: on or off.
        check_nan: also raise when a backward step makes NaN.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        ever.observed = True
        self._before = (state.enabled, state.check_nan)
        state.enabled, state.check_nan = mode, check_nan

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: Any) -> None:
        state.enabled, state.check_nan = self._before


class detect_anomaly(set_detect_anomaly):
    """``with detect_anomaly():`` errors in backward name the forward line that made the failing node."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)
