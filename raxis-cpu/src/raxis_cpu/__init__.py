"""The device ``cpu`` of Raxis.

This module is what the entry point names: it imports the standard library only; `load` imports the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raxis_cpu.backend import CpuBackend

API = (1, 0)
"""The version of `raxis.backends.api` that this plugin was written for."""


def probe() -> str | None:
    """None when the device can be used here, else one sentence saying why not."""
    import sys

    if sys.byteorder != "little":
        return (
            "raxis-cpu needs a little-endian processor; set RAXIS_CPU=reference to use raxis-core's backend."
        )
    from raxis_cpu.requirements import missing

    return missing()


def load() -> CpuBackend:
    """The backend object.

    Raises:
        ImportError: if a library it stands on is of the wrong kind; with the command that mends it.
    """
    from raxis_cpu.requirements import check

    check()
    from raxis_cpu.backend import CpuBackend

    return CpuBackend()
