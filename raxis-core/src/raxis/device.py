"""Device names: a type such as ``cpu`` and an index."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raxis.tensor import Tensor

_PATTERN = re.compile(r"([a-z_][a-z0-9_]*)(?::(0|[1-9][0-9]*))?")
_interned: dict[tuple[str, int | None], Device] = {}


class Device:
    """Where a tensor lives. Equal devices are the same object, so ``is`` and ``==`` agree.

    Args:
        type: device type, optionally with an index: ``"cpu"``, ``"cuda:1"``; or another Device.
        index: which one of that type; None means the current one.

    Raises:
        RuntimeError: if the string is not a device name.

    Example:
        >>> import raxis
        >>> raxis.device("cuda:1").index
        1
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None
    depth = 0
    """How many levels of `raxis.func.vmap` tensors of this device are in."""

    def __new__(cls, type: str | Device, index: int | None = None) -> Device:
        if isinstance(type, Device):
            return type
        name, parsed = _parse(type)
        if index is not None:
            index = _checked_index(index)
        if parsed is not None and index is not None:
            raise RuntimeError(f"type (string) must not include an index because index was passed: {type!r}")
        key = (name, parsed if index is None else index)
        found = _interned.get(key)
        if found is None:
            found = object.__new__(cls)
            object.__setattr__(found, "type", key[0])
            object.__setattr__(found, "index", key[1])
            found = _interned.setdefault(key, found)
        return found

    @property
    def base(self) -> Device:
        """The device under all levels of vmap."""
        return self

    def covers(self, other: Device) -> bool:
        """Whether operands of `other` may meet those of this device: they are the same for all examples."""
        return self is other

    def at_level(self, device: Device) -> Device:
        """`device` as it is called at this device's level of vmap."""
        return device

    def moved(self, tensor: Tensor, device: Device) -> Tensor:
        """`tensor` on `device`, where this is the one of both that is deeper in levels of vmap."""
        raise NotImplementedError

    def gathered(self, gradient: Tensor, device: Device) -> Tensor:
        """The gradient of an operand on `device`, from that of results on this one."""
        return gradient

    def all_examples(self, tensor: Tensor) -> Tensor:
        """The elements of a tensor of this device for all examples of vmap, off the tape."""
        return tensor

    def differs(self, tensor: Tensor) -> bool:
        """Whether a tensor of this device may have other elements for each example of vmap."""
        return False

    def check_draw(self, device: Device) -> None:
        """Raise RuntimeError if nothing random may happen on `device` while this is the default device."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute '{name}' of a device is not writable")

    def __enter__(self) -> Device:
        """``with device:`` makes it the default device inside the block."""
        from raxis.placement import enter_device

        enter_device(self)
        return self

    def __exit__(self, *exception: object) -> None:
        from raxis.placement import leave_device

        leave_device()

    def __repr__(self) -> str:
        suffix = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{suffix})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> tuple[object, tuple[str, int | None]]:
        return (Device, (self.type, self.index))


def _checked_index(index: int) -> int:
    try:
        number = operator.index(index)
    except TypeError:
        raise TypeError(f"device(): argument 'index' must be int, not {index.__class__.__name__}") from None
    if number < 0:
        raise RuntimeError(f"Device index must not be negative, but got {number}.")
    return number


def _parse(text: str) -> tuple[str, int | None]:
    if not isinstance(text, str):
        raise TypeError(f"device() expected a string or a device, but got {type(text).__name__}.")
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise RuntimeError(
            f"Invalid device string: {text!r}. Expected a device type in lower case, optionally followed by "
            "':' and an index, as in 'cpu' or 'cuda:0'."
        )
    return match[1], None if match[2] is None else int(match[2])
