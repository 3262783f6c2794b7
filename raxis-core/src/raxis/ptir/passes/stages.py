"""The passes that a backend and installed packages add to core's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from raxis.ptir.passes.record import STAGES, BackendPasses, Pass, Stage

if TYPE_CHECKING:
    from raxis.backends.api import Backend
    from raxis.hooks import Contribution


def passes_for(
    device: str, backend: Backend, collect: Callable[..., Sequence[Contribution]] | None = None
) -> BackendPasses:
    """The passes for devices of type `device`: the backend's own, then those of hook ``raxis_passes``.

    Args:
        device: the device type, such as "cpu".
        backend: the backend that serves it.
        collect: calls a hook; default: `raxis.hooks.collect`.

    Raises:
        TypeError: if a stage has no such name, or holds something else than passes; the sentence says whose.
    """
    if collect is None:
        from raxis import hooks

        collect = hooks.collect
    found: dict[Stage, list[Pass]] = {stage: [] for stage in STAGES}
    _add(found, f"the backend of device '{device}'", backend.passes)
    for plugin, contributed in collect("raxis_passes", device=device):
        _add(found, f"plugin {plugin}", contributed)
    return {stage: tuple(passes) for stage, passes in found.items()}


def _add(found: dict[Stage, list[Pass]], whose: str, added: Any) -> None:
    if not isinstance(added, Mapping):
        raise TypeError(f"{whose} must give passes as a mapping from stage to passes, not {added!r}.")
    for stage, passes in added.items():
        if stage not in found:
            raise TypeError(f"{whose} has passes at stage {stage!r}; the stages are {', '.join(STAGES)}.")
        wrong = [each for each in passes if not isinstance(each, Pass)]
        if wrong:
            raise TypeError(
                f"{whose} has {wrong[0]!r} at stage {stage!r}, which is no raxis.ptir.passes.Pass."
            )
        found[stage].extend(passes)
