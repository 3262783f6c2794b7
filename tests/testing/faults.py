"""All ways to break a device that the kit must notice."""

from __future__ import annotations

from tests.testing import call_faults, claim_faults, memory_faults, number_faults  # noqa: F401 - they register
from tests.testing.claim_faults import GOOD
from tests.testing.loopback import Loopback
from tests.testing.planting import FAULTS, MODULES


def source(name: str) -> str:
    """The plugin module of a fault."""
    if name in MODULES:
        return MODULES[name][0].replace("{name!r}", repr(device_of(name)))
    made = GOOD.replace(
        "from tests.testing.loopback import Loopback", "from tests.testing.faults import make"
    )
    return made.replace("Loopback({name!r})", f"make({name!r})")


def make(name: str) -> Loopback:
    """The device with a fault."""
    return FAULTS[name][0](device_of(name))


def device_of(name: str) -> str:
    """The device type of a fault."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def pattern_of(name: str) -> str:
    """The cases that must notice a fault."""
    return FAULTS[name][1] if name in FAULTS else MODULES[name][1]


NAMES = [*FAULTS, *MODULES]
