"""Where the user's code is on the stack, for warnings and for anomaly mode."""

from __future__ import annotations

import os
import sys
from types import FrameType

_INTERNAL = (f"{sys.modules['raxis'].__path__[0]}{os.sep}", "<raxis", "<reference kernel")
"""How the file names of Raxis' own code begin, generated code included."""


def user_frame() -> tuple[FrameType, int]:
    """The innermost frame outside Raxis, and its distance from the caller of the caller (which is 1)."""
    frame, distance = sys._getframe(2), 1
    while frame.f_back is not None and is_internal(frame):
        frame = frame.f_back
        distance += 1
    return frame, distance


def is_internal(frame: FrameType) -> bool:
    """Whether a frame runs Raxis' own code."""
    return frame.f_code.co_filename.startswith(_INTERNAL)


def user_stacklevel() -> int:
    """The `stacklevel` with which a warning names the user's line."""
    return user_frame()[1]
