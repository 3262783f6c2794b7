"""Random state: counter-based generators (Philox 4x32-10; Salmon et al., SC'11).

An op draws numbers from (seed, offset) and advances the offset, so that every backend gives the same
numbers for one seed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from raxis.device import Device
from raxis.dtypes import uint8
from raxis.interception import active, anyone
from raxis.placement import chosen_device, place_of

if TYPE_CHECKING:
    from raxis.storage import Place
    from raxis.tensor import Tensor

_DEFAULT_SEED = 67280421310721


class Generator:
    """A stream of random numbers.

    Args:
        device: the device whose tensors it fills.

    Example:
        >>> import raxis
        >>> generator = raxis.Generator().manual_seed(7)
        >>> generator.initial_seed()
        7
    """

    def __init__(self, device: Device | str = "cpu") -> None:
        self.device = Device(device)
        if self.device.type != "cpu":
            place_of(self.device)  # raises for unknown and unusable devices
        self._lock = threading.Lock()
        self._seed = _DEFAULT_SEED
        self._offset = 0

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed` anew; negative seeds count back from 2**64, as in PyTorch.

        Raises:
            RuntimeError: if `seed` is no number.
            ValueError: if it does not fit 64 bits.
        """
        try:
            seed = int(seed)
        except (TypeError, ValueError):
            raise RuntimeError(f"manual_seed expected an int, but got {type(seed).__name__}") from None
        if not -(1 << 63) <= seed < (1 << 64):
            raise ValueError(f"Overflow when unpacking long: seed {seed} does not fit 64 bits.")
        _note_seeded()
        with self._lock:
            self._seed = seed % (1 << 64)
            self._offset = 0
        return self

    def seed(self) -> int:
        """Start a stream nobody has seen; its seed is returned."""
        fresh = _unseen_seed()
        self.manual_seed(fresh)
        return fresh

    def initial_seed(self) -> int:
        """The seed of the current stream."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor of 16 bytes: seed and offset, little-endian."""
        import numpy as np

        from raxis.interop import from_numpy

        packed = b"".join(word.to_bytes(8, "little") for word in self._state())
        return from_numpy(np.frombuffer(packed, dtype=np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        """Continue from a state made by `get_state`.

        Raises:
            TypeError: if `state` is no uint8 tensor.
            RuntimeError: if it has another size.
        """
        if getattr(state, "dtype", None) is not uint8:
            raise TypeError("RNG state must be a uint8 tensor, as get_state() returns it.")
        packed = bytes(state.cpu().numpy().tobytes())
        if len(packed) != 16:
            raise RuntimeError(f"RNG state must be a uint8 tensor of 16 bytes, but got {len(packed)} bytes.")
        self._restore(int.from_bytes(packed[:8], "little"), int.from_bytes(packed[8:], "little"))

    def _state(self) -> tuple[int, int]:
        with self._lock:
            return self._seed, self._offset

    def _restore(self, seed: int, offset: int) -> None:
        _note_seeded()
        self._return_to(seed, offset)

    def _return_to(self, seed: int, offset: int) -> None:
        """Draw again what was drawn since `_state` gave these."""
        with self._lock:
            self._seed, self._offset = seed, offset

    def _reserve(self, blocks: int) -> tuple[int, int]:
        with self._lock:
            offset = self._offset
            self._offset = offset + blocks
            seed = self._seed
        if seed < _HALF and offset < _HALF:  # as good as always
            return seed, offset
        return _signed(seed), _signed(offset)


def _note_seeded() -> None:
    if anyone.records and active.recording is not None:
        active.recording.note_seeded()


def _unseen_seed() -> int:
    return int.from_bytes(os.urandom(8), "little") >> 1


_HALF = 1 << 63


def _signed(word: int) -> int:
    word %= 1 << 64
    return word - (1 << 64) if word >= _HALF else word


default_generator = Generator()
_device_generators: dict[Device, Generator] = {}


def reserve(generator: Generator | None, place: Place, blocks: int) -> tuple[int, int]:
    """Key and offset for an op that consumes `blocks` Philox counters."""
    chosen = chosen_device()
    if chosen is not None:
        chosen.check_draw(place.device)
    blocks = place.drawn(blocks)
    if generator is None:
        generator = default_for(place.device.base)
    elif not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be a raxis.Generator, not {type(generator).__name__}")
    if anyone.records and active.recording is not None:
        return active.recording.draw(generator, blocks)
    return generator._reserve(blocks)


def default_for(device: Device) -> Generator:
    """The generator of ops on a device that are given none."""
    if device.type == "cpu":
        return default_generator
    found = _device_generators.get(device)
    if found is None:
        found = Generator(device)
        found.manual_seed(default_generator.initial_seed())
        found = _device_generators.setdefault(device, found)
    return found


def manual_seed(seed: int) -> Generator:
    """Seed the default generators of all devices; the CPU's is returned.

    Example:
        >>> import raxis
        >>> _ = raxis.manual_seed(0)
        >>> first = raxis.rand(3)
        >>> _ = raxis.manual_seed(0)
        >>> bool((raxis.rand(3) == first).all())
        True
    """
    seed = int(seed)
    for generator in _device_generators.values():
        generator.manual_seed(seed)
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generators with a number nobody has seen; it is returned."""
    fresh = _unseen_seed()
    manual_seed(fresh)
    return fresh


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Restore a state returned by `get_rng_state`."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Iterable[Device | str] | None = None, enabled: bool = True) -> Iterator[None]:
    """``with fork_rng():`` numbers drawn inside do not change what is drawn afterwards.

    Args:
        devices: device types or devices whose generators are restored besides the CPU's; default: all.
        enabled: False makes the block do nothing.

    Example:
        >>> import raxis
        >>> _ = raxis.manual_seed(0)
        >>> with raxis.random.fork_rng():
        ...     inside = raxis.rand(1)
        >>> bool(inside == raxis.rand(1))
        True
    """
    chosen = None if devices is None else {Device(device).type for device in devices}
    others = [
        generator
        for device, generator in _device_generators.items()
        if chosen is None or device.type in chosen
    ]
    kept = [(generator, generator._state()) for generator in [default_generator, *others]] if enabled else []
    try:
        yield
    finally:
        for generator, state in kept:
            generator._restore(*state)
