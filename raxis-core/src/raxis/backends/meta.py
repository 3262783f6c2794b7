"""The device without memory: tensors have shapes and dtypes, but no data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from raxis.backends.api import Backend, DeviceProperties, Executable, Strides
from raxis.ptir.program import Program


class MetaBackend(Backend):
    """Allocates nothing and computes nothing; only shapes and dtypes remain of every operation.

    Example:
        >>> MetaBackend().allocate(1 << 60, 0) is None
        True
    """

    def device_count(self) -> int:
        return 1

    def properties(self, index: int) -> DeviceProperties:
        return DeviceProperties("meta")

    def allocate(self, nbytes: int, index: int) -> None:
        return None

    def copy_from_host(self, source: np.ndarray, buffer: None, byte_offset: int) -> None:
        """Nothing to copy to."""

    def copy_to_host(self, buffer: None, byte_offset: int, target: np.ndarray) -> None:
        """Refused: there is no data.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "Cannot copy out of meta tensor; no data! Create the tensor on another device, or call empty_like() "
            "with that device, to get memory."
        )

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        return _do_nothing


def _do_nothing(*_: Any) -> None:
    """An executable without effect."""
