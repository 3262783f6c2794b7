"""Kernels that found no memory for intermediate values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.errors import OutOfMemoryError
from raxis.storage import Place


def second_attempt(place: Place, execute: Callable[..., None], *arguments: Any) -> None:
    """Run once more, without cached memory.

    Raises:
        OutOfMemoryError: if that is not enough.
    """
    place.backend.empty_cache()
    try:
        execute(*arguments)
    except MemoryError as error:
        raise exhausted(place, error) from None


def exhausted(place: Place, error: MemoryError) -> OutOfMemoryError:
    """What to raise for a kernel's MemoryError."""
    detail = f" ({error})" if str(error) else ""
    return OutOfMemoryError(
        f"Out of memory on device '{place.device}': an op found no memory for its intermediate values{detail}. Free "
        "tensors that are no longer needed, or use smaller batches."
    )
