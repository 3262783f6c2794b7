"""Tensors of which there is one for each example: the device they seem to live on, the ways there and back.

Inside of `vmap` a tensor shows the shape of one example. It is an ordinary tensor: what tells it apart is its device, a
`BatchDevice`, whose backend (`raxis.func.backend`) runs every program for all examples at once. So ops, views, writes
in place and the tape know nothing of examples; only where the tape enters and leaves a level there are nodes of its
own.
"""

from __future__ import annotations

import threading

from raxis import placement
from raxis.autograd.grad_mode import mode
from raxis.autograd.node import Edge, Gradients, Node, next_number
from raxis.device import Device
from raxis.dtypes import Category
from raxis.func.backend import BatchBackend, BatchPlace
from raxis.func.memory import BatchBuffer, BatchStorage
from raxis.interception import active
from raxis.layout import Layout, extent, layout_of
from raxis.tensor import Tensor, wrap


class BatchDevice(Device):
    """Where tensors of one level of `vmap` live: seen from inside, the device under it.

    Attributes:
        outer: the device of the tensors that hold all examples.
        size: the number of examples.
        randomness: "error", "same" or "different", see `vmap`.
        depth: how many levels there are, this one counted.
    """

    __slots__ = ("depth", "outer", "randomness", "size")
    depth: int
    outer: Device
    randomness: str
    size: int

    @staticmethod
    def over(outer: Device, size: int, randomness: str) -> BatchDevice:
        """The one device of these properties."""
        key = (outer, size, randomness)
        found = _devices.get(key)
        if found is None:
            with _lock:
                found = _devices.get(key) or _devices.setdefault(
                    key, BatchDevice._made(outer, size, randomness)
                )
        return found

    @staticmethod
    def _made(outer: Device, size: int, randomness: str) -> BatchDevice:
        made: BatchDevice = object.__new__(BatchDevice)
        values = {"type": outer.type, "index": outer.index, "outer": outer, "depth": outer.depth + 1}
        for name, value in {**values, "size": size, "randomness": randomness}.items():
            object.__setattr__(made, name, value)
        backend = BatchBackend(outer, size, draws=randomness == "different")
        placement.assign(BatchPlace(made, backend))
        return made

    @property
    def base(self) -> Device:
        return self.outer.base

    def covers(self, other: Device) -> bool:
        return self is other or self.outer.covers(other)

    def at_level(self, device: Device) -> Device:
        if device.depth >= self.depth:
            return device
        return BatchDevice.over(self.outer.at_level(device), self.size, self.randomness)

    def all_examples(self, tensor: Tensor) -> Tensor:
        return self.outer.all_examples(leave(tensor.detach()))

    def differs(self, tensor: Tensor) -> bool:
        buffer = tensor._storage.buffer
        return buffer.stride is not None or (
            buffer.outside is not None and self.outer.differs(buffer.outside)
        )

    def check_draw(self, device: Device) -> None:
        if self.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
        if self.randomness == "different" and device.depth < self.depth:
            raise RuntimeError(
                "vmap: a random operation with randomness='different' works on tensors from outside, which all "
                "examples share. Give it a tensor of the examples, such as one made by new_empty() of an argument."
            )
        self.outer.check_draw(device)

    def moved(self, tensor: Tensor, device: Device) -> Tensor:
        """`tensor` of this device on another one, or one from outside on this device."""
        own = tensor._layout.device
        if own.base is device.base:
            return lifted(tensor, self)
        if isinstance(own, BatchDevice):
            return lifted(_entered_anew(leave(tensor).to(device.base), own), device)
        return lifted(tensor.to(device.base), device)

    def gathered(self, gradient: Tensor, device: Device) -> Tensor:
        """The gradient of an operand on `device`, which all examples share: the sum of theirs."""
        level: Device = self
        while isinstance(level, BatchDevice) and level is not device:
            gradient = left(gradient, level).sum(0)
            level = level.outer
        return gradient


_lock = threading.Lock()
_devices: dict[tuple[Device, int, str], BatchDevice] = {}
"""Interned, so that plans of one call of `vmap` serve the next."""


def scope() -> BatchDevice | None:
    """The device of the innermost `vmap` that runs; it is also the default device."""
    found = placement.chosen_device()
    return found if isinstance(found, BatchDevice) else None


def here(device: Device) -> Device:
    """`device` as it is called at the innermost level that runs."""
    level = scope()
    return device if level is None else level.at_level(device)


# ---- in and out ----------------------------------------------------------------------------------------


def enter(tensor: Tensor, device: BatchDevice, dim: int = 0) -> Tensor:
    """One example of `tensor`, whose examples lie along `dim`; they share its memory."""
    if dim:
        tensor = tensor.movedim(dim, 0)
    own = tensor._layout
    layout = layout_of(own.dtype, own.shape[1:], own.strides[1:], device)
    inner = _shared(tensor, layout, own.strides[0] * own.dtype.itemsize)
    if _is_tracked(tensor):
        inner._edge = (Enter(tensor._edge, layout), 0)
    return inner


def lifted(tensor: Tensor, device: Device) -> Tensor:
    """`tensor` on `device`, the same for all examples of the levels in between."""
    own = tensor._layout
    if not isinstance(device, BatchDevice) or own.device.depth >= device.depth:
        return tensor
    tensor = lifted(tensor, device.outer)
    layout = layout_of(own.dtype, own.shape, own.strides, device)
    inner = _shared(tensor, layout, None)
    if _is_tracked(tensor):
        inner._edge = (Lift(tensor._edge, layout), 0)
    return inner


def leave(tensor: Tensor) -> Tensor:
    """The tensor that holds all examples, along its first dimension."""
    own = tensor._layout
    device, buffer = own.device, tensor._storage.buffer
    assert isinstance(device, BatchDevice)  # what callers ask first
    storage, item = buffer.filled(), own.dtype.itemsize
    offset = buffer.elements(buffer.start, item) + tensor._offset
    step = 0 if buffer.stride is None else buffer.elements(buffer.stride, item)
    layout = layout_of(own.dtype, (device.size, *own.shape), (step, *own.strides), device.outer)
    outer = wrap(storage, offset, layout)
    outer._inference = tensor._inference
    if _is_tracked(tensor):
        outer._edge = (Leave(tensor._edge, layout, device), 0)
    return outer


def _is_tracked(tensor: Tensor) -> bool:
    return tensor._edge is not None and mode.enabled and tensor._layout.dtype.category >= Category.FLOAT


def _shared(tensor: Tensor, layout: Layout, stride: int | None) -> Tensor:
    """A tensor of `layout` over the memory of one that holds all examples, `stride` bytes apart."""
    if active.recording is not None and not tensor._layout.device.depth:
        active.recording.note((tensor,), tensor._layout.device)
    nbytes = extent(layout.shape, layout.strides) * layout.dtype.itemsize
    place = placement.place_of(layout.device)
    assert isinstance(place.backend, BatchBackend)  # layouts of a level come here only
    inner = wrap(BatchStorage.sharing(BatchBuffer(place.backend, nbytes, tensor, stride), place), 0, layout)
    inner._inference = tensor._inference
    return inner


def _entered_anew(tensor: Tensor, like: BatchDevice) -> Tensor:
    return enter(tensor, BatchDevice.over(tensor._layout.device, like.size, like.randomness))


# Gradients may have levels that the forward pass did not: those of a vmap over backward. They are the outermost seen
# from inside, so they are left first, and entered again at the end.


def entered(tensor: Tensor, device: BatchDevice, dim: int = 0) -> Tensor:
    """Like `enter`, below levels that only `tensor` has."""
    own = tensor._layout.device
    if isinstance(own, BatchDevice) and own.depth > device.outer.depth:
        return _entered_anew(entered(leave(tensor), device, dim + 1), own)
    return enter(lifted(tensor, device.outer), device, dim)


def left(tensor: Tensor, device: BatchDevice, dim: int = 0) -> Tensor:
    """Like `leave`, below levels that only `tensor` has; the examples lie along `dim`."""
    own = tensor._layout.device
    if own is device:
        return leave(tensor).movedim(0, dim)
    if isinstance(own, BatchDevice) and own.depth > device.depth:
        return _entered_anew(left(leave(tensor), device, dim + 1), own)
    shape = tensor.shape
    return tensor.unsqueeze(dim).expand((*shape[:dim], device.size, *shape[dim:]))


# ---- the tape ------------------------------------------------------------------------------------------


class _Crossing(Node):
    """Where the tape crosses the border of a level."""

    def __init__(self, edge: Edge | None, layout: Layout, device: BatchDevice | None = None) -> None:
        self.number = next_number()
        self.edges = [edge]
        self.result_layouts = (layout,)
        self._device = layout.device if device is None else device

    def apply(self, gradients: Gradients) -> Gradients:
        gradient = gradients[0]
        return [None if gradient is None else self.crossed(gradient)]

    def crossed(self, gradient: Tensor) -> Tensor:
        """The gradient at the other side."""
        raise NotImplementedError


class Enter(_Crossing):
    """Backward of `enter`."""

    _device: BatchDevice

    def crossed(self, gradient: Tensor) -> Tensor:
        return left(gradient, self._device)


class Lift(_Crossing):
    """Backward of `lifted`, one level."""

    _device: BatchDevice

    def crossed(self, gradient: Tensor) -> Tensor:
        return self._device.gathered(gradient, self._device.outer)


class Leave(_Crossing):
    """Backward of `leave`."""

    _device: BatchDevice

    def crossed(self, gradient: Tensor) -> Tensor:
        return entered(gradient, self._device)
