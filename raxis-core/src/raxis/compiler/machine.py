"""The limits of the machine, measured."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any

from raxis.device import Device
from raxis.ptir.passes import Machine

_ELEMENTS = 1 << 22
_SIZE = 384
_TIMES = 5


@lru_cache(maxsize=16)
def measured(device: Device) -> Machine:
    """What a device reaches with float32: a large copy, a product of matrices, a kernel of one element.

    It takes some hundredths of a second, once per process and device.
    """
    import raxis

    with raxis.no_grad():
        source = raxis.zeros(_ELEMENTS, device=device)
        target = raxis.empty_like(source)
        factor = raxis.ones(_SIZE, _SIZE, device=device)
        single = raxis.ones(1, device=device)
        copied = _least(lambda: target.copy_(source))
        multiplied = _least(lambda: factor @ factor)
        launched = _least(lambda: single + single)
    return Machine(
        operations_per_second=2 * _SIZE**3 / multiplied,
        bytes_per_second=2 * source.nbytes / copied,
        launch_seconds=launched,
    )


def _least(run: Callable[[], Any]) -> float:
    run()
    times = []
    for _ in range(_TIMES):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return max(min(times), 1e-9)
