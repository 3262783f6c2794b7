"""What a recording cannot go through: values on the host, and shapes that depend on values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from raxis.compiler.recording import Recording, user_line
from raxis.interception import active
from raxis.placement import in_vmap


class CompileError(RuntimeError):
    """A compiled function did something that cannot be part of a program."""


class RegionError(CompileError):
    """A function given to `raxis.cond`, `while_loop`, `scan` or `map` cannot become a part of a program.

    Args:
        line: the user's line.
        reason: what happened there.
        advice: what to do instead.
    """

    def __init__(self, line: str, reason: str, advice: str) -> None:
        super().__init__(f"{line}: {reason}. {advice}")
        self.reason = reason


def interrupt(
    recording: Recording,
    reason: str,
    advice: str = "which has no values while it is recorded. Return the tensor and look at it outside",
) -> None:
    """End a recording where the function needs values, or another device; what was recorded is computed now.

    Raises:
        CompileError: if the function was compiled with ``on_break="error"``, or runs on stand-ins only.
    """
    line = user_line()
    if recording.regions:
        reason += " inside a function given to raxis.cond, while_loop, scan or map"
        raise RegionError(line, reason, "It has no values while it is recorded; use tensor operations only.")
    recording.unrepeatable = f"{reason} at {line}"
    recording.finish()
    if recording.options.on_break == "error":
        raise CompileError(
            f"{line}: {reason} inside a compiled function, {advice}, or compile with "
            'on_break="eager" to run such calls op by op.'
        )


def refuse(recording: Recording, reason: str, advice: str) -> NoReturn:
    """End a recording that would not do what the function does, since something is a copy.

    Raises:
        CompileError: always.
    """
    line = user_line()
    if recording.regions:
        raise RegionError(line, reason, advice)
    recording.unrepeatable = f"{reason} at {line}"
    recording.finish()
    raise CompileError(f"{line}: {reason} inside a compiled function, where x[i] is a copy. {advice}")


def either(recorded: Callable[[Recording], Any], eager: Callable[[], Any]) -> Any:
    """What runs here: as part of a recording, or now."""
    recording = active.recording
    if recording is None or in_vmap():  # there, every op records what it does for all examples
        return eager()
    try:
        return recorded(recording)
    except RegionError as error:
        if recording.regions or recording.options.on_break == "error":
            raise
        reason = error.reason
    interrupt(recording, reason)
    return eager()
