"""What a recording cannot go through: values on the host, and shapes that depend on values."""

from __future__ import annotations

from raxis.compiler.recording import Recording, user_line


class CompileError(RuntimeError):
    """A compiled function did something that cannot be part of a program."""


def interrupt(recording: Recording, reason: str) -> None:
    """End a recording where the function needs values; what was recorded is computed now.

    Raises:
        CompileError: if the function was compiled with ``on_break="error"``.
    """
    line = user_line()
    recording.unrepeatable = f"{reason} at {line}"
    recording.finish()
    if recording.options.on_break == "error":
        raise CompileError(
            f"{line}: {reason} inside a compiled function, which has no values while it is recorded. Return the tensor "
            'and look at it outside, or compile with on_break="eager" to run such calls op by op.'
        )
