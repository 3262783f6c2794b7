"""Recording: the log of the kernels that a function would have run, in order.

While a recording is active on a thread, its ops go through plans of their own whose executables note themselves
here. Tensors are ordinary tensors: shapes, views, the tape and Python's control flow work as ever; only the
elements are not there yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from raxis.autograd.grad_mode import mode
from raxis.compiler.artifact import Artifact
from raxis.compiler.backend import recording_place
from raxis.compiler.linking import link
from raxis.compiler.log import Call
from raxis.compiler.memory import Argument, Gradient, Held, Memory, RecordedStorage, Region, Shared
from raxis.compiler.numbers import ArgumentNumber, Source, with_source
from raxis.compiler.settling import settle
from raxis.frames import user_frame
from raxis.interception import active
from raxis.ops import tables
from raxis.placement import real_place
from raxis.tensor import Tensor
from raxis.utils._pytree import tree_map

if TYPE_CHECKING:
    from raxis.compiler.compiled import Options
    from raxis.compiler.linking import Linked
    from raxis.device import Device
    from raxis.random import Generator
    from raxis.storage import Place, Storage


class Recording:
    """What one run of a function did.

    Attributes:
        name: the function's.
        leaves_of_call: the leaves of the call's arguments.
        options: what `raxis.compile` was told.
        device: what everything runs on; None until the first op.
        calls: the kernels, in order.
        given: memory of real buffers, by the buffer's identity.
        adopted: real storages written while recording.
        tensors: outside tensors that took part, by identity.
        leaves: tensors whose ``grad`` was replaced, each with the one before.
        modules: modules that were called, each with its training flag.
        draws: what each random generator gave first, and how many counters in all.
        uses_default_device: whether the default device was asked for.
        tied: whether the value of a number among the arguments was looked at.
        unrepeatable: why a later call must not just repeat the kernels.
        born: memory that was allocated while recording.
        regions: how deep in functions that run on stand-ins, to become regions of control flow.
    """

    def __init__(self, name: str, options: Options, leaves: Sequence[Any] = ()) -> None:
        self.name = name
        self.options = options
        self.leaves_of_call = leaves
        self.device: Device | None = None
        self.calls: list[Call] = []
        self.given: dict[int, Memory] = {}
        self.adopted: list[tuple[Storage, Memory]] = []
        self.tensors: dict[int, tuple[Tensor, Storage]] = {}
        self.leaves: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.modules: dict[int, tuple[Any, bool]] = {}
        self.draws: dict[Generator, tuple[tuple[int, int], int]] = {}
        self.tied = False
        self.uses_default_device = False
        self.unrepeatable: str | None = None
        self.born: list[Memory] = []
        self.regions = 0

    # ---- asked by the layers below -----------------------------------------------------------------

    def place(self, place: Place) -> Place:
        """Where tensors live while this is active."""
        return recording_place(place)

    @property
    def real(self) -> Place | None:
        """The place everything runs on; None if nothing ran."""
        return None if self.device is None else real_place(self.device)

    def note(self, tensors: Iterable[Tensor], device: Device) -> None:
        """Tensors an op is about to read; a second device ends the recording."""
        if self.device is None:
            self.device = device
        elif device is not self.device:
            from raxis.compiler.breaks import interrupt

            interrupt(self, f"a second device, {device}, was used beside {self.device}")
            return
        for tensor in tensors:
            if not isinstance(tensor._storage, RecordedStorage):
                self.tensors.setdefault(id(tensor), (tensor, tensor._storage))
                self._given(tensor)

    def note_write(self, tensor: Tensor) -> None:
        """A tensor an op is about to write."""
        storage = tensor._storage
        if not isinstance(storage, RecordedStorage):
            self.note((tensor,), tensor._layout.device)
            memory = self.given[id(storage.buffer)]
            self.adopted.append((storage, memory))
            RecordedStorage.adopt(storage, memory, recording_place(storage.place))

    def operands(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Arguments of an op, in which numbers that change from call to call become inputs."""
        return tuple([item.as_input() if isinstance(item, ArgumentNumber) else item for item in arguments])

    def fixed(self, arguments: Any) -> Any:
        """Arguments of what needs the values of numbers; later calls with others are recorded anew."""
        return tree_map(
            lambda item: item.tied() if isinstance(item, ArgumentNumber) else item, arguments
        )

    def note_host(self) -> None:
        """The elements of a tensor are about to be read by the host."""
        from raxis.compiler.breaks import interrupt

        interrupt(self, "the elements of a tensor were asked for")

    def note_grad(self, leaf: Tensor) -> None:
        """A tensor whose ``grad`` is about to be read or replaced."""
        if not isinstance(leaf._storage, RecordedStorage) or leaf._storage.buffer.is_outside:
            self.leaves.setdefault(id(leaf), (leaf, leaf._grad))

    def note_module(self, module: Any) -> None:
        """A module that is about to run."""
        self.modules.setdefault(id(module), (module, module.training))

    def draw(self, generator: Generator, blocks: int) -> tuple[Any, Any]:
        """Key and offset of a random op, as numbers that differ from call to call."""
        key, offset = generator._reserve(blocks)
        start, before = self.draws.setdefault(generator, ((key, offset), 0))
        self.draws[generator] = (start, before + blocks)
        if (key, offset) != (start[0], start[1] + before):
            self.unrepeatable = "a random generator was seeded"
        return (
            with_source(key, Source((generator, "key"), lambda call: call.draws[generator][0])),
            with_source(offset, Source((generator, "offset"), lambda call: call.draws[generator][1], before)),
        )

    @property
    def is_repeatable(self) -> bool:
        """Whether later calls can do the same."""
        return self.unrepeatable is None and self.device is not None

    # ---- memory ------------------------------------------------------------------------------------

    def artifact(self, memories: Sequence[Memory]) -> Artifact:
        """The compiled program that leaves the contents of `memories`."""
        return self.compile(link(self.name, self.calls, memories), weights_are_fixed=not mode.enabled)

    def compile(self, linked: Linked, *, weights_are_fixed: bool = False) -> Artifact:
        """A linked program, compiled for where the recording ran."""
        if self.real is None:
            raise RuntimeError(f"{self.name} ran no op, so that there is nothing to compile.")
        compiler = self.options.backend or self.real.backend
        return Artifact(linked, compiler, self.real, weights_are_fixed=weights_are_fixed)

    def give_arguments(self) -> None:
        """Tensors among the arguments are parameters, wherever they lie at later calls."""
        for position, leaf in enumerate(self.leaves_of_call):
            if isinstance(leaf, Tensor):
                self._give_argument(position, leaf)

    def _give_argument(self, position: int, tensor: Tensor) -> None:
        known = self.given.get(id(tensor._storage.buffer))
        if known is None:
            self._give(tensor, Argument(position), Region.of(tensor._layout, tensor._offset))
        elif known.region != Region.of(tensor._layout, tensor._offset):
            known.region, known.moves = None, False  # several views of one memory: all of it is the parameter

    def _given(self, tensor: Tensor) -> None:
        if id(tensor._storage.buffer) in self.given:
            return
        leaf = next((leaf for leaf, entry in self.leaves.values() if entry is tensor), None)
        if leaf is not None:
            self._give(tensor, Gradient(leaf), Region.of(tensor._layout, tensor._offset))
            return
        base = (
            tensor if tensor._base is None or tensor._base._storage is not tensor._storage else tensor._base
        )
        self._give(tensor, Held(tensor._storage), Region.of(base._layout, base._offset))

    def _give(self, tensor: Tensor, source: Any, region: Region) -> None:
        storage = tensor._storage
        memory = Memory(storage.nbytes, storage.buffer, source, region)
        memory.moves = not isinstance(source, Held)
        self.given[id(storage.buffer)] = memory

    def memory_of(self, buffer: Any, nbytes: int = 0) -> Memory:
        """The stand-in of a buffer, which may be one already."""
        if isinstance(buffer, Memory):
            return buffer
        found = self.given.get(id(buffer))
        if found is None:
            found = self.given[id(buffer)] = Memory(nbytes, buffer, Shared(buffer))
            self.born.append(found)
        return found

    def add(self, call: Call) -> None:
        """Append a kernel."""
        for memory, region in call.results:
            memory.written = True
            memory.dtype = memory.dtype or region.dtype
        self.calls.append(call)

    # ---- beginning and end -------------------------------------------------------------------------

    def start(self) -> None:
        """Let this thread's ops be recorded."""
        tables.set_aside()
        active.recording = self

    def stop(self) -> None:
        """Let this thread's ops run again."""
        active.recording = None
        tables.restore()

    def finish(self, artifact: Artifact | None = None) -> None:
        """End the recording, if it has not ended, and compute whatever can still be seen of it; see `settle`."""
        if active.recording is self:
            self.stop()
            settle(self, artifact)


def user_line() -> str:
    """The user's line that is running, as ``file:line``."""
    frame, _ = user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
