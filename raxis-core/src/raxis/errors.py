"""Exception classes of Raxis that PyTorch's users also expect."""

from __future__ import annotations

from typing import Any


class BackendError(RuntimeError):
    """A named device cannot be used; the message says why and what to do.

    Attributes:
        device: the device type that was named.
        state: the state of its plugin, see `raxis.backends.State`; None when no plugin brings the device.
    """

    def __init__(self, message: str, device: str = "", state: str | None = None) -> None:
        super().__init__(message)
        self.device = device
        self.state = state


class IndexOutOfRangeError(IndexError, RuntimeError):
    """An index of a tensor of indices names no element: PyTorch's ops raise either of the two classes."""


class MixedDevicesError(RuntimeError):
    """The operands of an op live on different devices.

    Args:
        caller: the op that works on them.
        sentence: what was expected, and what to do.
    """

    def __init__(self, caller: str, sentence: str) -> None:
        super().__init__(f"{caller}: {sentence}")
        self._sentence = sentence

    def blame(self, caller: str) -> None:
        """Name the op that the user called, which consists of the one that failed."""
        self.args = (f"{caller}: {self._sentence}",)

    def __reduce__(self) -> tuple[Any, ...]:
        return RuntimeError, self.args


class OutOfMemoryError(RuntimeError):
    """A device has no memory left for an allocation, even after its cache was emptied."""


class LinAlgError(RuntimeError):
    """A matrix has no such inverse or factorization, or an iteration did not converge."""
