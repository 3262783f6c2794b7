"""Exception classes of Raxis that PyTorch's users also expect."""

from __future__ import annotations


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


class OutOfMemoryError(RuntimeError):
    """A device has no memory left for an allocation, even after its cache was emptied."""


class LinAlgError(RuntimeError):
    """A matrix has no such inverse or factorization, or an iteration did not converge."""
