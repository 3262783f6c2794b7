"""Excursions: running something in a recording that leaves no trace in it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from raxis.compiler.memory import Memory, Operand

if TYPE_CHECKING:
    from raxis.compiler.log import Call
    from raxis.compiler.recording import Recording
    from raxis.random import Generator


class Drawn:
    """What random generators give from now on, to be given again.

    Attributes:
        starts: what each generator gave first in the recording, known when it was taken back.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._draws = dict(recording.draws)
        self._states = {generator: generator._state() for generator in recording.draws}
        self.starts: dict[Generator, tuple[int, int]] = {}

    def take_back(self) -> dict[Generator, int]:
        """Let generators give again what they gave; how many counters that was."""
        taken = {}
        for generator, (start, _) in self._recording.draws.items():
            seed, offset = self._states.get(generator) or (start[0] % _WORDS, start[1] % _WORDS)
            blocks = generator._state()[1] - offset
            generator._return_to(seed, offset)
            self.starts[generator] = start
            if blocks:
                taken[generator] = blocks
        self._recording.draws = self._draws
        return taken


_WORDS = 1 << 64
"""Keys and offsets are words of 64 bits, which programs take as signed numbers."""


class Excursion:
    """Runs something in a recording that leaves no trace in it.

    Attributes:
        calls: the kernels that ran.
        born: memory that was allocated.
        draws: how many random counters were taken of each generator, which then gives them again.
        starts: what each generator gave first in the recording.
        seeded: whether a generator was seeded.
        left_gradients: whether a tensor got another ``grad``.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.calls: list[Call] = []
        self.born: list[Memory] = []
        self.draws: dict[Generator, int] = {}
        self.starts: dict[Generator, tuple[int, int]] = {}
        self.seeded = False
        self.left_gradients = False

    def __enter__(self) -> Excursion:
        recording = self._recording
        recording.regions += 1
        self._calls, self._born = len(recording.calls), len(recording.born)
        self._drawn, self._leaves = Drawn(recording), dict(recording.leaves)
        self._unrepeatable = recording.unrepeatable
        self._tensors, self._made = set(recording.tensors), dict(recording.made)
        self._grads = {key: leaf._grad for key, (leaf, _) in recording.leaves.items()}
        return self

    def __exit__(self, *exception: Any) -> None:
        recording = self._recording
        recording.regions -= 1
        self.calls, self.born = recording.calls[self._calls :], recording.born[self._born :]
        del recording.calls[self._calls :]
        recording.born[self._born :] = [memory for memory in self.born if memory.source is not None]
        used = [key for key in recording.tensors if key not in self._tensors]
        entries = [recording.tensors.pop(key) for key in used]
        self._used = [(weakref.ref(entry[0]), entry[1:]) for entry in entries]
        recording.made = self._made
        self._undo_gradients()
        self.draws, self.starts = self._drawn.take_back(), self._drawn.starts
        self.seeded = recording.unrepeatable != self._unrepeatable

    def note_used(self) -> None:
        """Let the recording watch the tensors from outside that were used; others, such as views of them, are gone."""
        for reference, known in self._used:
            tensor = reference()
            if tensor is not None:
                self._recording.tensors.setdefault(id(tensor), (tensor, *known))

    def _undo_gradients(self) -> None:
        for key, (leaf, entry) in list(self._recording.leaves.items()):
            before = self._grads.get(key, entry)
            if leaf._grad is not before:
                leaf._grad = before
                self.left_gradients = True
            buffer = leaf._storage.buffer
            if key not in self._leaves and isinstance(buffer, Memory) and isinstance(buffer.source, Operand):
                del self._recording.leaves[key]
