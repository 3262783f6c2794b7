"""Environment variables: the one place that names, reads and parses them.

A variable is read when its value is needed, never at import. Empty means unset. A value that is not
understood is an error that says what is accepted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from raxis.backends import messages
from raxis.device import Device

if TYPE_CHECKING:
    from pathlib import Path

LOG_TOPICS = ("compile", "passes", "kernels", "guards", "plugins", "debug")
"""What RAXIS_LOG may name; ``debug`` is all of them, with details."""

DumpPolicy = Literal["failures", "all", "off"]
FallbackPolicy = Literal["error", "warn", "cpu"]
CpuPolicy = Literal["plugin", "reference"]
BlasPolicy = Literal["numpy", "mkl"]

VARIABLES: dict[str, str] = {
    "RAXIS_DEVICE": "device of new tensors when none is given; default cpu",
    "RAXIS_PLUGINS": "plugins that may be used: all (default), none, or a comma-separated list",
    "RAXIS_PLUGINS_BLOCK": "plugins that must not be used: a comma-separated list",
    "RAXIS_FALLBACK": "an op the device cannot run: error (default), warn (run on cpu and warn), cpu (run there)",
    "RAXIS_CPU": "what serves the device cpu: plugin (default, raxis-cpu if usable) or reference",
    "RAXIS_BLAS": "library of matrix products on raxis-cpu: numpy (default, its BLAS and kernels of our own) or mkl",
    "RAXIS_OVERRIDES": "implementations of functionals, as in softmax=composed,layer_norm=measured; default none",
    "RAXIS_OVERRIDES_FILE": "JSON file of such policies; default raxis/overrides.json in $XDG_CONFIG_HOME or ~/.config",
    "RAXIS_LOG": "what is logged: a list of compile, passes, kernels, guards, plugins, or debug; default nothing",
    "RAXIS_DUMP": "programs that raxis.compile writes to files: failures (default), all or off",
    "RAXIS_DUMP_DIR": "the folder for them; default a new one in the folder for temporary files",
    "RAXIS_CACHE": "compiled kernels are kept on disk: on (default) or off",
    "RAXIS_CACHE_DIR": "the folder they are kept in; default raxis in $XDG_CACHE_HOME or ~/.cache",
}

_ENTRY = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[a-z_][a-z0-9_]*")


def normalised(name: str) -> str:
    """A distribution's or device's name in the form in which two spellings compare equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Selection(NamedTuple):
    """Which plugins the user admits, by device or distribution name.

    Attributes:
        allowed: normalised names, None for all.
        blocked: normalised names.
    """

    allowed: frozenset[str] | None
    blocked: frozenset[str]

    def refusal(self, *names: str) -> str | None:
        """Why a plugin with these names (device, distribution) must not be used; None if it may be."""
        own = {normalised(name) for name in names}
        if own & self.blocked:
            return messages.blocked_by_list(", ".join(sorted(own & self.blocked)))
        if self.allowed is None or own & self.allowed:
            return None
        return messages.not_allowed(sorted(self.allowed), sorted(own))


class Settings:
    """The variables of one environment, parsed at each use.

    Args:
        environ: mapping to read; the process's environment by default.

    Every property raises ValueError, naming variable, value and what is accepted, if it cannot be parsed.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ

    def raw(self, variable: str) -> str | None:
        """The text of a variable; None when unset or empty."""
        return self._environ.get(variable, "").strip() or None

    @property
    def device_name(self) -> str:
        """RAXIS_DEVICE, by default ``cpu``."""
        text = self.raw("RAXIS_DEVICE")
        if text is None:
            return "cpu"
        try:
            return str(Device(text))
        except RuntimeError as error:
            raise ValueError(f"RAXIS_DEVICE={text!r} does not name a device. {error}") from None

    @property
    def fallback(self) -> FallbackPolicy:
        """RAXIS_FALLBACK."""
        return cast("FallbackPolicy", self._choice("RAXIS_FALLBACK", ("error", "warn", "cpu")))

    @property
    def cpu(self) -> CpuPolicy:
        """RAXIS_CPU."""
        return cast("CpuPolicy", self._choice("RAXIS_CPU", ("plugin", "reference")))

    @property
    def blas(self) -> BlasPolicy:
        """RAXIS_BLAS."""
        return cast("BlasPolicy", self._choice("RAXIS_BLAS", ("numpy", "mkl")))

    @property
    def log_topics(self) -> frozenset[str]:
        """RAXIS_LOG, by default none."""
        names = self._names("RAXIS_LOG")
        for name in names:
            if name not in LOG_TOPICS:
                raise ValueError(messages.bad_choice("RAXIS_LOG", name, LOG_TOPICS, "a list of them"))
        return frozenset(names)

    @property
    def dump(self) -> DumpPolicy:
        """RAXIS_DUMP."""
        return cast("DumpPolicy", self._choice("RAXIS_DUMP", ("failures", "all", "off")))

    @property
    def dump_folder(self) -> Path | None:
        """RAXIS_DUMP_DIR; None if a temporary folder is to be made."""
        from pathlib import Path

        text = self.raw("RAXIS_DUMP_DIR")
        return None if text is None else Path(text).expanduser().absolute()

    @property
    def cache_folder(self) -> Path | None:
        """RAXIS_CACHE_DIR, by default the user's cache folder; None with RAXIS_CACHE=off, and without a home."""
        from pathlib import Path

        if self._choice("RAXIS_CACHE", ("on", "off")) == "off":
            return None
        home, base = Path("~/.cache"), Path(self.raw("XDG_CACHE_HOME") or "~/.cache")
        # The XDG specification: a relative path is invalid and ignored.
        default = (base if base.is_absolute() else home) / "raxis"
        try:
            return Path(self.raw("RAXIS_CACHE_DIR") or default).expanduser().absolute()
        except (OSError, RuntimeError):
            return None

    @property
    def overrides_file(self) -> Path | None:
        """RAXIS_OVERRIDES_FILE, by default in the user's configuration folder; None without a home."""
        from pathlib import Path

        home, base = Path("~/.config"), Path(self.raw("XDG_CONFIG_HOME") or "~/.config")
        default = (base if base.is_absolute() else home) / "raxis" / "overrides.json"
        try:
            return Path(self.raw("RAXIS_OVERRIDES_FILE") or default).expanduser().absolute()
        except (OSError, RuntimeError):
            return None

    def selection(self, installed: Iterable[str] = ()) -> Selection:
        """RAXIS_PLUGINS and RAXIS_PLUGINS_BLOCK; `installed` names are never taken for a misspelt keyword."""
        known = {normalised(name) for name in installed}
        return Selection(self._allowed(known), frozenset(self._names("RAXIS_PLUGINS_BLOCK")))

    def unknown_variables(self) -> list[str]:
        """A sentence for each RAXIS_ variable that Raxis does not read, with the nearest one it reads."""
        names = sorted(name for name in self._environ if name.startswith("RAXIS_") and name not in VARIABLES)
        return [messages.unknown_variable(name, list(VARIABLES)) for name in names]

    def _choice(self, variable: str, choices: tuple[str, ...]) -> str:
        text = self.raw(variable) or choices[0]
        if text not in choices:
            raise ValueError(messages.bad_choice(variable, text, choices))
        return text

    def _allowed(self, known: set[str]) -> frozenset[str] | None:
        names = self._names("RAXIS_PLUGINS")
        if not names or names == ["all"]:
            return None
        if names == ["none"]:
            return frozenset()
        if {"all", "none"} & set(names):
            raise ValueError(messages.mixed_plugins(self.raw("RAXIS_PLUGINS")))
        if len(names) == 1 and names[0] not in known and messages.nearest(names[0], ("all", "none")):
            raise ValueError(
                messages.bad_choice("RAXIS_PLUGINS", names[0], ("all", "none"), "a list of names")
            )
        return frozenset(names)

    def _names(self, variable: str) -> list[str]:
        text = self.raw(variable)
        names = [] if text is None else [name.strip() for name in text.split(",")]
        for name in names:
            if not _ENTRY.fullmatch(name):
                raise ValueError(messages.bad_list(variable, text, name))
        return [normalised(name) for name in names]


def fallback_policy() -> FallbackPolicy:
    """What happens to an op that a device cannot run: ``"error"``, ``"warn"`` or ``"cpu"``.

    Raises:
        ValueError: if RAXIS_FALLBACK has another value.
    """
    return Settings().fallback


def default_device_name() -> str:
    """The name of the device of new tensors when none is given: RAXIS_DEVICE, else ``cpu``.

    Raises:
        ValueError: if RAXIS_DEVICE does not name a device.
    """
    return Settings().device_name
