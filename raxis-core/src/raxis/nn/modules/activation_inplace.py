"""What activations share that can overwrite their input."""

from __future__ import annotations

from raxis.nn.modules.module import Module


class InplaceActivation(Module):
    """An activation without other options than `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


def inplace_suffix(inplace: bool) -> str:
    """What `extra_repr` appends for an activation with further options."""
    return ", inplace=True" if inplace else ""
