"""The device ``template`` of Raxis: version of the protocol, probe, and the way to the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raxis_template.backend import TemplateBackend

API = (1, 0)
"""The version of `raxis.backends.api` that this plugin was written for."""


def probe() -> str | None:
    """None when the device can be used here, else one sentence saying why not; must be cheap."""
    return None


def load() -> TemplateBackend:
    """The backend object; heavy imports happen here."""
    from raxis_template.backend import TemplateBackend

    return TemplateBackend()
